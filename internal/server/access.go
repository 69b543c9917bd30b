package server

import (
	"log/slog"
	"net/http"
	"time"
)

// noted is the server as Serve runs it: where Config.Access is set, that is told of
// each request once it is answered, of a stream when it has ended. A query is never
// told: it may hold a ticket, or what was searched for.
func (s *Server) noted() http.Handler {
	if s.cfg.Access == nil {
		return s
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun := time.Now()
		counted := &counting{ResponseWriter: w}
		defer func() {
			s.cfg.Access.LogAttrs(r.Context(), slog.LevelInfo, "request",
				slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Int("status", counted.status),
				slog.Float64("seconds", time.Since(begun).Seconds()), slog.String("from", r.RemoteAddr))
		}()
		s.ServeHTTP(counted, r)
	})
}
