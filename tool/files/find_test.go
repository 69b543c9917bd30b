package files_test

import (
	"fmt"
	"strings"
	"testing"
)

func tree(t *testing.T) room {
	return open(t, map[string]string{
		"a.go": "package a\n// One and one\n", "b.ts": "const one = 1\n", "sub/c.go": "package c\nvar One = 1\n",
		"sub/deep/d.tsx": "ONE\n", "sub/deep/x.bin": "one\x00", "z.txt": "nothing\n",
	})
}

func TestLists(t *testing.T) {
	r := tree(t)
	for _, c := range []struct {
		input in
		want  string
	}{
		{in{}, "a.go\nb.ts\nsub/\nz.txt\n"},
		{in{"depth": 2}, "a.go\nb.ts\nsub/\nsub/c.go\nsub/deep/\nz.txt\n"},
		{in{"path": "sub"}, "sub/c.go\nsub/deep/\n"},
		{in{"glob": "*.go"}, "a.go\nsub/c.go\n"},
		{in{"glob": "*.go", "depth": 1}, "a.go\n"},
		{in{"glob": "**/*.{ts,tsx}"}, "b.ts\nsub/deep/d.tsx\n"},
		{in{"glob": "*/*.go"}, "sub/c.go\n"},
		{in{"path": "sub", "glob": "deep/**"}, "sub/deep/\nsub/deep/d.tsx\nsub/deep/x.bin\n"},
		{in{"glob": "[ab].*"}, "a.go\nb.ts\n"},
		{in{"glob": "nothing*.x"}, "[nothing matches]\n"},
	} {
		if got := r.ok("list_files", c.input); got != c.want {
			t.Errorf("%v gives\n%s, want\n%s", c.input, got, c.want)
		}
	}
	r.fails("list_files", in{"path": "a.go"}, "a.go is a file; read_file reads files")
	r.fails("list_files", in{"path": "gone"}, "there is no gone")
	r.fails("list_files", in{"depth": -1}, "must be 1 or more")
	r.fails("list_files", in{"glob": "[a"}, "cannot be read")
	r.fails("list_files", in{"glob": "{a"}, "a { is not closed")
	r.fails("list_files", in{"glob": strings.Repeat("{a,b}", 20)}, "more than 64 patterns")
}

func TestAListIsBounded(t *testing.T) {
	content := map[string]string{}
	for i := range 1005 {
		content[fmt.Sprintf("f%04d", i)] = ""
	}
	got := open(t, content).ok("list_files", in{})
	if strings.Count(got, "\n") != 1001 || !strings.HasPrefix(got, "f0000\nf0001\n") || !strings.HasSuffix(got, "f0999\n[5 more are left out; list a folder of it, or use a glob]\n") {
		t.Errorf("…%s", got[len(got)-100:])
	}
}

func TestSearches(t *testing.T) {
	r := tree(t)
	for _, c := range []struct {
		input in
		want  string
	}{
		{in{"pattern": "[Oo]ne"}, "a.go:2: // One and one\nb.ts:1: const one = 1\nsub/c.go:2: var One = 1\n[3 hits in 3 of 5 files]\n[1 binary files are left out]\n"},
		{in{"pattern": "one", "ignore_case": true, "glob": "*.{go,tsx}"}, "a.go:2: // One and one\nsub/c.go:2: var One = 1\nsub/deep/d.tsx:1: ONE\n[3 hits in 3 of 3 files]\n"},
		{in{"pattern": "^package", "path": "sub"}, "sub/c.go:1: package c\n[1 hits in 1 of 2 files]\n[1 binary files are left out]\n"},
		{in{"pattern": "one", "path": "b.ts"}, "b.ts:1: const one = 1\n[1 hits in 1 of 1 files]\n"},
		{in{"pattern": "one", "path": "b.ts", "glob": "*.go"}, "[no hits in 0 files]\n"},
		{in{"pattern": "n.", "plain": true}, "[no hits in 5 files]\n[1 binary files are left out]\n"},
		{in{"pattern": "= 1$", "limit": 1}, "b.ts:1: const one = 1\n[1 hits in 1 of 3 files]\n[there are more hits; name a folder or a glob, or look for something rarer]\n"},
		{in{"pattern": "nothing", "limit": 1}, "z.txt:1: nothing\n[1 hits in 1 of 5 files]\n[1 binary files are left out]\n"},
	} {
		if got := r.ok("search_files", c.input); got != c.want {
			t.Errorf("%v gives\n%s, want\n%s", c.input, got, c.want)
		}
	}
	r.fails("search_files", in{"pattern": ""}, "pattern is empty")
	r.fails("search_files", in{"pattern": "a("}, "plain looks for the text as it is")
	r.fails("search_files", in{"pattern": "(?=a)"}, "no look-around")
	r.fails("search_files", in{"pattern": "a\nb"}, "several lines")
	r.fails("search_files", in{"pattern": strings.Repeat("a", 1001)}, "at most 1000")
	r.fails("search_files", in{"pattern": "a", "limit": 1001}, "between 1 and 1000")
	r.fails("search_files", in{"pattern": "a", "path": "gone"}, "there is no gone")
}

func TestLongAndOddLinesAreFound(t *testing.T) {
	long := strings.Repeat("é", 100_000) + "needle" + strings.Repeat("ü", 100_000)
	r := open(t, map[string]string{"a": "first\n" + long + "\nneedle \xff\r\nlast needle"})
	got := r.ok("search_files", in{"pattern": "needle"})
	lines := strings.Split(got, "\n")
	if len(lines) != 5 || !strings.HasPrefix(lines[0], "a:2: […] é") || !strings.Contains(lines[0], "éneedleü") || !strings.HasSuffix(lines[0], "ü […]") || len(lines[0]) > 340 ||
		lines[1] != "a:3: needle \uFFFD" || lines[2] != "a:4: last needle" || lines[3] != "[3 hits in 1 of 1 files]" {
		t.Errorf("%q", lines)
	}
}
