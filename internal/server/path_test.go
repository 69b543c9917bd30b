package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/skeinhq/skein/internal/server"
	"github.com/skeinhq/skein/thread"
)

// page has something at every path that is nobody else's.
func withPage() settings {
	return withServer(func(c *server.Config) {
		c.Mounts = []server.Mount{{Pattern: "/", Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = fmt.Fprint(w, "the page")
		})}}
	})
}

// A path of the API that is not written as it should be is nowhere: nobody is sent
// elsewhere, and no page answers.
func TestAnUncleanPathOfTheAPIIsNowhere(t *testing.T) {
	s := open(t, withPage())
	s.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s.create("rope")
	for _, path := range []string{
		"//v1/threads", "/v1//threads", "/v1/threads/", "/v1/", "/v1/../x", "/v1/./threads", "/./v1/threads", "/x/../v1/threads",
		"/v1/threads//entries", "/v1/threads/rope/", "/v1/threads/rope/entries/", "/v1/threads/rope/../rope", "/healthz/", "//healthz", "/openapi.json/", "/metrics/.",
		"/v1/threads/rope/%2e%2e/rope", "/v1/nothing", "/v1", "/v1%2fthreads",
	} {
		for _, method := range []string{"GET", "POST", "DELETE"} {
			s.refused(method, path, nil, 404, thread.NotFound)
		}
	}
	if a := s.do("GET", "/a//b/", nil); a.status/100 == 4 {
		t.Errorf("a page's path: %d %s", a.status, a.body)
	}
	s.get("/v1/threads/rope", nil)
}

// paths gives the document's paths, with the names in them filled in, and their
// methods.
func (s *site) paths() map[string][]string {
	s.Helper()
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	s.get("/openapi.json", &doc)
	w := s.say("rope", "hello")
	fill := strings.NewReplacer("{id}", "rope", "{seq}", fmt.Sprint(w.Seq), "{callId}", "c", "{sha256}", strings.Repeat("0", 64))
	out := map[string][]string{}
	for path, methods := range doc.Paths {
		for m := range methods {
			out[fill.Replace(path)] = append(out[fill.Replace(path)], strings.ToUpper(m))
		}
	}
	if len(out) < 20 {
		s.Fatalf("the document has %d paths", len(out))
	}
	return out
}

// required are the queries that paths need.
var required = map[string]string{"/v1/threads/rope/zoom": "?id=0", "/v1/threads/rope/read": "?id=0", "/v1/threads/rope/search": "?q=hello", "/v1/search": "?q=hello"}

// Where GET is, HEAD is, with the same status and header and without a body; what is
// not is a problem that says what is.
func TestEveryPathKnowsItsMethods(t *testing.T) {
	s := open(t)
	s.create("rope")
	for path, methods := range s.paths() {
		got := map[string]bool{}
		for _, m := range methods {
			got[m] = true
		}
		if got["GET"] {
			got["HEAD"] = true
			res, err := s.request("GET", path+required[path], nil)
			s.must(err)
			s.must(res.Body.Close())
			head := s.do("HEAD", path+required[path], nil)
			if head.status != res.StatusCode || len(head.body) != 0 || head.header.Get("Content-Type") != res.Header.Get("Content-Type") {
				t.Errorf("HEAD %s: %d %q %q, but GET %d %q", path, head.status, head.header.Get("Content-Type"), head.body, res.StatusCode, res.Header.Get("Content-Type"))
			}
		}
		for _, m := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"} {
			if got[m] {
				continue
			}
			a := s.do(m, path, nil)
			if a.status != 405 {
				t.Errorf("%s %s: %d %s", m, path, a.status, a.body)
				continue
			}
			allow := map[string]bool{}
			for _, x := range strings.Split(a.header.Get("Allow"), ", ") {
				allow[x] = true
			}
			if fmt.Sprint(allow) != fmt.Sprint(got) {
				t.Errorf("%s %s: allowed is %v, want %v", m, path, allow, got)
			}
			if m != "HEAD" {
				a.problem(t)
			}
		}
	}
}

// If-None-Match names tags as RFC 9110 has it.
func TestWhatIsThereAlreadyIsNotSentAgain(t *testing.T) {
	s := open(t)
	s.create("rope")
	s.say("rope", "hello")
	const path = "/v1/threads/rope/entries"
	tag := s.do("GET", path, nil).header.Get("ETag")
	if !strings.HasPrefix(tag, `"`) {
		t.Fatalf("the tag is %s", tag)
	}
	for name, c := range map[string]struct {
		lines []string
		want  int
	}{
		"the tag":                   {[]string{tag}, 304},
		"weak":                      {[]string{"W/" + tag}, 304},
		"a star":                    {[]string{"*"}, 304},
		"a list":                    {[]string{`"a", W/"b" ,` + tag + `, "c"`}, 304},
		"a comma inside a tag":      {[]string{`"a,b",` + tag}, 304},
		"empty members":             {[]string{`, ,` + tag + `,`}, 304},
		"lines":                     {[]string{`"a"`, tag}, 304},
		"a long list":               {[]string{strings.Repeat(`"0123456789", `, 400) + tag}, 304},
		"another":                   {[]string{`"a"`}, 200},
		"a part of it":              {[]string{tag[:len(tag)-2] + `"`}, 200},
		"without quotes":            {[]string{strings.Trim(tag, `"`)}, 200},
		"within another":            {[]string{`"a ` + strings.Trim(tag, `"`) + `"`}, 200},
		"a star in a list":          {[]string{`"a", *`}, 200},
		"lower case w":              {[]string{"w/" + tag}, 200},
		"behind what is no tag":     {[]string{`a, ` + tag}, 200},
		"glued to another":          {[]string{`"a"` + tag}, 200},
		"a quote that does not end": {[]string{`"a, ` + tag[:len(tag)-1]}, 200},
		"nothing":                   {[]string{""}, 200},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			a := s.do(method, path, nil, func(r *http.Request) { r.Header["If-None-Match"] = c.lines })
			if a.status != c.want || a.header.Get("ETag") != tag || c.want == 304 && len(a.body) != 0 {
				t.Errorf("%s, %s: %d with the tag %s, want %d", method, name, a.status, a.header.Get("ETag"), c.want)
			}
		}
	}
}
