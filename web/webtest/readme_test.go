package webtest

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/skeinhq/skein/internal/server"
)

func TestTheClientsExampleForBrowsersWorksFromNothing(t *testing.T) {
	readme, err := os.ReadFile("../client/README.md")
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile("(?s)\n```html\n(.*?)```").FindSubmatch(readme)
	if example == nil {
		t.Fatal("web/client/README.md shows no page")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "index.html"), append([]byte("<!doctype html><link rel=icon href=/icon.svg>\n"), example[1]...), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t)
	s.kill()
	page := http.StripPrefix("/example/", http.FileServer(http.Dir(dir)))
	s.mounts = []server.Mount{
		{Pattern: "/example/", Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Security-Policy", "default-src 'self' 'unsafe-inline'") // whoever serves a page says what it may
			page.ServeHTTP(w, r)
		})},
		{Pattern: "/example/skein-client/", Handler: http.StripPrefix("/example/skein-client/", http.FileServer(http.Dir("../client")))},
	}
	s.start()
	p := s.tab("/example/")
	p.wait("[...document.querySelectorAll('#talk li')].map((e) => e.textContent).join('|') === 'ana: Ship on the 12th|north: You said: Ship on the 12th'")
	p.expect("409") // the thread is there already, which the example expects
	p.do("location.reload()")
	p.wait("document.querySelectorAll('#talk li').length === 4")
}
