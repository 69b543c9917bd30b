package client_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/client"
	"github.com/skeinhq/skein/thread"
)

func TestWhoTellsAGoodTokenFromABadOne(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/v1/session" || r.Header.Get("Authorization") != "Bearer good" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Write([]byte(`{"name":"ana","scopes":["read"],"threads":["launch"],"token":true}`))
	}))
	defer s.Close()
	who := func(token string) (client.Who, error) {
		c, err := client.New(client.Config{URL: s.URL, Token: token})
		if err != nil {
			t.Fatal(err)
		}
		return c.Who(t.Context())
	}
	got, err := who("good")
	if d := cmp.Diff(client.Who{Name: "ana", Scopes: []string{"read"}, Threads: []string{"launch"}, Token: true}, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	if _, err := who("bad"); thread.CodeOf(err) != thread.Permission {
		t.Errorf("a bad token: %v", err)
	}
}
