package prompt_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/skeinhq/skein/internal/prompt"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/transcript"
)

// samples is the folder of foreign transcripts; a test that needs it skips
// where it is absent, unless everything is required.
func samples(t *testing.T) string {
	t.Helper()
	shared := os.Getenv("SKEIN_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	dir := filepath.Join(shared, "samples")
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		if os.Getenv("SKEIN_REQUIRE") == "all" {
			t.Fatalf("the samples are not at %s", dir)
		}
		t.Skipf("the samples are not at %s", dir)
	}
	return dir
}

// TestSamplesMakeValidPromptsAtEveryPrefix is I7 for real conversations: at each
// of their messages, with the window that a thread shows before its lines are
// built, and after a cut.
func TestSamplesMakeValidPromptsAtEveryPrefix(t *testing.T) {
	read := 0
	err := filepath.WalkDir(samples(t), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		l := readSample(t, path)
		if len(l.messages) == 0 {
			return nil
		}
		read++
		t.Run(filepath.Base(path), func(t *testing.T) { everyPrefix(t, l) })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read < 2 {
		t.Errorf("only %d samples were read", read)
	}
}

// readSample imports a transcript; one in a format that is not read is empty.
func readSample(t *testing.T, path string) *log {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l := newLog()
	r, err := transcript.Read(context.Background(), f, transcript.Options{Agent: "north"})
	if err != nil {
		return l
	}
	for item, err := range r.Items() {
		if err != nil {
			t.Fatal(err)
		}
		if !item.Entry.Time.IsZero() {
			l.now = item.Entry.Time
		}
		l.add(*item.Entry.Message)
	}
	return l
}

func everyPrefix(t *testing.T, whole *log) {
	seen := seenOf(whole)
	step := 1
	if testing.Short() {
		step = 1 + len(whole.messages)/50
	}
	for n := 1; n <= len(whole.messages); n += step {
		for _, name := range simModels {
			l := &log{now: whole.messages[n-1].Time, messages: whole.messages[:n]}
			start := windowStart(t, seen[:n])
			past := prompt.Past{Thread: "t1", Length: int64(n), Boundary: start, Messages: l.messages[start:]}
			if n%7 == 0 && start > 0 {
				past = l.cutAt(start).past()
				past.Outline = []thread.Node{}
				for at := int64(0); at < start; { // the widest lines that tile it
					n := int64(1)
					for at%(2*n) == 0 && at+2*n <= start {
						n *= 2
					}
					past.Outline = append(past.Outline, thread.Node{Span: thread.Span{ID: at, N: n}, Text: "what was said"})
					at += n
				}
			}
			def, rules := north(name), rulesOf(t, name)
			p, err := prompt.Build(def, past, prompt.Turn{Time: l.now}, rules)
			if err != nil {
				t.Fatalf("%s, the first %d: %v", name, n, err)
			}
			if err := prompt.Validate(&p.Request, rules); err != nil {
				t.Fatalf("%s, the first %d: %v", name, n, err)
			}
		}
	}
}

// seenOf is what Since needs of each message.
func seenOf(l *log) []prompt.Seen {
	var out []prompt.Seen
	open := map[string]bool{}
	for _, e := range l.messages {
		out = append(out, prompt.Seen{Weight: e.Message.Weigh(), Legal: len(open) == 0 && len(e.Message.Results()) == 0})
		for _, c := range e.Message.Calls() {
			open[c.ID] = true
		}
		for _, r := range e.Message.Results() {
			delete(open, r.Call)
		}
	}
	return out
}

// windowStart asks Since as for a thread that is behind.
func windowStart(t *testing.T, seen []prompt.Seen) int64 {
	t.Helper()
	start, err := prompt.Since(prompt.Known{Length: int64(len(seen)), Seen: seen, Behind: true, Low: 4000})
	if err != nil {
		t.Fatal(err)
	}
	return start
}
