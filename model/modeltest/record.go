package modeltest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/skeinhq/skein/thread"
)

// Record passes requests on to a provider and keeps what came back, without
// secrets. Its client may have any key: the provider gets the real one.
type Record struct {
	target *url.URL
	key    string
	proxy  *httputil.ReverseProxy

	mu       sync.Mutex
	request  []byte
	response []byte
}

// NewRecord makes a recorder that asks the provider at a URL, such as
// https://api.anthropic.com, with a key. It fails with invalid.
func NewRecord(target, key string) (*Record, error) {
	u, err := url.Parse(target)
	if err != nil || u.Host == "" {
		return nil, &thread.Error{Code: thread.Invalid, Op: "record", Message: fmt.Sprintf("%q is no address of a provider", target), Err: err}
	}
	if key == "" {
		return nil, &thread.Error{Code: thread.Invalid, Op: "record", Message: "there is no key to record with", Hint: "set the provider's key in the environment"}
	}
	r := &Record{target: u, key: key}
	r.proxy = &httputil.ReverseProxy{Rewrite: r.rewrite, ModifyResponse: r.keep, FlushInterval: -1}
	return r, nil
}

// ServeHTTP passes one request on.
func (r *Record) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	body, err := io.ReadAll(hr.Body)
	if err != nil {
		return // whoever asked has gone
	}
	r.mu.Lock()
	r.request = requestText(hr, body)
	r.mu.Unlock()
	hr.Body = io.NopCloser(bytes.NewReader(body))
	r.proxy.ServeHTTP(w, hr)
}

// rewrite sends a request to the provider, with the real key in whatever header
// the client's own stood.
func (r *Record) rewrite(p *httputil.ProxyRequest) {
	p.SetURL(r.target)
	p.Out.Header.Del("Accept-Encoding") // what is recorded is to be read
	if p.Out.Header.Get("x-api-key") != "" {
		p.Out.Header.Set("x-api-key", r.key)
	}
	if p.Out.Header.Get("Authorization") != "" {
		p.Out.Header.Set("Authorization", "Bearer "+r.key)
	}
}

// kept are the headers that stay in a recording.
var kept = []string{"Content-Type", "Retry-After", "Retry-After-Ms"}

// keep keeps a response while it passes.
func (r *Record) keep(response *http.Response) error {
	var head bytes.Buffer
	fmt.Fprintf(&head, "HTTP/1.1 %s\n", response.Status)
	for _, name := range kept {
		if v := response.Header.Get(name); v != "" {
			fmt.Fprintf(&head, "%s: %s\n", name, v)
		}
	}
	head.WriteString("\n")
	r.mu.Lock()
	r.response = head.Bytes()
	r.mu.Unlock()
	response.Body = &passing{response.Body, r}
	return nil
}

// passing is a body that is kept while it is read.
type passing struct {
	io.ReadCloser
	record *Record
}

func (k *passing) Read(p []byte) (int, error) {
	n, err := k.ReadCloser.Read(p)
	k.record.mu.Lock()
	k.record.response = append(k.record.response, p[:n]...)
	k.record.mu.Unlock()
	return n, err
}

// Sections gives what was recorded of the newest exchange, as the two sections
// of a recording.
func (r *Record) Sections() (request, response []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return scrub(r.request, r.key), scrub(r.response, r.key)
}

// secrets are what vendors call the accounts of their customers, and keys.
var secrets = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\b(sk|rk|pk)-[A-Za-z0-9_*-]{8,}`), "sk-secret"},
	{regexp.MustCompile(`\borg-[A-Za-z0-9]{6,}`), "org-secret"},
	{regexp.MustCompile(`\bproj_[A-Za-z0-9]{6,}`), "proj_secret"},
	{regexp.MustCompile(`\buser-[A-Za-z0-9]{10,}`), "user-secret"},
	{regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`), "00000000-0000-0000-0000-000000000000"},
	{regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+\.[A-Za-z0-9.-]+`), "somebody@example.com"},
}

// scrub takes the key and whatever names an account out of a text.
func scrub(text []byte, key string) []byte {
	out := strings.ReplaceAll(string(text), key, "sk-secret")
	for _, s := range secrets {
		out = s.pattern.ReplaceAllString(out, s.instead)
	}
	return []byte(out)
}
