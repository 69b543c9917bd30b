package server

import (
	"crypto/sha256"
	"encoding/base64"
	"reflect"
	"regexp"

	"github.com/danielgtaylor/huma/v2"
)

// written says what the operations answer that write their answers themselves.
var written = map[string]struct {
	status, kind, about string
	body                reflect.Type
}{
	"watch":        {"200", "text/event-stream", "Frames of the watch; docs/protocol.md has their form.", nil},
	"connect":      {"101", "", "The connection is a WebSocket; docs/protocol.md has its messages.", nil},
	"getBlob":      {"200", "application/octet-stream", "The bytes, as an attachment.", nil},
	"openSession":  {"200", "application/json", "The session's cookie is set.", reflect.TypeFor[Session]()},
	"closeSession": {"204", "", "The cookie is taken away.", nil},
	"showAPI":      {"200", "application/json", "An OpenAPI 3.1 document.", nil},
	"showDocs":     {"200", "text/html", "A page.", nil},
	"ready":        {"200", "application/json", "The server takes requests.", reflect.TypeFor[Health]()},
	"metrics":      {"200", "text/plain", "Figures in Prometheus's text format.", nil},
}

// finishDocument completes what the code alone does not say.
func (s *Server) finishDocument() {
	doc := s.api.OpenAPI()
	for i := range routes {
		rt := &routes[i]
		op := operation(doc.Paths[rt.path], rt.method)
		if op.Extensions == nil {
			op.Extensions = map[string]any{}
		}
		op.Extensions["x-scope"] = string(rt.scope)
		w, ok := written[rt.id]
		if !ok {
			continue
		}
		r := &huma.Response{Description: w.about}
		if w.kind != "" {
			schema := &huma.Schema{Type: huma.TypeString}
			if w.body != nil {
				schema = doc.Components.Schemas.Schema(w.body, true, "")
			}
			r.Content = map[string]*huma.MediaType{w.kind: {Schema: schema}}
		}
		for status := range op.Responses {
			if status != "default" {
				delete(op.Responses, status)
			}
		}
		op.Responses[w.status] = r
	}
}

// operation is a path's operation of that method.
func operation(p *huma.PathItem, method string) *huma.Operation {
	switch method {
	case "GET":
		return p.Get
	case "PUT":
		return p.Put
	case "POST":
		return p.Post
	case "PATCH":
		return p.Patch
	}
	return p.Delete
}

var scriptOf = regexp.MustCompile(`(?s)<script>(.*)</script>`)

// docsPolicy lets the page run its one script and ask this server alone.
func docsPolicy() string {
	sum := sha256.Sum256(scriptOf.FindSubmatch(docsPage)[1])
	return "default-src 'none'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; style-src 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
}
