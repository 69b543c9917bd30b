package files_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/skeinhq/skein/tool"
)

func numbers(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestReadingTellsLinesAndWhatTheyAreOf(t *testing.T) {
	cases := []struct {
		about, text string
		input       in
		want        string
	}{
		{"all of it", "a\n\tb\n", in{}, "[f: all 2 lines]\n1\ta\n2\t\tb\n"},
		{"no end of the last line", "a\nb", in{}, "[f: all 2 lines]\n1\ta\n2\tb\n"},
		{"an empty file", "", in{}, "[f is empty]"},
		{"an empty line", "\n", in{}, "[f: all 1 lines]\n1\t\n"},
		{"a part", numbers(10), in{"offset": 3, "limit": 2}, "[f: lines 3 to 4 of 10; offset 5 goes on]\n3\tline 3\n4\tline 4\n"},
		{"the last part", numbers(10), in{"offset": 10, "limit": 5}, "[f: lines 10 to 10 of 10]\n10\tline 10\n"},
		{"Windows lines", "a\r\nb\r\n", in{}, "[f: all 2 lines; lines end with CRLF, which edit_file keeps]\n1\ta\n2\tb\n"},
		{"mixed lines", "a\r\nb\nc\n", in{}, "[f: all 3 lines; 1 lines end with CRLF and 2 with LF; edit_file takes either]\n1\ta\n2\tb\n3\tc\n"},
		{"a byte order mark", "\uFEFFa\n", in{}, "[f: all 1 lines; it begins with a byte order mark, which edit_file keeps]\n1\ta\n"},
		{"no UTF-8", "a\xff\xfeb\n", in{}, "[f: all 1 lines; 2 bytes are NULs or no UTF-8 and shown as \uFFFD; edit_file cannot find them]\n1\ta\uFFFD\uFFFDb\n"},
		{"a binary file", "\x89PNG\r\n\x1a\n\x00\x00", in{}, "[f is binary: a PNG image, 10 bytes; it is not shown]"},
		{"an unknown binary file", "ab\x00", in{}, "[f is binary: of an unknown type, 3 bytes; it is not shown]"},
		{"a CRLF between two reads of a buffer", strings.Repeat("x", 64<<10-1) + "\r\nb\r\n", in{"offset": 2}, "[f: lines 2 to 2 of 2; lines end with CRLF, which edit_file keeps]\n2\tb\n"},
	}
	for _, c := range cases {
		r := open(t, map[string]string{"f": c.text})
		c.input["path"] = "f"
		if got := r.ok("read_file", c.input); got != c.want {
			t.Errorf("%s: %q, want %q", c.about, got, c.want)
		}
	}
}

func TestAReadThatCannotBeIsAnErrorForTheModel(t *testing.T) {
	r := open(t, map[string]string{"a.txt": "a\n", "dir/b": ""})
	r.fails("read_file", in{"path": "gone.txt"}, "there is no gone.txt in the workspace; list_files shows")
	r.fails("read_file", in{"path": "a.txt/b"}, "a.txt/b cannot be reached")
	r.fails("read_file", in{"path": "dir"}, "dir is a folder")
	r.fails("read_file", in{"path": ""}, "path is empty")
	r.fails("read_file", in{"path": "a.txt", "offset": 2}, "a.txt has 1 lines, and offset is 2")
	r.fails("read_file", in{"path": "a.txt", "offset": -1}, "must be 1 or more")
	r.fails("read_file", in{"path": "/etc/passwd"}, "is absolute; give it from the workspace")
	r.fails("read_file", in{"path": "../a"}, "holds ..")
}

func TestWhatIsReadAtOnceIsBounded(t *testing.T) {
	r := open(t, map[string]string{
		"lines": numbers(3000),
		"wide":  strings.Repeat("é", 5000) + "\nnext\n",
		"both":  strings.Repeat(strings.Repeat("x", 1500)+"\n", 500),
	})
	if got := r.ok("read_file", in{"path": "lines"}); !strings.Contains(got, "lines 1 to 2000 of 3000; offset 2001 goes on") {
		t.Errorf("%.100s", got)
	}
	got := r.ok("read_file", in{"path": "wide"})
	if !strings.Contains(got, "é [… the line goes on: it has 10001 bytes (9.8 KiB)]\n2\tnext\n") || len(got) > 2300 || !utf8.ValidString(got) {
		t.Errorf("%d bytes: …%s", len(got), got[len(got)-100:])
	}
	got = r.ok("read_file", in{"path": "both"})
	if len(got) > 81_000 || !strings.Contains(got, "lines 1 to 53 of 500; offset 54 goes on") {
		t.Errorf("%d bytes: %.100s", len(got), got)
	}
	if got = r.ok("read_file", in{"path": "both", "offset": 54, "limit": 1}); !strings.Contains(got, "\n54\txxx") {
		t.Errorf("%.100s", got)
	}
}

func TestAHugeFileIsReadInPartsAndNotChanged(t *testing.T) {
	r := open(t, map[string]string{"big.log": numbers(2_000_000)}) // 27 MB
	got := r.ok("read_file", in{"path": "big.log", "offset": 2, "limit": 1})
	if !strings.Contains(got, "[big.log: lines 2 to 2; the file has") || !strings.Contains(got, "too many to change it here; offset 3 goes on]\n2\tline 2\n") {
		t.Errorf("%.200s", got)
	}
	got = r.ok("read_file", in{"path": "big.log", "offset": 1_999_999})
	if !strings.Contains(got, "\n2000000\tline 2000000\n") {
		t.Errorf("%.200s", got)
	}
	r.fails("edit_file", in{"path": "big.log", "old": "line 7\n", "new": ""}, "cannot be changed here")
	r.fails("write_file", in{"path": "big.log", "content": ""}, "cannot be changed here")
	f, err := os.Create(r.path("sparse"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(1 << 40); err != nil {
		t.Logf("no sparse file: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if got := r.ok("read_file", in{"path": "sparse"}); !strings.Contains(got, "1099511627776 bytes (1024 GiB); it is not shown") {
		t.Error(got)
	}
	if got := r.ok("search_files", in{"pattern": "line 77$"}); !strings.Contains(got, "2 files of more than 16777216 bytes (16 MiB) are left out") {
		t.Error(got)
	}
}

func TestAFileThatGrowsWhileItIsReadCanBeReadAndIsNotOverwritten(t *testing.T) {
	r := open(t, map[string]string{"log": numbers(1000)})
	f, err := os.OpenFile(r.path("log"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for range 20 {
		ctx, stop := context.WithCancel(t.Context())
		var grows sync.WaitGroup
		grows.Go(func() {
			for n := 0; n < 50_000 && ctx.Err() == nil; n++ { // it stays small enough to be edited
				if _, err := f.WriteString("more\n"); err != nil {
					t.Error(err)
					return
				}
			}
		})
		if got := r.ok("read_file", in{"path": "log", "limit": 10}); !strings.Contains(got, "\n10\tline 10\n") {
			t.Errorf("%.300s", got)
		}
		if _, err := f.WriteString("one more since the read\n"); err != nil {
			t.Error(err)
		}
		r.fails("edit_file", in{"path": "log", "old": "line 5\n", "new": ""}, "has changed since it was read")
		stop()
		grows.Wait()
	}
	r.ok("read_file", in{"path": "log", "limit": 1})
	r.ok("edit_file", in{"path": "log", "old": "line 5\n", "new": ""})
}

func TestAReadEndsWithItsContext(t *testing.T) {
	r := open(t, map[string]string{"big": numbers(100_000)})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, name := range []string{"read_file", "search_files"} {
		found, _ := tool.Find(r.tools, name)
		if _, err := found.Run(ctx, []byte(`{"path":"big","pattern":"nothing"}`)); err == nil || !strings.Contains(err.Error(), "canceled") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
