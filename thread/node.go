package thread

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// LineBytes is the most UTF-8 bytes that the text of a line may have.
const LineBytes = 512

// Span names a node by the messages that it stands for: N of them, a power of
// two, from index ID on, a multiple of N.
type Span struct {
	ID int64
	N  int64
}

// SpanOf gives the span of node(level, number).
func SpanOf(level int, number int64) Span { return Span{ID: number << level, N: 1 << level} }

// Level is 0 for a single message, 1 for a pair, and so on.
func (s Span) Level() int { return bits.TrailingZeros64(uint64(s.N)) }

// Number counts the spans of the same level before s.
func (s Span) Number() int64 { return s.ID >> s.Level() }

// Last is the index of the last message in s.
func (s Span) Last() int64 { return s.ID + s.N - 1 }

// End is the index of the first message after s.
func (s Span) End() int64 { return s.ID + s.N }

// Parent is the span twice as wide that holds s.
func (s Span) Parent() Span { return Span{ID: s.ID &^ (2*s.N - 1), N: 2 * s.N} }

// Halves are the two spans that s was made from. It must not be asked of a
// single message.
func (s Span) Halves() (left, right Span) {
	h := s.N / 2
	return Span{s.ID, h}, Span{s.ID + h, h}
}

// IsRight says whether s is the second half of its parent.
func (s Span) IsRight() bool { return s.ID&s.N != 0 }

// Valid says whether N is a power of two and ID a multiple of it.
func (s Span) Valid() bool {
	return s.N > 0 && s.N&(s.N-1) == 0 && s.ID >= 0 && s.ID%s.N == 0
}

// String is the span as the model reads it: id+n.
func (s Span) String() string {
	return strconv.FormatInt(s.ID, 10) + "+" + strconv.FormatInt(s.N, 10)
}

// ParseSpan reads what [Span.String] writes.
func ParseSpan(text string) (Span, error) {
	id, n, ok := strings.Cut(text, "+")
	var s Span
	var err1, err2 error
	s.ID, err1 = strconv.ParseInt(id, 10, 64)
	s.N, err2 = strconv.ParseInt(n, 10, 64)
	if !ok || err1 != nil || err2 != nil || !s.Valid() {
		return Span{}, &Error{Code: Invalid, Op: "span", Message: fmt.Sprintf("%q is not a line's name", text), Hint: "write id+n, with n a power of two and id a multiple of n"}
	}
	return s, nil
}

// MarshalText writes id+n.
func (s Span) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads id+n.
func (s *Span) UnmarshalText(b []byte) error {
	v, err := ParseSpan(string(b))
	if err != nil {
		return err
	}
	*s = v
	return nil
}

// The writers that are not models.
const (
	ByVerbatim   = "verbatim"   // the message itself, short enough to be its own line
	ByJoined     = "joined"     // two lines short enough to stand together
	ByExtractive = "extractive" // sentences chosen by rule
)

// Node is the summary of a span, immutable once built and kept for ever.
type Node struct {
	Span    Span      `json:"span"`
	Seq     int64     `json:"seq"`               // seq of the span's last message, in the thread where it was said
	Text    string    `json:"text"`              // at most LineBytes; newlines are kept
	By      string    `json:"by"`                // verbatim, joined, extractive or a model's name
	Version int       `json:"version,omitempty"` // of the writer
	Time    time.Time `json:"time"`              // of the span's last message
	Usage   *Usage    `json:"usage,omitempty"`   // what a model took for it
}

// Line is the node as the model reads it, on one line: white space around a
// newline shows as one space.
func (n Node) Line() string { return n.Span.String() + "|" + OneLine(n.Text) }

// OneLine turns each newline, with the white space around it, into one space.
func OneLine(s string) string {
	if !strings.ContainsAny(s, "\n\r") {
		return s
	}
	fields := strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' })
	out := fields[:0]
	for _, f := range fields {
		if f = strings.TrimSpace(f); f != "" {
			out = append(out, f)
		}
	}
	return strings.Join(out, " ")
}

// Join makes the parent of two neighbouring nodes where their texts, joined by
// a newline, are short enough to be a line; else ok is false.
func Join(left, right Node) (parent Node, ok bool) {
	if len(left.Text)+1+len(right.Text) > LineBytes {
		return Node{}, false
	}
	return Node{
		Span: left.Span.Parent(),
		Seq:  right.Seq,
		Text: left.Text + "\n" + right.Text,
		By:   ByJoined,
		Time: right.Time,
	}, true
}
