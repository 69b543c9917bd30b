package files_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	said "github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

// notebook keeps the notes of one thread's tools, as a store does.
type notebook map[string]json.RawMessage

func (n notebook) notes() tool.Notes {
	return tool.Notes{
		Read: func(_ context.Context, name string) json.RawMessage { return n[name] },
		Keep: func(_ context.Context, name string, data json.RawMessage) { n[name] = data },
	}
}

// What was read is known in the next process too, for that thread alone.
func TestWhatWasReadIsKnownAfterARestart(t *testing.T) {
	r := open(t, map[string]string{"a.txt": "one\n", "b.txt": "two\n"})
	kept := notebook{}
	as := func(r room, thread string, n notebook, name string, input in) string {
		t.Helper()
		ctx := tool.WithCaller(context.Background(), tool.Caller{Thread: thread, Notes: n.notes()})
		data, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		a, err := tool.Answer(ctx, r.tools, said.Call("c", name, data))
		if err != nil {
			t.Fatal(err)
		}
		return a.Result.Parts[0].Text
	}
	as(r, "main", kept, "read_file", in{"path": "a.txt"})
	as(r, "main", kept, "read_file", in{"path": "b.txt"})
	r.put("b.txt", "changed meanwhile\n")

	again := reopen(t, r)
	if text := as(again, "other", notebook{}, "edit_file", in{"path": "a.txt", "old": "one", "new": "x"}); !strings.Contains(text, "not read yet") {
		t.Errorf("another thread may change it: %s", text)
	}
	if text := as(again, "main", kept, "edit_file", in{"path": "b.txt", "old": "changed", "new": "x"}); !strings.Contains(text, "has changed since") {
		t.Errorf("a file that changed between the processes: %s", text)
	}
	if text := as(again, "main", kept, "edit_file", in{"path": "a.txt", "old": "one", "new": "three"}); strings.Contains(text, "not read") {
		t.Errorf("it was read before the restart: %s", text)
	}
	again.holds("a.txt", "three\n")
}

func TestWhatSetsTheAgentsUpIsNotChanged(t *testing.T) {
	r := open(t, map[string]string{"agents/n.md": "be calm", "skein.yaml": "x: y\n", "agents.txt": "fine"})
	guarded := reopen(t, r, "agents", "skein.yaml", "skills")
	guarded.ok("read_file", in{"path": "agents/n.md"})
	for _, p := range []string{"agents/n.md", "agents/new.md", "AGENTS/new.md", "skein.yaml", "skills/x/SKILL.md", "./agents/../agents/n.md"} {
		if text, isError := guarded.as("main", "write_file", in{"path": p, "content": "shell"}); !isError {
			t.Errorf("%s was written: %s", p, text)
		}
	}
	guarded.fails("edit_file", in{"path": "agents/n.md", "old": "be calm", "new": "do all"}, "only people change")
	if err := os.Symlink("agents", guarded.path("link")); err != nil {
		t.Fatal(err)
	}
	guarded.fails("write_file", in{"path": "link/n2.md", "content": "x"}, "only people change")
	guarded.ok("read_file", in{"path": "agents.txt"})
	guarded.ok("write_file", in{"path": "agents.txt", "content": "may change"})
}

func TestAFileIsReplacedOnlyAsItWasRead(t *testing.T) {
	r := open(t, map[string]string{"a.txt": "one\n"})
	r.fails("write_file", in{"path": "a.txt", "content": "x"}, "a.txt exists and was not read yet; read it with read_file")
	r.fails("edit_file", in{"path": "a.txt", "old": "one", "new": "x"}, "a.txt exists and was not read yet")
	r.ok("read_file", in{"path": "a.txt"})
	r.put("a.txt", "two\n")
	r.fails("write_file", in{"path": "a.txt", "content": "x"}, "a.txt has changed since it was read; read it again")
	r.fails("edit_file", in{"path": "a.txt", "old": "two", "new": "x"}, "a.txt has changed since it was read")
	r.holds("a.txt", "two\n")

	if text, isError := r.as("another", "read_file", in{"path": "a.txt"}); isError {
		t.Fatal(text)
	}
	r.fails("write_file", in{"path": "a.txt", "content": "x"}, "has changed since") // what others read does not count
	r.ok("read_file", in{"path": "a.txt", "limit": 1})
	r.ok("edit_file", in{"path": "a.txt", "old": "two", "new": "three"})
	r.ok("edit_file", in{"path": "a.txt", "old": "three", "new": "four"}) // one's own change is known
	if text, isError := r.as("another", "write_file", in{"path": "a.txt", "content": "x"}); !isError {
		t.Errorf("another thread has overwritten a change it did not see: %s", text)
	}
	r.ok("write_file", in{"path": "a.txt", "content": "five\n"})
	r.holds("a.txt", "five\n")
	if err := os.Remove(r.path("a.txt")); err != nil {
		t.Fatal(err)
	}
	r.fails("edit_file", in{"path": "a.txt", "old": "five", "new": "x"}, "there is no a.txt")
	r.ok("write_file", in{"path": "a.txt", "content": "six\n"})
}

