package web_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/skeinhq/skein/web"
)

func ask(t *testing.T, method, path string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	web.Handler().ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAddressesOfThePageGiveItAndOthersGiveNothing(t *testing.T) {
	index := body(t, ask(t, "GET", "/"))
	if !strings.Contains(index, "<title>Skein</title>") {
		t.Fatalf("/ is not the page:\n%s", index)
	}
	for _, path := range []string{"/search", "/search?q=x", "/t/launch", "/t/launch/", "/t/a%2Fb", "/t/launch/m/12", "/t/launch/prompt", "/t/launch/outline", "/t/launch/wire"} {
		if r := ask(t, "GET", path); r.StatusCode != 200 || body(t, r) != index {
			t.Errorf("%s: %d, and not the page", path, r.StatusCode)
		}
	}
	for _, path := range []string{"/index.htm", "/t", "/t/", "/t/a/b/c", "/t/a/m/x", "/assets/", "/assets/none.js", "/v1/threads", "/../web.go", "/dist/index.html", "/Search", "/t/a/m/12/../../../.."} {
		if r := ask(t, "GET", path); r.StatusCode != 404 {
			t.Errorf("%s: %d, want 404", path, r.StatusCode)
		}
	}
	if r := ask(t, "POST", "/"); r.StatusCode != 405 || r.Header.Get("Allow") == "" {
		t.Errorf("POST: %d", r.StatusCode)
	}
	if r := ask(t, "HEAD", "/"); r.StatusCode != 200 || body(t, r) != "" || r.ContentLength == 0 {
		t.Errorf("HEAD: %d", r.StatusCode)
	}
}

func TestAssetsAreCachedForEverAndThePageIsNot(t *testing.T) {
	for name, cached := range map[string]string{"/" + asset(t, ".js"): "immutable", "/" + asset(t, ".css"): "immutable", "/": "no-cache", "/icon.svg": "no-cache"} {
		r := ask(t, "GET", name)
		if got := r.Header.Get("Cache-Control"); !strings.Contains(got, cached) {
			t.Errorf("%s: Cache-Control %q, want %s", name, got, cached)
		}
		tag := r.Header.Get("ETag")
		if again := ask(t, "GET", name, "If-None-Match", `"x", W/`+tag); tag == "" || again.StatusCode != 304 || body(t, again) != "" {
			t.Errorf("%s: ETag %q, asked again: %d", name, tag, again.StatusCode)
		}
		if other := ask(t, "GET", name, "If-None-Match", `"x"`); other.StatusCode != 200 {
			t.Errorf("%s: another tag gives %d", name, other.StatusCode)
		}
	}
}

func TestTypesAreRightAndNotGuessed(t *testing.T) {
	for name, want := range map[string]string{"/" + asset(t, ".js"): "text/javascript; charset=utf-8", "/" + asset(t, ".css"): "text/css; charset=utf-8", "/icon.svg": "image/svg+xml", "/t/x": "text/html; charset=utf-8"} {
		r := ask(t, "GET", name)
		if got := r.Header.Get("Content-Type"); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if r.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: its type may be guessed", name)
		}
	}
}

func TestWhatIsSentCompressedIsTheSame(t *testing.T) {
	name := "/" + asset(t, ".js")
	plain := ask(t, "GET", name)
	packed := ask(t, "GET", name, "Accept-Encoding", "br, gzip")
	if packed.Header.Get("Content-Encoding") != "gzip" || packed.Header.Get("Vary") != "Accept-Encoding" || packed.Header.Get("ETag") == plain.Header.Get("ETag") {
		t.Fatalf("headers: %v", packed.Header)
	}
	z, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(z)
	if err != nil || string(got) != body(t, plain) {
		t.Errorf("it is not the same (%v)", err)
	}
	if refused := ask(t, "GET", name, "Accept-Encoding", "gzip;q=0"); refused.Header.Get("Content-Encoding") != "" {
		t.Error("who refuses gzip gets it")
	}
}

