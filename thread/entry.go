package thread

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// Kind says what an entry records.
type Kind string

// The kinds of entries.
const (
	MessageKind  Kind = "message"
	CutKind      Kind = "cut"
	QueuedKind   Kind = "queued"
	ApprovalKind Kind = "approval"
	TurnKind     Kind = "turn"
	RewindKind   Kind = "rewind"
	ResetKind    Kind = "reset"
	TitleKind    Kind = "title"
	EraseKind    Kind = "erase"
)

// Floats says whether entries of this kind may follow the tip a turn was read
// at without being in that turn's way: they never make a commit conflict.
func (k Kind) Floats() bool {
	return k == QueuedKind || k == ApprovalKind || k == TitleKind
}

// NoIndex is the index of an entry that is no active message.
const NoIndex = -1

// Entry is one immutable record of a thread's log. Its place (Seq, Prev, Index,
// Branch) is given by the store at commit; its ID may be reserved before.
// Exactly one of the bodies is set: the one that Kind names.
type Entry struct {
	Seq    int64     // 1, 2, 3… dense, never reused
	ID     string    // a UUIDv7
	Kind   Kind      //
	Time   time.Time // UTC, in whole milliseconds
	Key    string    // the client's key, which makes a retry safe
	Prev   int64     // messages: seq of the active message before it, 0 if none
	Index  int64     // messages: the leaf number; NoIndex for all else
	Branch int64     // messages: the branch of the thread it was said on

	Message  *Message
	Cut      *Cut
	Queued   *Queued
	Approval *Approval
	Turn     *Turn
	Rewind   *Rewind
	Reset    *Reset
	Title    *Title
	Erase    *Erase
}

// Cut is the one kind of event that changes what the prompt holds of the past.
// The outline's cuts move the boundary and say which lines stand before it; those
// of other strategies say what is kept of the messages before Length. Either way
// the messages from Length on follow whole.
type Cut struct {
	Number   int64  `json:"number"`          // 1, 2, 3… never repeated, undone ones included
	Strategy string `json:"strategy"`        // the one that acted
	Chain    string `json:"chain,omitempty"` // the thread's strategies, joined by commas; empty: the outline alone
	Agent    string `json:"agent,omitempty"` // in whose turn
	Step     int    `json:"step,omitempty"`  // of that turn, from 1
	Boundary int64  `json:"boundary"`        // index of the first message still whole

	Outline []Span `json:"outline,omitempty"` // the lines shown, which tile [0, Boundary)
	Merging bool   `json:"merging,omitempty"` // the outline is still on its way down to LOW

	Kept   []Kept  `json:"kept,omitempty"`   // what is sent of the messages from Boundary on; nil: all, whole
	Length int64   `json:"length,omitempty"` // active messages that Kept was made from
	Gone   []Range `json:"gone,omitempty"`   // what it stands for: the messages that left or changed by it

	Skills []string `json:"skills,omitempty"` // loaded by messages that have left, and still open
	Locked []string `json:"locked,omitempty"` // loaded by messages that have left, and so locked again

	Prev   int64     `json:"prev,omitempty"` // seq of the cut in force before
	Reason string    `json:"reason"`
	Before CutWeight `json:"before"`
	After  CutWeight `json:"after"`
	Usage  *Usage    `json:"usage,omitempty"` // what a summary took
}

// Kept is a piece of what a strategy leaves, in the order in which it is sent.
// Without a Message it is the active messages with seqs from First to Last as
// the log holds them, each of their results shortened to Results characters where
// that is set. With one it is a message in place of the one at First, or, where
// First is 0, a new one, such as a summary.
type Kept struct {
	First   int64    `json:"first,omitempty"`
	Last    int64    `json:"last,omitempty"`
	Results int      `json:"results,omitempty"`
	Message *Message `json:"message,omitempty"`
}

// Range names the messages with seqs from First to Last.
type Range struct {
	First int64 `json:"first"`
	Last  int64 `json:"last"`
}