func TestWritingMakesFoldersAndKeepsModes(t *testing.T) {
	r := open(t, map[string]string{"run.sh": "old\n", "fixed": "old\n", "file": ""})
	if got := r.ok("write_file", in{"path": "a/b/c.txt", "content": "x\ny"}); got != "[a/b/c.txt is written: 3 bytes, 2 lines]" {
		t.Error(got)
	}
	r.holds("a/b/c.txt", "x\ny")
	r.fails("write_file", in{"path": "file/b", "content": "x"}, "file/b cannot be reached")
	r.fails("write_file", in{"path": "a", "content": "x"}, "a is a folder")
	r.fails("write_file", in{"path": ".", "content": "x"}, "is a folder")
	r.fails("write_file", in{"path": "large", "content": strings.Repeat("x", 17<<20)}, "at most 16777216 bytes (16 MiB) can be written")
	for name, mode := range map[string]os.FileMode{"run.sh": 0o751, "fixed": 0o444} {
		if err := os.Chmod(r.path(name), mode); err != nil {
			t.Fatal(err)
		}
		r.ok("read_file", in{"path": name})
	}
	r.ok("write_file", in{"path": "run.sh", "content": "new\n"})
	r.holds("run.sh", "new\n")
	if info, err := os.Stat(r.path("run.sh")); err != nil || info.Mode().Perm() != 0o751 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	r.fails("edit_file", in{"path": "fixed", "old": "old", "new": "new"}, "read-only")
	r.holds("fixed", "old\n")
}

func TestEditing(t *testing.T) {
	cases := []struct{ about, text, old, new, want, says string }{
		{"a word", "one two\n", "two", "three", "one three\n", "[f is changed, in line 1]\n1\tone three\n"},
		{"lines", numbers(9), "line 5\nline 6\n", "5\n", strings.Replace(numbers(9), "line 5\nline 6\n", "5\n", 1), "in the lines 5 to 6]\n2\tline 2\n3\tline 3\n4\tline 4\n5\t5\n6\tline 7\n"},
		{"to nothing", "a\nb\nc\n", "b\n", "", "a\nc\n", "1\ta\n2\tc\n"},
		{"all to nothing", "a", "a", "", "", "is changed"},
		{"without an end of the last line", "a\nb", "b", "c", "a\nc", "2\tc\n"},
		{"Windows lines", "a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\nc\r\n", "in the lines 1 to 3]"},
		{"Windows lines, given as such", "a\r\nb\r\n", "a\r\nb\r\n", "x\r\ny\r\n", "x\r\ny\r\n", ""},
		{"Windows lines, a new one", "a\r\nb\r\n", "b", "b\nc", "a\r\nb\r\nc\r\n", ""},
		{"mixed lines, as those replaced", "a\nb\nc\nd\r\ne\r\n", "d\ne", "x\ny", "a\nb\nc\nx\r\ny\r\n", ""},
		{"mixed lines, as most are", "a\nb\nc\r\n", "a", "x\ny", "x\ny\nb\nc\r\n", ""},
		{"a byte order mark", "\uFEFFa\n", "a", "b", "\uFEFFb\n", ""},
		{"beside bytes that are no UTF-8", "\xff a\n", "a", "é", "\xff é\n", "1\t\uFFFD é"},
		{"regular expressions mean nothing", "a.b $1\n", ".b $1", "$2", "a$2\n", ""},
		{"many lines", "a\n", "a", numbers(500), numbers(500) + "\n", "[… "},
	}
	for _, c := range cases {
		r := open(t, map[string]string{"f": c.text})
		r.ok("read_file", in{"path": "f"})
		if got := r.ok("edit_file", in{"path": "f", "old": c.old, "new": c.new}); !strings.Contains(got, c.says) || strings.Count(got, "\n") > 64 {
			t.Errorf("%s: it says %q, want %q", c.about, got, c.says)
		}
		r.holds("f", c.want)
	}
}

