package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

//go:embed all:dist
var built embed.FS

// Policy is the content security policy sent with the page: its own scripts,
// styles and images, its own server, nothing inline, nothing from elsewhere, in no
// other site's frame. Texts become markup only through the two named policies.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src 'self' blob:; " +
	"connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types lit-html dompurify"

// types are the media types of what is built, by extension: the machine's own table
// is not asked.
var types = map[string]string{
	".html":  "text/html; charset=utf-8",
	".js":    "text/javascript; charset=utf-8",
	".css":   "text/css; charset=utf-8",
	".svg":   "image/svg+xml",
	".json":  "application/json",
	".woff2": "font/woff2",
}

// route is what an address of the page looks like: the list, a view of all threads,
// a thread, one of its messages, one of its views.
var route = regexp.MustCompile(`^/(search)?$|^/t/[^/]+(/m/[0-9]{1,15}|/[a-z]+)?/?$`)

// file is one built file, as it is sent.
type file struct {
	data, zipped []byte
	kind, tag    string
	forever      bool
}

var files = sync.OnceValue(read)

// Handler serves the page under /. It answers GET and HEAD.
func Handler() http.Handler {
	all := files()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f := all[strings.TrimPrefix(r.URL.Path, "/")]
		if route.MatchString(r.URL.EscapedPath()) {
			f = all["index.html"]
		}
		switch {
		case f == nil:
			http.NotFound(w, r)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "the page is only read", http.StatusMethodNotAllowed)
		default:
			f.serve(w, r)
		}
	})
}

func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", Policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache")
	if f.forever {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	data, tag := f.data, f.tag
	if f.zipped != nil && acceptsGzip(r) {
		data, tag = f.zipped, strings.TrimSuffix(tag, `"`)+`-gzip"`
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", tag)
	if matches(r.Header.Get("If-None-Match"), tag) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", f.kind)
	h.Set("Content-Length", strconv.Itoa(len(data)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(data) // who has gone needs no error
	}
}

// matches says whether a list of tags holds this one.
func matches(list, tag string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if one = strings.TrimPrefix(strings.TrimSpace(one), "W/"); one == tag || one == "*" {
			return true
		}
	}
	return false
}

func acceptsGzip(r *http.Request) bool {
	for one := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(one, ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			return strings.Trim(strings.TrimPrefix(strings.TrimSpace(weight), "q="), "0.") != "" || weight == ""
		}
	}
	return false
}

// read takes the built files into memory, each once plain and once compressed. It
// panics where one is of a type that it has no row for: a build that cannot be
// served is found by any test.
func read() map[string]*file {
	dist, err := fs.Sub(built, "dist")
	if err != nil {
		panic(err)
	}
	all := map[string]*file{}
	err = fs.WalkDir(dist, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(dist, name)
		if err != nil {
			return err
		}
		kind, ok := types[path.Ext(name)]
		if !ok {
			return &fs.PathError{Op: "serve", Path: name, Err: fs.ErrInvalid}
		}
		sum := sha256.Sum256(data)
		all[name] = &file{data: data, zipped: zipped(data), kind: kind, tag: `"` + hex.EncodeToString(sum[:12]) + `"`, forever: strings.HasPrefix(name, "assets/")}
		return nil
	})
	if err != nil {
		panic(err)
	}
	return all
}

// zipped compresses data; nil: it does not get smaller.
func zipped(data []byte) []byte {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		panic(err)
	}
	if _, err := z.Write(data); err != nil {
		panic(err)
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	if b.Len() >= len(data) {
		return nil
	}
	return b.Bytes()
}
