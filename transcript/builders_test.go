package transcript_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/transcript"
)

// log is what a store makes of imports: entries in order, a key taken once.
type log struct {
	entries []thread.Entry
	byKey   map[string]thread.Entry
}

// put appends as [transcript.Item] asks. It gives false where the item was there.
func (l *log) put(it transcript.Item) (fresh bool, err error) {
	fresh, err = l.append(it.Entry)
	switch {
	case err != nil && it.Late != nil:
		return l.append(*it.Late)
	case err != nil && it.Made:
		return false, nil
	}
	return fresh, err
}

func (l *log) append(e thread.Entry) (bool, error) {
	if e.Key == "" {
		return false, fmt.Errorf("entry without a key: %s", show(e))
	}
	if first, ok := l.byKey[e.Key]; ok {
		if show(first) != show(e) {
			return false, fmt.Errorf("key %s is taken by other content:\n%s\n%s", e.Key, show(first), show(e))
		}
		return false, nil
	}
	if l.byKey == nil {
		l.byKey = map[string]thread.Entry{}
	}
	l.byKey[e.Key] = e
	l.entries = append(l.entries, e)
	return true, nil
}

func show(e thread.Entry) string {
	data, err := e.EncodeBody()
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// load reads a source into the log and gives the report and the entries added.
func (l *log) load(src io.ReadSeeker, o transcript.Options) (transcript.Report, int, error) {
	r, err := transcript.Read(context.Background(), src, o)
	if err != nil {
		return transcript.Report{}, 0, err
	}
	added := 0
	for it, err := range r.Items() {
		if err != nil {
			return r.Report(), added, err
		}
		fresh, err := l.put(it)
		if err != nil {
			return r.Report(), added, err
		}
		if fresh {
			added++
		}
	}
	return r.Report(), added, nil
}

// read loads a source that must be readable.
func read(t *testing.T, source string) (*log, transcript.Report) {
	t.Helper()
	l := &log{}
	report, _, err := l.load(strings.NewReader(source), transcript.Options{Blob: keepBlob})
	if err != nil {
		t.Fatalf("reading fails: %v\n%s", err, source)
	}
	if report.Read != report.Kept+report.Skipped {
		t.Errorf("the report does not add up: %+v", report)
	}
	if err := paired(l.entries); err != nil {
		t.Errorf("%v in\n%s", err, l)
	}
	return l, report
}

func keepBlob(mediaType, name string, data []byte) (thread.Part, error) {
	return thread.Part{Type: thread.BlobPart, Hash: fmt.Sprintf("%x", data), MediaType: mediaType, Name: name, Size: int64(len(data))}, nil
}

// String is the conversation, a line a message.
func (l *log) String() string {
	var b strings.Builder
	for _, e := range l.entries {
		fmt.Fprintln(&b, brief(e))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func brief(e thread.Entry) string {
	var parts []string
	for _, p := range e.Message.Parts {
		parts = append(parts, briefPart(p))
	}
	head := e.Message.Author
	if o, ok := transcript.OriginOf(e.Message); ok && o.Made != "" {
		head += " [made " + o.Made + "]"
	}
	return strings.TrimRight(fmt.Sprintf("%s %s: %s", e.Message.Role, head, strings.Join(parts, " | ")), " ")
}

func briefPart(p thread.Part) string {
	switch p.Type {
	case thread.TextPart:
		return p.Text
	case thread.CallPart:
		return fmt.Sprintf("call %s %s %s", p.ID, p.Name, p.Input)
	case thread.ResultPart:
		var in []string
		for _, q := range p.Parts {
			in = append(in, briefPart(q))
		}
		return fmt.Sprintf("result %s %s", p.Call, strings.Join(in, " | "))
	case thread.BlobPart:
		return fmt.Sprintf("blob %s %s", p.MediaType, p.Hash)
	case thread.ThinkingPart:
		return fmt.Sprintf("thinks %s sig=%s", p.Text, p.Signature)
	}
	return fmt.Sprintf("%s %s", p.Type, p.Raw)
}

// paired says whether the results of every call follow its message at once, one
// each, and nothing else is a result.
func paired(entries []thread.Entry) error {
	open := map[string]int{}
	for i, e := range entries {
		m := e.Message
		if m.Role == thread.Tool {
			if len(m.Parts) != 1 || m.Parts[0].Type != thread.ResultPart || open[m.Parts[0].Call] == 0 {
				return fmt.Errorf("message %d is a result of nothing: %s", i, brief(e))
			}
			open[m.Parts[0].Call]--
			continue
		}
		for id, n := range open {
			if n > 0 {
				return fmt.Errorf("message %d comes before the result of call %s", i, id)
			}
		}
		clear(open)
		for _, c := range m.Calls() {
			if c.ID == "" {
				return fmt.Errorf("message %d has a call without an id", i)
			}
			var object map[string]any
			if json.Unmarshal(c.Input, &object) != nil {
				return fmt.Errorf("message %d has a call whose input is no object: %s", i, c.Input)
			}
			open[c.ID]++
		}
	}
	for id, n := range open {
		if n > 0 {
			return fmt.Errorf("call %s has no result", id)
		}
	}
	return nil
}

func origin(t *testing.T, e thread.Entry) transcript.Origin {
	t.Helper()
	o, ok := transcript.OriginOf(e.Message)
	if !ok {
		t.Fatalf("no origin: %s", show(e))
	}
	return o
}

func wantLog(t *testing.T, l *log, want string) {
	t.Helper()
	want = strings.TrimSpace(want)
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(l.String(), "\n")); diff != "" {
		t.Errorf("the conversation differs (-want +got):\n%s", diff)
	}
}

func wantNotes(t *testing.T, r transcript.Report, want ...string) {
	t.Helper()
	var got []string
	for _, n := range r.Notes {
		got = append(got, fmt.Sprintf("%d: %s", n.Line, n.Reason))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the notes differ (-want +got):\n%s", diff)
	}
}

// sample opens a file of the samples' folder.
func sample(t testing.TB, path string) *os.File {
	t.Helper()
	dir := os.Getenv("SKEIN_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared")
	}
	f, err := os.Open(filepath.Join(dir, "samples", path))
	switch {
	case err == nil:
		t.Cleanup(func() { f.Close() })
	case os.Getenv("SKEIN_REQUIRE") == "all":
		t.Fatalf("the samples are required: %v", err)
	default:
		t.Skipf("the samples are not there: %v", err)
	}
	return f
}
