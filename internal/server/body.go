package server

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/skeinhq/skein/thread"
)

// format is JSON as bodies are written and read. What is wrong with one is told in
// words of JSON.
var format = huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: func(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &kind):
		return fmt.Errorf("the %s does not fit at %s", kind.Value, kind.Field)
	case errors.As(err, &syntax):
		return fmt.Errorf("it is no JSON from byte %d on", syntax.Offset)
	case err != nil:
		return errors.New("it is no JSON of the form that the document gives")
	}
	return nil
}}

// isJSON lets a body pass that says that it is JSON. A page of another site could send
// one that says something else, or nothing, without asking first.
func isJSON(ctx huma.Context, next func(huma.Context)) {
	r, w := unwrap(ctx)
	body := ctx.Operation().RequestBody
	if body == nil || body.Content["application/json"] == nil || r.ContentLength == 0 {
		next(ctx)
		return
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		problem(http.StatusUnsupportedMediaType, "the body does not say that it is JSON", "send it with Content-Type: application/json").write(w)
		return
	}
	r.Header.Set("Content-Type", "application/json") // however it is written
	next(ctx)
}

// checkUpgrade refuses what is no beginning of a WebSocket.
func checkUpgrade(w http.ResponseWriter, r *http.Request) *Problem {
	key, err := base64.StdEncoding.DecodeString(r.Header.Get("Sec-WebSocket-Key"))
	if r.ProtoAtLeast(1, 1) && r.Method == http.MethodGet && names(r.Header, "Connection", "upgrade") && names(r.Header, "Upgrade", "websocket") &&
		r.Header.Get("Sec-WebSocket-Version") == "13" && err == nil && len(key) == 16 {
		return nil
	}
	h := w.Header()
	h.Set("Connection", "Upgrade")
	h.Set("Upgrade", "websocket")
	h.Set("Sec-WebSocket-Version", "13")
	return problem(http.StatusUpgradeRequired, "this address is for WebSockets of version 13", "open it as one")
}

// names says whether a header has the word in its lists.
func names(h http.Header, name, word string) bool {
	for _, line := range h.Values(name) {
		for one := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(one), word) {
				return true
			}
		}
	}
	return false
}

// checkThreadMeta refuses metadata of a thread that is too long, before anything is
// made.
func checkThreadMeta(meta json.RawMessage) error {
	if len(meta) > mostMeta {
		return &thread.Error{Code: thread.Invalid, Op: "meta", Message: "a thread's metadata is too long", Hint: "write at most 64 KB of JSON"}
	}
	return nil
}
