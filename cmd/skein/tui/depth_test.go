package tui

import (
	"strings"
	"testing"
)

func TestDeepNestingIsShownAsItWasWritten(t *testing.T) {
	deepOnes := []string{
		strings.Repeat(">", 100) + " deep", strings.Repeat("> - ", 62) + "x", strings.Repeat("1. ", 333) + "x",
		strings.Repeat("- ", 500) + "x", "fine\n" + strings.Repeat("> ", 30) + "x", "- a\n" + strings.Repeat(" ", 80) + "- b",
	}
	for _, text := range deepOnes {
		if !deep(text, 96) {
			t.Errorf("not deep: %.40q", text)
		}
	}
	for _, text := range []string{"> a\n> > b\n> > > c", "- a\n  - b\n    - c\n      1. d", "1. one\n2. two", "- - - x", "a > b > c", "", "  * a"} {
		if deep(text, 96) {
			t.Errorf("deep: %.40q", text)
		}
	}
	if !deep(strings.Repeat("> ", 8)+"x", 40) {
		t.Error("eight quotes do not fit 40 columns")
	}
}

// What once took minutes is drawn, and holds its text.
func TestDeepNestingIsDrawn(t *testing.T) {
	for _, width := range []int{20, 40, 96} {
		m, err := newMarkdown(cells{}, width)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{strings.Repeat(">", 3000) + " deep", strings.Repeat("> - ", 200) + " deep", strings.Repeat(">", 6) + " deep", strings.Repeat("- ", 12) + " deep"} {
			if got := strings.Join(m.block(block{text: text}), ""); !strings.Contains(got, "deep") {
				t.Errorf("width %d: %.60q lacks its text", width, got)
			}
		}
	}
}
