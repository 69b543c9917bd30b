package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzPath(f *testing.F) {
	for _, seed := range []string{
		"a", "./a//b/", "a/../b", "..", "/a", `\a`, `C:\a`, "C:a", "a\x00b", ".git", "x/.GIT/y", ".git . ", "git~1", "a\nb", "\xff", "…/…", "NUL", "a:b", " ", ".",
		"in/link/out", "link", "in/.", "caf\u00e9", "cafe\u0301",
	} {
		f.Add(seed)
	}
	dir := f.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "in"), 0o700); err != nil {
		f.Fatal(err)
	}
	if err := os.Symlink("..", filepath.Join(dir, "in", "link")); err != nil {
		f.Skipf("no links here: %v", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { root.Close() })
	w := New(root)
	f.Fuzz(func(t *testing.T, p string) {
		got, err := clean(p)
		if err != nil {
			return
		}
		if !filepath.IsLocal(filepath.FromSlash(got)) || !utf8.ValidString(got) || strings.Contains(got, "..") && strings.Contains("/"+got+"/", "/../") {
			t.Fatalf("%q is cleaned to %q", p, got)
		}
		if again, err := clean(got); err != nil || again != got {
			t.Fatalf("%q is cleaned to %q, and that to %q, %v", p, got, again, err)
		}
		real, err := w.resolve(got)
		if err != nil {
			return
		}
		if !filepath.IsLocal(filepath.FromSlash(real)) {
			t.Fatalf("%q leads to %q", p, real)
		}
		if again, err := w.resolve(real); err != nil || again != real {
			t.Fatalf("%q leads to %q, and that to %q, %v", p, real, again, err)
		}
		if strings.ContainsAny(shown(real), "\n\r\x1b") {
			t.Fatalf("%q is shown as %q", real, shown(real))
		}
	})
}

func FuzzGlob(f *testing.F) {
	for _, seed := range [][2]string{
		{"*.go", "a/b.go"}, {"**/*.{ts,tsx}", "x.ts"}, {"{a,{b,c}}/d", "c/d"}, {`\{a`, "{a"}, {"[a-", ""}, {"{,}", ""}, {"}{", "}{"}, {"**/**/**/**", "a/b"}, {"", "a"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, p string) {
		g, err := parseGlob(pattern)
		if err != nil {
			return
		}
		if len(g) > maxBranches {
			t.Fatalf("%q has %d branches", pattern, len(g))
		}
		g.match(p)
	})
}

func TestWhatWasReadIsForgottenInOrder(t *testing.T) {
	s := newSeen()
	key := func(i int) seenKey { return seenKey{"t", string(rune(0x4e00 + i))} }
	for i := range remembered {
		s.put(key(i), sum{1})
	}
	s.get(key(0))
	s.put(key(1), sum{2})
	s.put(key(remembered), sum{3})
	for i, want := range map[int]bool{0: true, 1: true, 2: false, 3: true, remembered: true} {
		if _, ok := s.get(key(i)); ok != want {
			t.Errorf("file %d is remembered: %v, want %v", i, ok, want)
		}
	}
	if got, _ := s.get(key(1)); got != (sum{2}) {
		t.Errorf("of file 1 the reading %x is remembered", got[:1])
	}
	if len(s.by) != remembered || s.newest.Len() != remembered {
		t.Errorf("%d and %d readings are kept", len(s.by), s.newest.Len())
	}
}
