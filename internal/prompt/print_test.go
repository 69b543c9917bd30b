package prompt_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/internal/prompt"
	"github.com/skeinhq/skein/thread"
)

var update = flag.Bool("update", false, "write the golden files anew")

// printed are the conversations whose prompts are kept in testdata/print.
var printed = map[string]func(t *testing.T) *prompt.Prompt{
	"empty": func(t *testing.T) *prompt.Prompt {
		return newLog().build(t, north("echo"))
	},
	"first": func(t *testing.T) *prompt.Prompt {
		return newLog().say("ana", "Ship on the 12th").build(t, north("echo"))
	},
	"tools": func(t *testing.T) *prompt.Prompt {
		l := newLog().say("ana", "What did we say of the studio?", image("plan.png", 34<<10))
		p := l.build(t, north("echo"))
		l.answer(p, thought("I should look.", "sig", "echo"), thread.Text("Let me look."), call("c1", "search", `{"q":"studio"}`))
		l.result("c1", "search", "8+1|We take the studio.\nsecond line")
		return l.build(t, north("echo"))
	},
	"cut": func(t *testing.T) *prompt.Prompt {
		l := newLog()
		for i := range 3 {
			l.say("ana", fmt.Sprintf("Word %d of <chat> & more", i))
			l.answer(l.build(t, north("echo")), thread.Text(fmt.Sprintf("You said: ana: Word %d", i)))
		}
		l.cutAt(5)
		l.now = l.now.Add(24 * time.Hour)
		l.say("bob", strings.Repeat("long ", 50))
		def := north("echo")
		def.Contexts = []thread.Context{{Name: "place", Text: "The workspace is /work."}}
		def.Zone = "Asia/Tokyo"
		return l.build(t, def)
	},
	"long": func(t *testing.T) *prompt.Prompt {
		l := newLog()
		for i := range 50 {
			l.say("ana", fmt.Sprint("Word ", i))
		}
		l.cutAt(49)
		return l.build(t, north("echo"))
	},
}

func TestPrintShowsAPromptForPeople(t *testing.T) {
	for name, build := range printed {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			if err := build(t).Print(&got); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".txt", got.Bytes())
		})
	}
}

func TestJSONHasSectionsTokensMarksAndLedger(t *testing.T) {
	data, err := json.MarshalIndent(printed["first"](t), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "first.json", append(data, '\n'))
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", "print", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got; -update writes it anew):\n%s", path, diff)
	}
}

func TestPrintMovesNoCursorAndSplitsNoCharacter(t *testing.T) {
	l := newLog().say("ana\x1b[2J", "\x1b[31mred\x07 "+strings.Repeat("👩‍👩‍👧", 200)+"\u2028next\nline")
	var b bytes.Buffer
	if err := l.build(t, north("echo")).Print(&b); err != nil {
		t.Fatal(err)
	}
	row := ""
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "user      ana") {
			row = strings.TrimSuffix(line, "\n")
		}
	}
	if strings.ContainsAny(b.String(), "\x1b\x07\u2028") || !strings.HasSuffix(row, "👩‍👩‍👧…") {
		t.Errorf("printed %q", row)
	}
}

// failing takes so many bytes and then fails.
type failing int

func (f *failing) Write(p []byte) (int, error) {
	if *f -= failing(len(p)); *f < 0 {
		return 0, os.ErrClosed
	}
	return len(p), nil
}

func TestPrintTellsWhenItCannotWrite(t *testing.T) {
	w := failing(100)
	if err := printed["long"](t).Print(&w); err == nil {
		t.Error("no error from a writer that fails")
	}
}
