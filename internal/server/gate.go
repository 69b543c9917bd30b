package server

import (
	"net/http"
	"path"
	"strconv"
	"time"
)

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	harden(w.Header())
	if p := s.checkHost(r); p != nil {
		p.write(w)
		return
	}
	origin, refused := s.checkOrigin(r)
	if refused != nil {
		refused.write(w)
		return
	}
	if allow(w, r, origin) {
		return
	}
	if !s.rates.addresses.take(addressOf(r), s.cfg.Now()) {
		s.tooMany(w, "too many requests come from this address")
		return
	}
	mux := s.mux
	at := r.URL.EscapedPath()
	clean := path.Clean("/" + at)
	if own(r.URL.Path) || own(clean) {
		mux = s.own
		if at != clean {
			nowhere(w) // the mux would send the asker elsewhere
			return
		}
	}
	if _, pattern := mux.Handler(r); pattern == "" {
		lost(w, r, mux)
		return
	}
	mux.ServeHTTP(w, r)
}

// harden keeps a browser from making anything of an answer but what it is.
func harden(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
	h.Set("Cache-Control", "no-store")
}

// tooMany refuses what comes too often.
func (s *Server) tooMany(w http.ResponseWriter, detail string) {
	s.figures.limited.Inc()
	w.Header().Set("Retry-After", "1")
	problem(http.StatusTooManyRequests, detail, "wait a second").write(w)
}

// lost answers where there is no such path, or not with that method.
func lost(w http.ResponseWriter, r *http.Request, mux *http.ServeMux) {
	probe := &statusOf{header: http.Header{}}
	mux.ServeHTTP(probe, r)
	if probe.status == http.StatusMethodNotAllowed {
		w.Header().Set("Allow", probe.header.Get("Allow"))
		problem(http.StatusMethodNotAllowed, "there is no "+r.Method+" here", "allowed: "+probe.header.Get("Allow")).write(w)
		return
	}
	nowhere(w)
}

// nowhere answers where there is no such path.
func nowhere(w http.ResponseWriter) {
	problem(http.StatusNotFound, "there is nothing at this path", "see /openapi.json").write(w)
}

// statusOf takes an answer's status and header alone.
type statusOf struct {
	header http.Header
	status int
}

func (s *statusOf) Header() http.Header         { return s.header }
func (s *statusOf) Write(b []byte) (int, error) { return len(b), nil }
func (s *statusOf) WriteHeader(status int)      { s.status = status }

// gate is the one way to a path's handler.
func (s *Server) gate(rt *route, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		begun := time.Now()
		counted := &counting{ResponseWriter: w}
		defer func() { s.figures.answered(rt, counted.status, time.Since(begun)) }()
		defer s.caught(counted)
		s.pass(counted, r, rt, next)
	}
}

func (s *Server) pass(w http.ResponseWriter, r *http.Request, rt *route, next http.HandlerFunc) {
	if s.draining.Load() && rt.tag != "server" {
		s.leaving(w)
		return
	}
	if rt.scope != public {
		p, err := s.who(r, rt)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		if p.cookie {
			if refused := checkCookie(r); refused != nil {
				refused.write(w)
				return
			}
		}
		if !p.may(rt.scope, r.PathValue("id")) {
			s.fail(w, r, forbidden(rt.scope))
			return
		}
		if !s.rates.tokens.take(p.key(), s.cfg.Now()) {
			s.tooMany(w, "too many requests come with this token")
			return
		}
		r = r.WithContext(as(r.Context(), p))
	}
	if size, _ := s.cfg.Limits.body(rt.way); r.ContentLength > size {
		s.fail(w, r, &http.MaxBytesError{Limit: size})
		return
	}
	if rt.way == upload {
		size := r.ContentLength
		if size < 0 {
			size = s.cfg.Limits.Blob // it does not say
		}
		leave, ok := s.fly(w, r, size)
		if !ok {
			return
		}
		defer leave()
	}
	if rt.id == "connect" {
		if refused := checkUpgrade(w, r); refused != nil {
			refused.write(w)
			return
		}
	}
	s.bound(w, r, rt)
	next(w, r)
}

func forbidden(sc scope) *Problem {
	return problem(http.StatusForbidden, "the token is not good for this", "it takes the scope "+string(sc)+", and the thread")
}

// leaving answers while the server drains.
func (s *Server) leaving(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "1")
	w.Header().Set("Connection", "close")
	problem(http.StatusServiceUnavailable, "the server is about to end", "try again in a moment").write(w)
}

// bound limits how much is read and how long an answer may take. A stream bounds
// itself. Where the connection knows no deadlines there are none.
func (s *Server) bound(w http.ResponseWriter, r *http.Request, rt *route) {
	size, patience := s.cfg.Limits.body(rt.way)
	r.Body = http.MaxBytesReader(w, r.Body, size+2) // an operation notices one byte sooner, and says so
	c := http.NewResponseController(w)
	if rt.way == stream {
		_ = c.SetWriteDeadline(time.Time{})
		return
	}
	end := time.Now().Add(s.cfg.Limits.AnswerTime)
	_ = c.SetReadDeadline(time.Now().Add(patience))
	_ = c.SetWriteDeadline(end)
	if rt.way == upload {
		r.Body = &arriving{ReadCloser: r.Body, control: c, stall: s.cfg.Limits.Stall, until: end}
	}
}

// fail answers with an error's problem, and logs what is the server's own fault.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	s.problemOf(r, err).write(w)
}

func (s *Server) problemOf(r *http.Request, err error) *Problem {
	p, told := problemOf(err)
	if !told && r.Context().Err() == nil {
		s.cfg.Log.Error("a request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	}
	return p
}

// counting notes an answer's status.
type counting struct {
	http.ResponseWriter
	status int
}

func (c *counting) WriteHeader(status int) {
	if c.status == 0 {
		c.status = status
	}
	c.ResponseWriter.WriteHeader(status)
}

func (c *counting) Write(b []byte) (int, error) {
	if c.status == 0 {
		c.status = http.StatusOK
	}
	return c.ResponseWriter.Write(b)
}

// Unwrap lets a stream reach its connection.
func (c *counting) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// code is a status as a label.
func code(status int) string {
	if status == 0 {
		return "200"
	}
	return strconv.Itoa(status)
}
