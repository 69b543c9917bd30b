package main

import "testing"

func TestASpokenAnswerComesInSentences(t *testing.T) {
	cases := []struct{ text, want string }{
		{"", ""},
		{"You said", ""},
		{"It is done. And", "It is done. "},
		{"It is done.", ""}, // 3.5 might go on
		{"It costs 3.50 and", ""},
		{"**Done.** Next", "**Done.** "},
		{"a list:\n- one\n- tw", "a list:\n- one\n"},
		{"終わり。次", "終わり。"},
		{"Really?! Yes", "Really?! "},
	}
	for _, c := range cases {
		if got := c.text[:sentences(c.text)]; got != c.want {
			t.Errorf("of %q %q is spoken, want %q", c.text, got, c.want)
		}
	}
}

func TestALongSentenceIsSpokenByWords(t *testing.T) {
	text := ""
	for len(text) < longSentence {
		text += "word "
	}
	if got := sentences(text + "wo"); got != len(text) {
		t.Errorf("%d bytes are spoken, want %d", got, len(text))
	}
}

func TestOneOfAThingIsNotMany(t *testing.T) {
	for n, want := range map[int]string{0: "0 lines", 1: "1 line", 2: "2 lines"} {
		if got := counted(n, "line", "lines"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	if one, two := noun(int64(1), "line", "lines"), noun(int64(2), "line", "lines"); one != "line" || two != "lines" {
		t.Errorf("1 %s, 2 %s", one, two)
	}
}
