package server

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/skeinhq/skein"
)

// Session is who is asking, and what they may do.
type Session struct {
	Name    string   `json:"name" doc:"The author of what is said."`
	Scopes  []string `json:"scopes"`
	Threads []string `json:"threads,omitempty" doc:"The threads it is good for; absent: all."`
	Token   bool     `json:"token" doc:"false: no token is needed here."`
}

func sessionOf(p *person) Session {
	if p.token == nil {
		return Session{Name: p.name, Scopes: skein.Scopes()}
	}
	return Session{Name: p.name, Scopes: p.token.Scopes, Threads: p.token.Threads, Token: true}
}

// openSession gives a browser a cookie in exchange for a token.
func (s *Server) openSession(_ context.Context, in *struct {
	Body struct {
		Token string `json:"token" maxLength:"200"`
	}
}) (*huma.StreamResponse, error) {
	return raw(func(w http.ResponseWriter, r *http.Request) {
		p, err := s.holder(r, in.Body.Token, true)
		if err == nil {
			if refused := checkCookie(r); refused != nil {
				err = refused
			}
		}
		if err != nil {
			s.fail(w, r, err)
			return
		}
		s.setCookie(w, r, in.Body.Token, s.cfg.Limits.Session)
		answer(w, http.StatusOK, sessionOf(p))
	}), nil
}

// setCookie gives the session's cookie; no time takes it away. It goes over TLS
// alone where it came so.
func (s *Server) setCookie(w http.ResponseWriter, r *http.Request, value string, d time.Duration) {
	age := int(d.Seconds())
	if d == 0 {
		age = -1
	}
	secure := r.TLS != nil || !isLoopbackName(hostOf(r.Host))
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: secure, SameSite: http.SameSiteStrictMode})
}

func (s *Server) showSession(ctx context.Context, _ *struct{}) (*struct{ Body Session }, error) {
	return &struct{ Body Session }{sessionOf(by(ctx))}, nil
}

func (s *Server) closeSession(context.Context, *struct{}) (*huma.StreamResponse, error) {
	return raw(func(w http.ResponseWriter, r *http.Request) {
		s.setCookie(w, r, "", 0)
		w.WriteHeader(http.StatusNoContent)
	}), nil
}

// TicketAnswer is a ticket for one stream.
type TicketAnswer struct {
	Ticket string    `json:"ticket" doc:"The ?ticket= of an events or WebSocket address."`
	Until  time.Time `json:"until"`
}

func (s *Server) makeTicket(ctx context.Context, _ *struct{}) (*struct{ Body TicketAnswer }, error) {
	id, until, ok, err := s.tickets.make(s.cfg.Rand, by(ctx), s.cfg.Now(), s.cfg.Limits.Ticket)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, problem(http.StatusTooManyRequests, "too many tickets wait for their use", "use them, or wait until they are over")
	}
	return &struct{ Body TicketAnswer }{TicketAnswer{id, until.UTC()}}, nil
}