// CutWeight is what a cut found or left, in tokens; of a strategy other than the
// outline also in messages and in characters of their JSON.
type CutWeight struct {
	Outline    int `json:"outline"`
	Tail       int `json:"tail"`
	Messages   int `json:"messages,omitempty"`
	Characters int `json:"characters,omitempty"`
}

// When a message that is said while a turn runs is to be heard.
const (
	WhenNow  = "now"  // by the running turn, before its next call of a tool or the model
	WhenNext = "next" // by a turn of its own, after that one
)

// Queued is a message that was said while a turn ran. It gets its index when a
// message takes it.
type Queued struct {
	When    string   `json:"when,omitempty"` // WhenNow or WhenNext (the default)
	Message *Message `json:"message"`
}

// The states of an approval, and for what it was given.
const (
	ApprovalAsked   = "asked"
	ApprovalAllowed = "allowed"
	ApprovalDenied  = "denied"

	ScopeOnce   = "once"   // this call (the default)
	ScopeThread = "thread" // every such call in this thread
)

// Approval records that a call was asked about, or what was decided. A question is
// of the newest call with that id before it; a decision names the question.
type Approval struct {
	Call     string `json:"call"`
	Asked    int64  `json:"asked,omitempty"` // of a decision: seq of the entry that asked
	State    string `json:"state"`           // asked, allowed, denied
	Scope    string `json:"scope,omitempty"`
	By       string `json:"by,omitempty"`
	Reason   string `json:"reason,omitempty"`   // of the rule that asks; of a denial
	Question string `json:"question,omitempty"` // asked: the tool and what it would do, for people
}

// The states of a turn that are logged.
const (
	TurnBegun   = "begun"
	TurnStarted = "started" // a call that is not read-only is about to run
	TurnEnded   = "ended"
)

// Turn records that a turn began, that one of its calls started, or that it
// ended.
type Turn struct {
	State  string `json:"state"`
	Turn   int64  `json:"turn,omitempty"` // seq of the entry that began it
	Agent  string `json:"agent,omitempty"`
	Call   string `json:"call,omitempty"`
	Reason Stop   `json:"reason,omitempty"`
	Error  *Error `json:"error,omitempty"`
	Usage  *Usage `json:"usage,omitempty"`
	Steps  int    `json:"steps,omitempty"`
}

// Rewind undoes every message after the one it names.
type Rewind struct {
	To    int64  `json:"to"`              // seq of the newest message kept
	Index int64  `json:"index"`           // its index
	Cut   int64  `json:"cut,omitempty"`   // seq of the cut in force as of it
	By    string `json:"by,omitempty"`    //
	Undid int64  `json:"undid,omitempty"` // messages undone
}

// Reset empties the active range.
type Reset struct {
	By    string `json:"by,omitempty"`
	Undid int64  `json:"undid,omitempty"`
}

// Title names the thread anew.
type Title struct {
	Title string `json:"title"`
	By    string `json:"by,omitempty"`
}

// Erase says which entries' bodies were erased.
type Erase struct {
	Seqs []int64 `json:"seqs"`
	By   string  `json:"by,omitempty"`
}

// Say makes the entry of a message.
func Say(m Message) Entry {
	return Entry{Kind: MessageKind, Index: NoIndex, Message: &m}
}

// IsMessage says whether the entry is an active message's, or was until it was
// undone.
func (e *Entry) IsMessage() bool { return e.Kind == MessageKind && e.Index != NoIndex }

// Body is the record that Kind names, or nil where it was erased.
func (e *Entry) Body() any {
	if b := e.body(); b != nil && !b.empty() {
		return b.value()
	}
	return nil
}

// EncodeBody writes the body as the store keeps it. HTML characters stand for
// themselves.
func (e *Entry) EncodeBody() ([]byte, error) {
	body := e.Body()
	if body == nil {
		return nil, &Error{Code: Invalid, Op: "append", Message: fmt.Sprintf("the entry says it is a %q but has no such body", e.Kind)}
	}
	return Encode(body)
}

