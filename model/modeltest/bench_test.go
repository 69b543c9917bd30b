package modeltest_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/skeinhq/skein/model/modeltest"
)

// BenchmarkMessages answers a request of 600 messages, as a run of 300 turns
// ends with.
func BenchmarkMessages(b *testing.B) {
	body := asked(strings.Repeat(assistantSays(aText, aText)+userSays(aText), 300))
	s := modeltest.NewServer(modeltest.Config{Keep: 1})
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		r := httptest.NewRequest("POST", "/v1/messages", strings.NewReader(body))
		r.Header.Set("x-api-key", modeltest.DefaultKey)
		r.Header.Set("anthropic-version", "2023-06-01")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != 200 {
			b.Fatal(w.Body)
		}
	}
}
