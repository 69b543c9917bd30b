package server

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

// person is who is asking. Without a token it is whoever sits at the machine, who
// may do everything.
type person struct {
	name   string
	token  *skein.Token
	cookie bool // it was a browser that showed the token by itself
}

// may says whether the person may do that in the thread; an empty thread is for
// what belongs to none.
func (p *person) may(s scope, id string) bool {
	switch {
	case s == public || p.token == nil:
		return true
	case id != "" && !p.sees(id):
		return false
	case s == anyToken:
		return true
	}
	one := *p.token
	one.Threads = nil
	return skein.Allows(one, string(s), "")
}

// sees says whether the person's token is good for the thread.
func (p *person) sees(id string) bool {
	return p.token == nil || p.token.Threads == nil || contains(p.token.Threads, id)
}

func contains(all []string, s string) bool {
	for _, x := range all {
		if x == s {
			return true
		}
	}
	return false
}

// key is what the person's rates and streams are counted by.
func (p *person) key() string {
	if p.token == nil {
		return ""
	}
	return p.token.ID
}

type personKey struct{}

// by is who asks in a request's context; every operation but public ones has one.
func by(ctx context.Context) *person {
	p, _ := ctx.Value(personKey{}).(*person)
	return p
}

func as(ctx context.Context, p *person) context.Context {
	return context.WithValue(ctx, personKey{}, p)
}

// cookieName is the cookie that holds a session. It holds the token itself, which
// no script can read: so a session outlives the server's restart, ends with its
// token, and nothing is kept that could be stolen from here.
const cookieName = "skein_session"

// who finds out who asks: by the token in the header, by a ticket where the path
// is a stream, by the cookie, or by being at the same machine.
func (s *Server) who(r *http.Request, rt *route) (*person, error) {
	if p := by(r.Context()); p != nil {
		return p, nil // a call over a socket
	}
	if header := r.Header.Get("Authorization"); header != "" {
		kind, secret, _ := strings.Cut(header, " ")
		if !strings.EqualFold(kind, "bearer") {
			return nil, problem(http.StatusUnauthorized, "only Authorization: Bearer is known", "send a token")
		}
		return s.holder(r, strings.TrimSpace(secret), false)
	}
	if ticket := r.URL.Query().Get("ticket"); ticket != "" && rt.way == stream {
		t, ok := s.tickets.take(ticket, s.cfg.Now())
		if !ok {
			return nil, s.refused(r, problem(http.StatusUnauthorized, "the ticket is not valid", "make a new one: it is good for one use and a few seconds"))
		}
		return s.still(r.Context(), t)
	}
	if c, err := r.Cookie(cookieName); err == nil {
		return s.holder(r, c.Value, true)
	}
	if !s.guarded.Load() && atThisMachine(r) {
		return &person{name: s.cfg.Name}, nil
	}
	return nil, problem(http.StatusUnauthorized, "a token is needed", "make one with skein token create, and send it as Authorization: Bearer")
}

// holder is the person whose secret it is.
func (s *Server) holder(r *http.Request, secret string, cookie bool) (*person, error) {
	t, err := s.cfg.Engine.Authenticate(r.Context(), secret)
	if thread.CodeOf(err) == thread.Permission {
		return nil, s.refused(r, problem(http.StatusUnauthorized, "the token is not valid", "make one with skein token create"))
	}
	if err != nil {
		return nil, err
	}
	return &person{name: t.Name, token: &t, cookie: cookie}, nil
}

// refused counts a refusal against the address. A token that is good is never
// refused for what others at the address try: they may sit behind one proxy.
func (s *Server) refused(r *http.Request, p *Problem) error {
	s.figures.refusals.Inc()
	if !s.rates.failures.take(addressOf(r), s.cfg.Now()) {
		return problem(http.StatusTooManyRequests, "too many tokens from this address were refused", "wait a little")
	}
	return p
}

// still is the person of a ticket, if its token has not been revoked since.
func (s *Server) still(ctx context.Context, p *person) (*person, error) {
	if p.token == nil {
		return p, nil
	}
	all, err := s.cfg.Engine.Tokens(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range all {
		if t.ID == p.token.ID && t.Live() {
			return p, nil
		}
	}
	return nil, problem(http.StatusUnauthorized, "the token was revoked", "")
}

// atThisMachine says whether a request comes from this machine to this machine,
// by its own name, and through nobody.
func atThisMachine(r *http.Request) bool {
	for _, h := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if r.Header.Get(h) != "" {
			return false
		}
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return local != nil && isLoopback(local.String()) && isLoopback(r.RemoteAddr) && isLoopbackName(hostOf(r.Host))
}

// isLoopback says whether an address is this machine's own for itself.
func isLoopback(address string) bool {
	a, err := netip.ParseAddrPort(address)
	return err == nil && a.Addr().Unmap().IsLoopback()
}

// isLoopbackName says whether a host's name is of this machine and of none else.
func isLoopbackName(host string) bool {
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}

// addressOf is the address a request comes from. A network of IPv6 counts as one.
func addressOf(r *http.Request) string {
	a, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	ip := a.Addr().Unmap()
	if ip.Is6() {
		if net, err := ip.Prefix(64); err == nil {
			return net.Addr().String()
		}
	}
	return ip.String()
}