func TestAnEditThatIsNotClearChangesNothing(t *testing.T) {
	text := "func one() {\n\treturn 1\n}\n\nfunc two() {\n\treturn 1\n}\ncafe\u0301 aaa\n"
	r := open(t, map[string]string{"f.go": text})
	r.ok("read_file", in{"path": "f.go"})
	for _, c := range []struct{ about, old, new, want string }{
		{"twice", "return 1", "return 2", "old occurs 2 times in f.go, in the lines 2, 6; give more of the lines"},
		{"overlapping", "aa", "b", "old occurs 2 times in f.go, in the lines 8, 8"},
		{"nothing", "", "x", "old is empty"},
		{"the same", "one", "one", "the same"},
		{"nowhere", "zebra crossing", "x", "nor anything like it; read the file again"},
		{"nearly", "func two() {\n\treturn 2\n}", "x", "The nearest place is:\n5\tfunc two() {\n6\t\treturn 1\n7\t}\nGive old exactly"},
		{"white space", "func two() {\n    return 1\n}", "x", "The nearest place, which differs in white space, is:\n5\tfunc two() {\n6\t\treturn 1\n7\t}\n"},
		{"white space within", "func  two( ) {", "x", "which differs in white space, is:\n5\tfunc two() {\n"},
		{"another normalization", "caf\u00e9", "x", "another Unicode normalization"},
		{"only white space", "\n\n\n\n \n", "x", "nor anything like it"},
	} {
		t.Run(c.about, func(t *testing.T) {
			r := r
			r.t = t
			r.fails("edit_file", in{"path": "f.go", "old": c.old, "new": c.new}, c.want)
			r.holds("f.go", text)
		})
	}
}

func TestAnEditChangesTheOneTextAndNoEndOfALine(t *testing.T) {
	dir := open(t, nil)
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.StringOf(rapid.SampledFrom([]rune("ab\u00e9 ")))
		end := rapid.SampledFrom([]string{"\n", "\r\n"})
		side := rapid.Custom(func(t *rapid.T) string {
			var b strings.Builder
			for range rapid.IntRange(0, 5).Draw(t, "lines") {
				b.WriteString(piece.Draw(t, "line") + end.Draw(t, "end"))
			}
			return b.String()
		})
		before, after := side.Draw(t, "before"), side.Draw(t, "after")
		middle, with := "<"+side.Draw(t, "middle")+">", "<"+side.Draw(t, "with")+"!>"
		dir.put("f", before+middle+after)
		dir.ok("read_file", in{"path": "f"})
		dir.ok("edit_file", in{"path": "f", "old": strings.ReplaceAll(middle, "\r\n", "\n"), "new": with})
		got, err := os.ReadFile(dir.path("f"))
		if err != nil {
			t.Fatal(err)
		}
		inner, ok := strings.CutPrefix(string(got), before)
		inner, ok2 := strings.CutSuffix(inner, after)
		if !ok || !ok2 || strings.ReplaceAll(inner, "\r\n", "\n") != strings.ReplaceAll(with, "\r\n", "\n") {
			t.Fatalf("%q with %q in place of %q is %q", before+middle+after, with, middle, got)
		}
		if n := strings.Count(inner, "\r\n"); n != 0 && n != strings.Count(inner, "\n") {
			t.Fatalf("%q has two kinds of line endings", inner)
		}
	})
}

func TestThreadsThatChangeTheSameFileLoseNothing(t *testing.T) {
	r := open(t, map[string]string{"count": ""})
	const threads, each = 8, 5
	var all sync.WaitGroup
	for i := range threads {
		id := fmt.Sprint("thread-", i)
		all.Go(func() {
			for n := 0; n < each; {
				if text, isError := r.as(id, "read_file", in{"path": "count"}); isError {
					t.Error(text)
					return
				}
				now, err := os.ReadFile(r.path("count"))
				if err != nil {
					t.Error(err)
					return
				}
				text, isError := r.as(id, "write_file", in{"path": "count", "content": string(now) + "x"})
				switch {
				case !isError:
					n++
				case !strings.Contains(text, "has changed since"):
					t.Error(text)
					return
				}
			}
		})
	}
	all.Wait()
	// A write succeeds only while the file is what read_file saw, and then the look
	// at it between the two saw the same: one that is missing was overwritten.
	got, err := os.ReadFile(r.path("count"))
	if err != nil || len(got) != threads*each {
		t.Errorf("%d changes are left of %d, %v", len(got), threads*each, err)
	}
}
