package tui

import (
	"slices"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"
)

// graphemes gives the places between graphemes of one line.
func graphemes(line string) []int {
	out := []int{0}
	g := uniseg.NewGraphemes(line)
	for g.Next() {
		_, to := g.Positions()
		out = append(out, to)
	}
	return out
}

var typedTexts = rapid.OneOf(
	rapid.SampledFrom([]string{"a", " ", "\n", "word", "é", "e\u0301", "\u0301", "👩‍👩‍👧", "\u200d", "👧", "世界", "שלום", "🇩🇪", "🇩", "\t", "a b c", "\r\n", "नमस्ते", "\u202e"}),
	rapid.StringN(0, 8, 20),
)

// TestEditorNeverPartsAGrapheme types, moves and deletes at random: the cursor
// always stands between graphemes, and the screen shows it.
func TestEditorNeverPartsAGrapheme(t *testing.T) {
	moves := map[string]func(*editor){
		"left": (*editor).left, "right": (*editor).right, "home": (*editor).home, "end": (*editor).end,
		"word left": (*editor).wordLeft, "word right": (*editor).wordRight, "begin": (*editor).begin, "finish": (*editor).finish,
		"backspace": func(e *editor) { e.remove(e.left) }, "delete": func(e *editor) { e.remove(e.right) },
		"to start": (*editor).removeToStart, "to end": (*editor).removeToEnd,
		"delete word": func(e *editor) { e.remove(e.wordLeft) }, "delete next word": func(e *editor) { e.remove(e.wordRight) },
		"up": func(e *editor) { e.vertical(cells{}, 7, -1) }, "down": func(e *editor) { e.vertical(cells{}, 7, 1) },
	}
	var names []string
	for n := range moves {
		names = append(names, n)
	}
	slices.Sort(names)
	rapid.Check(t, func(t *rapid.T) {
		e := newEditor()
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			name := rapid.SampledFrom(append(names, "type", "type", "type")).Draw(t, "step")
			if name == "type" {
				text := typedTexts.Draw(t, "text")
				before := e.text()
				e.insert(text)
				if got, want := len(e.text()), len(before)+len(typeable(text)); got != want {
					t.Fatalf("%q typed into %q gives %q", text, before, e.text())
				}
			} else {
				moves[name](&e)
			}
			if e.line < 0 || e.line >= len(e.lines) || !slices.Contains(graphemes(e.lines[e.line]), e.at) {
				t.Fatalf("after %s the cursor stands at %d,%d of %q", name, e.line, e.at, e.lines)
			}
			rows, x, y := e.view(cells{}, 7, 3)
			if y < 0 || y >= len(rows) || x < 0 || x > 7 || len(rows) > 3 {
				t.Fatalf("after %s the cursor is drawn at %d,%d of %q", name, x, y, rows)
			}
		}
	})
}

func TestEditorMoves(t *testing.T) {
	cases := []struct {
		name string
		do   func(*editor)
		want string // with | at the cursor
	}{
		{"word left", func(e *editor) { e.wordLeft() }, "one two,\n|three"},
		{"word left twice", func(e *editor) { e.wordLeft(); e.wordLeft() }, "one |two,\nthree"},
		{"word right", func(e *editor) { e.begin(); e.wordRight() }, "one| two,\nthree"},
		{"up keeps the column", func(e *editor) { e.vertical(cells{}, 40, -1) }, "one t|wo,\nthree"},
		{"up and down", func(e *editor) { e.vertical(cells{}, 40, -1); e.vertical(cells{}, 40, 1) }, "one two,\nthree|"},
		{"remove word", func(e *editor) { e.remove(e.wordLeft) }, "one two,\n|"},
		{"join lines", func(e *editor) { e.home(); e.remove(e.left) }, "one two,|three"},
		{"to the start", func(e *editor) { e.removeToStart() }, "one two,\n|"},
		{"from the first line's end", func(e *editor) { e.begin(); e.end(); e.removeToEnd() }, "one two,|three"},
	}
	for _, c := range cases {
		e := newEditor()
		e.insert("one two,\nthree")
		c.do(&e)
		at := e.at
		for _, l := range e.lines[:e.line] {
			at += len(l) + 1
		}
		if got := e.text()[:at] + "|" + e.text()[at:]; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestRowsHoldTheLine checks that rows are all of the text, in order, and fit.
func TestRowsHoldTheLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := strings.ReplaceAll(strings.Join(rapid.SliceOfN(typedTexts, 0, 12).Draw(t, "texts"), ""), "\n", " ")
		width := rapid.IntRange(2, 20).Draw(t, "width")
		c := cells{}
		at := 0
		for _, r := range c.rows(line, width) {
			if r.start != at || r.end < r.start {
				t.Fatalf("a row begins at %d, not %d, in %q", r.start, at, line)
			}
			text := strings.TrimRight(line[r.start:r.end], " \t")
			if w := c.plainWidth(text); w > width && len(graphemes(text)) > 2 {
				t.Fatalf("a row is %d columns wide, not %d: %q", w, width, text)
			}
			at = r.end
		}
		if at != len(line) {
			t.Fatalf("rows end at %d of %d in %q", at, len(line), line)
		}
	})
}
