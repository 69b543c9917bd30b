package tui

import (
	"strings"

	"github.com/skeinhq/skein/internal/recall"
	"github.com/skeinhq/skein/internal/word"
	"github.com/skeinhq/skein/thread"
)

func newPage(text string) *recall.Page { return &recall.Page{Text: text, Page: 1, Pages: 1} }

func newLine(span thread.Span, text string) recall.Line { return recall.Line{Span: span, Text: text} }

func newHit(id int64, text, wordFound string) recall.Hit {
	at := strings.Index(text, wordFound)
	return recall.Hit{ID: id, Text: text, Marks: []word.Range{{Start: at, End: at + len(wordFound)}}}
}
