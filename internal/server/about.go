package server

import (
	"context"
	_ "embed" // the page
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/skeinhq/skein/thread"
)

// docsPage shows the document. It loads nothing but that.
//
//go:embed docs.html
var docsPage []byte

func unwrap(ctx huma.Context) (*http.Request, http.ResponseWriter) { return humago.Unwrap(ctx) }

// answer writes a value as JSON.
func answer(w http.ResponseWriter, status int, v any) {
	data, err := thread.Encode(v)
	if err != nil {
		p, _ := problemOf(err)
		p.write(w)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(data, '\n')) // whoever asked may have left
}

func (s *Server) showAPI(context.Context, *struct{}) (*huma.StreamResponse, error) {
	return raw(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(s.openAPI) // whoever asked may have left
	}), nil
}

func (s *Server) showDocs(context.Context, *struct{}) (*huma.StreamResponse, error) {
	return raw(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", docsPolicy())
		_, _ = w.Write(docsPage) // whoever asked may have left
	}), nil
}

// Health says how the server stands.
type Health struct {
	OK     bool   `json:"ok"`
	Reason string `json:"reason,omitempty"`
}

func (s *Server) health(context.Context, *struct{}) (*struct{ Body Health }, error) {
	return &struct{ Body Health }{Health{OK: true}}, nil
}

func (s *Server) ready(ctx context.Context, _ *struct{}) (*huma.StreamResponse, error) {
	return raw(func(w http.ResponseWriter, _ *http.Request) {
		switch err := s.cfg.Engine.Ready(ctx); {
		case s.draining.Load():
			answer(w, http.StatusServiceUnavailable, Health{Reason: "the server is about to end"})
		case err != nil:
			answer(w, http.StatusServiceUnavailable, Health{Reason: "the store does not answer"})
		default:
			answer(w, http.StatusOK, Health{OK: true})
		}
	}), nil
}

func (s *Server) metrics(context.Context, *struct{}) (*huma.StreamResponse, error) {
	return raw(func(w http.ResponseWriter, r *http.Request) { s.figures.handler.ServeHTTP(w, r) }), nil
}
