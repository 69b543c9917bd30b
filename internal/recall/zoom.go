package recall

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// Zoomed is what a line opens to: the two lines it was made from, or, of a
// single message, a page of it.
type Zoomed struct {
	Span    thread.Span `json:"span"`
	Lines   []Line      `json:"lines,omitempty"`
	Message *Page       `json:"message,omitempty"`
}

// Line is one line. Where nobody has written it yet, Missing is set and Text
// empty.
type Line struct {
	Span    thread.Span `json:"span"`
	Text    string      `json:"text"`
	Missing bool        `json:"missing,omitempty"`
}

// Page is a page of a message, counted from 1. Text begins with who speaks to
// whom, on a line of its own.
type Page struct {
	ID     int64       `json:"id"`
	Seq    int64       `json:"seq"`
	Author string      `json:"author,omitempty"`
	To     []string    `json:"to,omitempty"`
	Role   thread.Role `json:"role,omitempty"`
	Time   time.Time   `json:"time"`
	Text   string      `json:"text"`
	Page   int         `json:"page"`
	Pages  int         `json:"pages"`
}

// pageOf is one page of an entry's message as the viewer may see it.
func pageOf(e *thread.Entry, viewer string, all []string, page int) Page {
	p := Page{ID: e.Index, Seq: e.Seq, Time: e.Time, Text: all[page-1], Page: page, Pages: len(all)}
	if m := e.Message; m != nil && m.VisibleTo(viewer) {
		p.Author, p.To, p.Role = m.Author, m.To, m.Role
	}
	return p
}

// Zoom opens the line of that span, any that the thread has messages for. page
// is for a single message; 0 is the first. A result of which the log holds only
// head and tail is shown whole.
//
// Errors: not-found ("No line id+n.", or no such page), storage.
func Zoom(ctx context.Context, st store.Store, t *thread.Thread, viewer string, span thread.Span, page int) (Zoomed, error) {
	if !span.Valid() || span.N > t.Length || span.ID > t.Length-span.N {
		return Zoomed{}, &thread.Error{Code: thread.NotFound, Op: "zoom", Thread: t.ID, Message: fmt.Sprintf("No line %s.", span)}
	}
	if span.N == 1 {
		p, err := zoomMessage(ctx, st, t, viewer, span.ID, max(page, 1))
		return Zoomed{Span: span, Message: p}, err
	}
	left, right := span.Halves()
	lines, err := linesOf(ctx, st, t, []thread.Span{left, right})
	return Zoomed{Span: span, Lines: lines}, err
}

func zoomMessage(ctx context.Context, st store.Store, t *thread.Thread, viewer string, id int64, page int) (*Page, error) {
	e, err := message(ctx, st, t, id)
	if err != nil {
		return nil, err
	}
	if e.Message != nil && e.Message.VisibleTo(viewer) {
		if e.Message, err = opened(ctx, st, t, e.Message); err != nil {
			return nil, err
		}
	}
	all := pages(Text(&e, viewer))
	if page > len(all) {
		return nil, &thread.Error{Code: thread.NotFound, Op: "zoom", Thread: t.ID, Message: fmt.Sprintf("Message %d has no page %d.", id, page), Hint: plural(len(all), "page", "pages")}
	}
	p := pageOf(&e, viewer, all, page)
	return &p, nil
}

// message reads one active message.
func message(ctx context.Context, st store.Store, t *thread.Thread, id int64) (thread.Entry, error) {
	for e, err := range st.Messages(ctx, t, id, id+1) {
		return e, err
	}
	return thread.Entry{}, noMessage(t, "zoom", id)
}

func noMessage(t *thread.Thread, op string, id int64) error {
	return &thread.Error{Code: thread.NotFound, Op: op, Thread: t.ID, Message: fmt.Sprintf("No message %d.", id), Hint: extent(t)}
}

// linesOf reads the lines of spans, missing ones included.
func linesOf(ctx context.Context, st store.Store, t *thread.Thread, spans []thread.Span) ([]Line, error) {
	nodes, err := st.Nodes(ctx, t, spans)
	if err != nil {
		return nil, err
	}
	lines := make([]Line, len(spans))
	for i, s := range spans {
		if len(nodes) > 0 && nodes[0].Span == s {
			lines[i] = Line{Span: s, Text: nodes[0].Text}
			nodes = nodes[1:]
			continue
		}
		lines[i] = Line{Span: s, Missing: true}
	}
	return lines, nil
}

// String is the line as the model reads it: id+n|text.
func (l Line) String() string {
	text := thread.OneLine(l.Text)
	switch {
	case l.Missing && l.Span.N == 1:
		text = fmt.Sprintf("(not summarized yet; zoom %d 1 opens the message)", l.Span.ID)
	case l.Missing:
		text = fmt.Sprintf("(not summarized yet; zoom %d %d goes on to its %d messages)", l.Span.ID, l.Span.N, l.Span.N)
	}
	return l.Span.String() + "|" + text
}

// String is what was opened: two lines, or the page and, where there are
// several, which one it is.
func (z Zoomed) String() string {
	if z.Message != nil {
		return z.Message.String()
	}
	lines := make([]string, len(z.Lines))
	for i, l := range z.Lines {
		lines[i] = l.String()
	}
	return strings.Join(lines, "\n")
}

// String is the page's text and, where the message has several, which one it is.
func (p Page) String() string {
	if p.Pages == 1 {
		return p.Text
	}
	return fmt.Sprintf("%s\n(page %d of %d)", p.Text, p.Page, p.Pages)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "it has 1 " + one
	}
	return fmt.Sprintf("it has %d %s", n, many)
}
