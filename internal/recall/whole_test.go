package recall_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/skeinhq/skein/internal/recall"
	"github.com/skeinhq/skein/thread"
	tools "github.com/skeinhq/skein/tool"
)

// ran makes the message of a tool's result as a turn does: the files stand in the
// result as blobs.
func (k *talk) ran(name, output string, files ...tools.File) thread.Message {
	k.t.Helper()
	set := []tools.Tool{{Name: name, Schema: json.RawMessage(`{}`), Run: func(context.Context, json.RawMessage) (tools.Output, error) {
		return tools.Output{Text: output, Files: files}, nil
	}}}
	a, err := tools.Answer(k.t.Context(), set, thread.Call("c1", name, nil))
	if err != nil {
		k.t.Fatal(err)
	}
	for _, f := range a.Files {
		hash, err := k.st.PutBlob(k.t.Context(), k.th.Key, f.MediaType, f.Data)
		if err != nil {
			k.t.Fatal(err)
		}
		a.Result.Parts = append(a.Result.Parts, thread.Part{Type: thread.BlobPart, Name: f.Name, MediaType: f.MediaType, Hash: hash, Size: int64(len(f.Data))})
	}
	return thread.Message{Author: name, To: []string{"north"}, Role: thread.Tool, Parts: []thread.Part{a.Result}}
}

// numbered is n lines, each of which says which it is.
func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d of the output\n", i)
	}
	return b.String()
}

// all joins the pages of message 0.
func (k *talk) all(viewer string) string {
	k.t.Helper()
	text := ""
	for page, of := 1, 1; page <= of; page++ {
		z, err := recall.Zoom(k.t.Context(), k.st, &k.th, viewer, span(0, 1), page)
		if err != nil {
			k.t.Fatal(err)
		}
		if len(z.Message.Text) > recall.PageBytes {
			k.t.Fatalf("page %d has %d bytes", page, len(z.Message.Text))
		}
		text += z.Message.Text
		of = z.Message.Pages
	}
	return text
}

func TestZoomPagesThroughTheWholeOutput(t *testing.T) {
	k := inMemory(t)
	whole := numbered(20_000)
	k.put(k.ran("shell", whole, tools.File{Name: "log.csv", MediaType: "text/csv", Data: []byte("a,b")}))
	want := "shell → north\nresult of shell (c1):\n" + whole + "\n[text/csv log.csv 3 B]"
	if got := k.all("north"); got != want {
		t.Errorf("%d bytes, want %d; it ends with %q", len(got), len(want), got[len(got)-60:])
	}
	r, err := recall.Read(t.Context(), k.st, &k.th, "north", 0, 1)
	if err != nil || len(r.Messages) != 1 || r.Messages[0].Pages < 2 || r.Messages[0].Pages > 8 {
		t.Errorf("read gives %+v, %v; want the first page of what the log holds", r.Next, err)
	}
}

func TestTheWholeOutputOfWhatOneMayNotSee(t *testing.T) {
	k := inMemory(t)
	k.put(secret(k.ran("shell", numbered(20_000)), "bo"))
	if got := k.all("north"); got != "(private)" {
		t.Errorf("got %.80q", got)
	}
	if got := k.all("bo"); !strings.Contains(got, "line 10000 of") {
		t.Errorf("the one who may sees %d bytes", len(got))
	}
}

func TestAResultBesideWhichNoWholeTextLies(t *testing.T) {
	notes := tools.File{Name: "notes.txt", MediaType: "text/plain", Data: []byte("something else")}
	for about, change := range map[string]func(k *talk) (thread.Message, string){
		"a file under the tool's name": func(k *talk) (thread.Message, string) {
			return k.ran("notes", "They are in the file.", notes), "They are in the file.\n[text/plain notes.txt 14 B]"
		},
		"the blob is gone": func(k *talk) (thread.Message, string) {
			m := k.ran("shell", numbered(20_000))
			m.Parts[0].Parts[1].Hash = strings.Repeat("0", 64)
			return m, "characters left out"
		},
		"the blob is larger than any": func(k *talk) (thread.Message, string) {
			m := k.ran("shell", numbered(20_000))
			m.Parts[0].Parts[1].Size = recall.WholeBytes + 1
			return m, "characters left out"
		},
		"no text": func(k *talk) (thread.Message, string) {
			m := k.ran("notes", "x", notes)
			m.Parts[0].Parts = m.Parts[0].Parts[1:]
			return m, "[text/plain notes.txt 14 B]"
		},
	} {
		k := inMemory(t)
		m, want := change(k)
		k.put(m)
		if got := k.all("north"); !strings.Contains(got, want) || strings.Contains(got, "line 10000 of") {
			t.Errorf("%s: %d bytes without %q: …%q", about, len(got), want, got[max(0, len(got)-100):])
		}
	}
}
