package prompt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skeinhq/skein/internal/prompt"
	"github.com/skeinhq/skein/thread"
)

// sentImages names the images that a prompt sends.
func sentImages(p *prompt.Prompt) []string {
	var out []string
	for _, m := range p.Request.Messages {
		for _, part := range m.Parts {
			for _, q := range append([]thread.Part{part}, part.Parts...) {
				if q.Type == thread.BlobPart {
					out = append(out, q.Name)
				}
			}
		}
	}
	return out
}

func TestWhatTheModelDoesNotTakeIsAReference(t *testing.T) {
	l := newLog().say("ana", "See", image("huge.png", 50<<20), thread.Part{Type: thread.BlobPart, MediaType: "video/mp4", Name: "a\nb.mp4", Size: 10})
	l.reply(image("mine.png", 10), thread.Text("Here"))
	want := `user {"type":"text","text":"ana: See"} {"type":"text","text":"[image huge.png zoom 0 1]"} {"type":"text","text":"[video/mp4 a b.mp4 zoom 0 1]"}
assistant {"type":"text","text":"[image mine.png zoom 1 1]"} {"type":"text","text":"Here"}
`
	if got := history(l.build(t, north("echo"))); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestOldImagesBecomeReferencesInBatches says one image after another, large
// ones and small ones: the request never goes over its size or count, the newest
// is always sent, and the first one sent moves in batches.
func TestOldImagesBecomeReferencesInBatches(t *testing.T) {
	for _, c := range []struct {
		size      int64
		most      int
		few, many int // moves
	}{
		{3 << 20, 4, 5, 15},  // 4 MB encoded, four fit in 16 MB
		{1 << 10, 20, 1, 10}, // count
	} {
		l := newLog()
		first, moves := "", 0
		for i := range 40 {
			l.say("ana", "See", image(fmt.Sprintf("%02d.png", i), c.size))
			p := l.build(t, north("echo"))
			if err := prompt.Validate(&p.Request, rulesOf(t, "echo")); err != nil {
				t.Fatal(err)
			}
			sent := sentImages(p)
			if len(sent) == 0 || len(sent) > c.most || sent[len(sent)-1] != fmt.Sprintf("%02d.png", i) || !slices.IsSorted(sent) {
				t.Fatalf("after %d images of %d bytes it sends %q", i+1, c.size, sent)
			}
			if first != "" && sent[0] != first {
				moves++
				if p.Ledger.Cause != prompt.CauseImages || p.Ledger.Block != "message "+strings.TrimLeft(strings.TrimSuffix(first, ".png"), "0") && first != "00.png" {
					t.Errorf("the first image sent went from %s to %s and the ledger says %+v", first, sent[0], p.Ledger)
				}
			}
			first = sent[0]
			l.previous = &p.Stamp
		}
		if moves < c.few || moves > c.many {
			t.Errorf("%d bytes: the first image sent moved %d times", c.size, moves)
		}
	}
}

func TestImagesInResultsCount(t *testing.T) {
	l := newLog().say("ana", "Look")
	l.reply(call("a", "search", `{}`))
	r := thread.Result("a", "search", "pictures", false)
	r.Parts = append(r.Parts, manyImages(21)...)
	l.add(thread.Message{Author: "search", Role: thread.Tool, Parts: []thread.Part{r}})
	if got := len(sentImages(l.build(t, north("echo")))); got != 10 {
		t.Errorf("%d images of a result are sent, want the newest 10", got)
	}
}

// TestTheWholeOutputIsAReference that weighs next to nothing, and its place among
// the blobs is counted.
func TestTheWholeOutputIsAReference(t *testing.T) {
	build := func(beside ...thread.Part) (*prompt.Prompt, int) {
		l := newLog().say("ana", "Run it")
		l.reply(call("a", "shell", `{}`))
		r := thread.Result("a", "shell", "head … tail", false)
		r.Parts = append(r.Parts, beside...)
		m := thread.Message{Author: "shell", Role: thread.Tool, Parts: []thread.Part{r}}
		return l.add(m).build(t, north("echo")), m.Weigh()
	}
	whole := thread.Part{Type: thread.BlobPart, Hash: "h", MediaType: "text/plain; charset=utf-8", Name: "shell.txt", Size: 16 << 20}
	p, weight := build(append([]thread.Part{whole}, manyImages(21)...)...)
	if got := history(p); !strings.Contains(got, `{"type":"text","text":"head … tail"},{"type":"text","text":"[whole output shell.txt zoom 2 1]"}`) {
		t.Errorf("got\n%s", got)
	}
	if got := len(sentImages(p)); got != 10 {
		t.Errorf("%d images beside it are sent, want the newest 10", got)
	}
	if _, plain := build(manyImages(21)...); weight > plain+50 {
		t.Errorf("with it the message weighs %d, without %d", weight, plain)
	}
	other := whole
	other.Name, other.Size = "report.txt", 10
	p, _ = build(other)
	if got := history(p); !strings.Contains(got, "[text/plain; charset=utf-8 report.txt zoom 2 1]") {
		t.Errorf("another file is shown as\n%s", got)
	}
}

func TestALargeFileDoesNotFillTheWindow(t *testing.T) {
	pdf := thread.Part{Type: thread.BlobPart, MediaType: "application/pdf", Name: "book.pdf", Size: 4 << 20}
	if got := sentImages(newLog().say("ana", "Read", pdf).build(t, north("echo"))); len(got) != 0 {
		t.Errorf("it sends %q", got)
	}
	pdf.Size = 100 << 10
	if got := sentImages(newLog().say("ana", "Read", pdf).build(t, north("echo"))); len(got) != 1 {
		t.Errorf("it sends %q", got)
	}
}