// DecodeBody reads what [Entry.EncodeBody] wrote; Kind must be set. No bytes
// are an erased body.
func (e *Entry) DecodeBody(data []byte) error {
	b := e.body()
	if b == nil {
		return &Error{Code: Storage, Op: "read", Message: fmt.Sprintf("entry %d is of the unknown kind %q", e.Seq, e.Kind), Hint: "a newer Skein may have written it"}
	}
	if len(data) == 0 {
		return nil
	}
	return b.decode(data)
}

// slot reaches one of the entry's body fields.
type slot interface {
	empty() bool
	value() any
	decode([]byte) error
}

type field[T any] struct{ p **T }

func (f field[T]) empty() bool { return *f.p == nil }
func (f field[T]) value() any  { return *f.p }
func (f field[T]) decode(data []byte) error {
	v := new(T)
	if err := json.Unmarshal(data, v); err != nil {
		return err
	}
	*f.p = v
	return nil
}

func (e *Entry) body() slot {
	switch e.Kind {
	case MessageKind:
		return field[Message]{&e.Message}
	case CutKind:
		return field[Cut]{&e.Cut}
	case QueuedKind:
		return field[Queued]{&e.Queued}
	case ApprovalKind:
		return field[Approval]{&e.Approval}
	case TurnKind:
		return field[Turn]{&e.Turn}
	case RewindKind:
		return field[Rewind]{&e.Rewind}
	case ResetKind:
		return field[Reset]{&e.Reset}
	case TitleKind:
		return field[Title]{&e.Title}
	case EraseKind:
		return field[Erase]{&e.Erase}
	}
	return nil
}

// entryJSON is an entry on the wire: {seq, id, kind, time, key?, prev?, index?,
// branch?, <kind>: body}.
type entryJSON struct {
	Seq      int64     `json:"seq"`
	ID       string    `json:"id"`
	Kind     Kind      `json:"kind"`
	Time     time.Time `json:"time"`
	Key      string    `json:"key,omitempty"`
	Prev     int64     `json:"prev,omitempty"`
	Index    *int64    `json:"index,omitempty"`
	Branch   int64     `json:"branch,omitempty"`
	Message  *Message  `json:"message,omitempty"`
	Cut      *Cut      `json:"cut,omitempty"`
	Queued   *Queued   `json:"queued,omitempty"`
	Approval *Approval `json:"approval,omitempty"`
	Turn     *Turn     `json:"turn,omitempty"`
	Rewind   *Rewind   `json:"rewind,omitempty"`
	Reset    *Reset    `json:"reset,omitempty"`
	Title    *Title    `json:"title,omitempty"`
	Erase    *Erase    `json:"erase,omitempty"`
}

// MarshalJSON writes the entry with its index only where it has one.
func (e Entry) MarshalJSON() ([]byte, error) {
	w := entryJSON{
		Seq: e.Seq, ID: e.ID, Kind: e.Kind, Time: e.Time, Key: e.Key, Prev: e.Prev, Branch: e.Branch,
		Message: e.Message, Cut: e.Cut, Queued: e.Queued, Approval: e.Approval, Turn: e.Turn,
		Rewind: e.Rewind, Reset: e.Reset, Title: e.Title, Erase: e.Erase,
	}
	if e.Index != NoIndex {
		w.Index = &e.Index
	}
	return Encode(w)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (e *Entry) UnmarshalJSON(data []byte) error {
	var w entryJSON
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*e = Entry{
		Seq: w.Seq, ID: w.ID, Kind: w.Kind, Time: w.Time, Key: w.Key, Prev: w.Prev, Index: NoIndex, Branch: w.Branch,
		Message: w.Message, Cut: w.Cut, Queued: w.Queued, Approval: w.Approval, Turn: w.Turn,
		Rewind: w.Rewind, Reset: w.Reset, Title: w.Title, Erase: w.Erase,
	}
	if w.Index != nil {
		e.Index = *w.Index
	}
	return nil
}

// Encode writes v as JSON in which <, > and & stand for themselves, without a
// newline at the end.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