func TestThePolicyRunsNothingInlineAndContactsNobodyElse(t *testing.T) {
	policy := ask(t, "GET", "/t/x").Header.Get("Content-Security-Policy")
	if policy != web.Policy {
		t.Fatalf("policy: %q", policy)
	}
	for _, never := range []string{"unsafe", "*", "http:", "https:", "data:"} {
		if strings.Contains(policy, never) {
			t.Errorf("the policy allows %s: %s", never, policy)
		}
	}
	page := body(t, ask(t, "GET", "/"))
	if regexp.MustCompile(`<script(?:[^>]*)>[^<]`).MatchString(page) || strings.Contains(page, "<style") || regexp.MustCompile(`\son\w+=|style=`).MatchString(page) {
		t.Errorf("the page has something inline:\n%s", page)
	}
	for _, m := range regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if r := ask(t, "GET", m[1]); !strings.HasPrefix(m[1], "/") || r.StatusCode != 200 {
			t.Errorf("the page asks for %s: %d", m[1], r.StatusCode)
		}
	}
}

// mostBytes is how much the page's scripts and styles may take on the wire.
const mostBytes = 150_000

func TestThePageIsSmall(t *testing.T) {
	total := 0
	for _, name := range assets(t) {
		if ext := filepath.Ext(name); ext != ".js" && ext != ".css" {
			continue
		}
		r := ask(t, "GET", "/"+name, "Accept-Encoding", "gzip")
		n := len(body(t, r))
		t.Logf("%6d %s", n, name)
		total += n
	}
	if total > mostBytes {
		t.Errorf("scripts and styles take %d bytes, at most %d", total, mostBytes)
	}
}

// modules gives the path of node, where that and the page's modules are there.
func modules(t *testing.T) (node string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		missing(t, "there is no node")
	}
	if _, err := os.Stat("page/node_modules/vite"); err != nil {
		if os.Getenv("SKEIN_REQUIRE") != "all" {
			t.Skip("the page's modules are not there: run npm ci in web/page")
		}
		install := exec.Command("npm", "ci", "--no-audit", "--no-fund")
		install.Dir = "page"
		if out, err := install.CombinedOutput(); err != nil {
			t.Fatalf("npm ci: %v\n%s", err, out)
		}
	}
	return node
}

// TestThePagesOwnTests runs what tries the page's parts without a browser, and
// checks its types.
func TestThePagesOwnTests(t *testing.T) {
	node := modules(t)
	for _, args := range [][]string{
		{"node_modules/typescript/bin/tsc", "--noEmit"},
		{"node_modules/vitest/vitest.mjs", "run", "--reporter=dot"},
	} {
		run := exec.Command(node, args...)
		run.Dir = "page"
		if out, err := run.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", args[0], err, out)
		}
	}
}

// TestTheBuildIsThatOfTheSources builds the page again and compares.
func TestTheBuildIsThatOfTheSources(t *testing.T) {
	node := modules(t)
	out := t.TempDir()
	build := exec.Command(node, "node_modules/vite/bin/vite.js", "build", "--logLevel", "warn", "--emptyOutDir", "--outDir", out)
	build.Dir = "page"
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the page cannot be built: %v\n%s", err, said)
	}
	fresh, kept := tree(t, out), tree(t, "dist")
	for name, data := range fresh {
		if !bytes.Equal(data, kept[name]) {
			t.Errorf("dist/%s is not what the sources give: run npm run build in web/page", name)
		}
	}
	for name := range kept {
		if fresh[name] == nil {
			t.Errorf("dist/%s is left over: run npm run build in web/page", name)
		}
	}
}

func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("SKEIN_REQUIRE") == "all" {
		t.Fatal(what)
	}
	t.Skip(what)
}

func tree(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	root := os.DirFS(dir)
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[p], err = fs.ReadFile(root, p)
		return err
	})
	if err != nil || len(files) < 3 {
		t.Fatalf("%s: %d files, %v", dir, len(files), err)
	}
	return files
}

// assets are the names of the built files that carry a hash.
func assets(t *testing.T) (names []string) {
	t.Helper()
	for name := range tree(t, "dist") {
		if strings.HasPrefix(name, "assets/") {
			names = append(names, name)
		}
	}
	return names
}

// asset is the one of that extension that the page itself asks for.
func asset(t *testing.T, ext string) string {
	t.Helper()
	m := regexp.MustCompile(`"/(assets/[^"]*` + regexp.QuoteMeta(ext) + `)"`).FindStringSubmatch(body(t, ask(t, "GET", "/")))
	if m == nil {
		t.Fatalf("the page asks for no %s", ext)
	}
	return m[1]
}
