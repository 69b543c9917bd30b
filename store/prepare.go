package store

import (
	"crypto/sha256"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/skeinhq/skein/thread"
)

// Prepared is a draft that was checked and encoded, so that a transaction has
// only to give its entries their places. It is used for one write, which may be
// tried again.
type Prepared struct {
	op      string
	entries []prepared
	docs    []thread.Doc
	keyed   int // entries with a client key

	decoded []thread.Entry // see Decode; the transaction never looks at it
}

type prepared struct {
	New
	body []byte
	sum  []byte
}

// The kinds that each way of writing accepts.
var (
	appended  = kinds(thread.MessageKind, thread.QueuedKind, thread.ApprovalKind, thread.TitleKind)
	committed = kinds(thread.MessageKind, thread.QueuedKind, thread.ApprovalKind, thread.TitleKind,
		thread.CutKind, thread.TurnKind, thread.RewindKind, thread.ResetKind)
)

func kinds(all ...thread.Kind) map[thread.Kind]bool {
	m := map[thread.Kind]bool{}
	for _, k := range all {
		m[k] = true
	}
	return m
}

// PrepareAppend makes a draft ready for Store.Append, PrepareCommit for
// Store.Commit. newID gives ids to the entries that have none.
func PrepareAppend(key thread.Key, d Draft, newID func() string) (*Prepared, error) {
	return prepare("append", appended, key, d, newID)
}

// PrepareCommit makes a draft ready for Store.Commit.
func PrepareCommit(key thread.Key, d Draft, newID func() string) (*Prepared, error) {
	return prepare("commit", committed, key, d, newID)
}

func prepare(op string, allowed map[thread.Kind]bool, key thread.Key, d Draft, newID func() string) (*Prepared, error) {
	p := &Prepared{op: op, entries: make([]prepared, len(d.Entries)), docs: d.Docs}
	for i, n := range d.Entries {
		if !allowed[n.Kind] {
			return nil, fail(thread.Invalid, op, key.ID, "", "%s does not write entries of the kind %q", op, n.Kind)
		}
		e, err := encode(op, key, n)
		if err != nil {
			return nil, err
		}
		if e.ID == "" {
			e.ID = newID()
		}
		if e.Key != "" {
			p.keyed++
		}
		p.entries[i] = e
	}
	return p, CheckDocs(op, key, d.Docs)
}

func encode(op string, key thread.Key, n New) (prepared, error) {
	e := prepared{New: n}
	if len(n.Line) > thread.LineBytes || !utf8.ValidString(n.Line) || n.Line != "" && strings.TrimSpace(n.Line) == "" {
		return e, fail(thread.Invalid, op, key.ID, "", "a line must be valid UTF-8 of at most %d bytes", thread.LineBytes)
	}
	if n.Kind == thread.QueuedKind && (n.Queued == nil || n.Queued.Message == nil) {
		return e, fail(thread.Invalid, op, key.ID, "", "a queued entry must hold a message")
	}
	body, err := n.EncodeBody()
	if err != nil {
		return e, wrapInvalid(op, key, err)
	}
	if len(body) > mostBytes {
		return e, tooLarge(op, key, "an entry", len(body))
	}
	e.body = body
	if n.Key != "" {
		if e.sum, err = content(&n.Entry); err != nil {
			return e, wrapInvalid(op, key, err)
		}
	}
	return e, nil
}

// mostBytes is the most that one entry or document may hold. What is larger
// belongs into a blob.
const mostBytes = 32 << 20

func tooLarge(op string, key thread.Key, what string, size int) error {
	return fail(thread.Limit, op, key.ID, "put large content into blobs", "%s of %d MB is too large; the most is %d MB", what, size>>20, mostBytes>>20)
}

func wrapInvalid(op string, key thread.Key, err error) error {
	if thread.CodeOf(err) != "" {
		return err
	}
	return &thread.Error{Code: thread.Invalid, Op: op, Thread: key.ID, Message: "the entry cannot be written as JSON", Err: err}
}

// CheckDocs refuses documents without a name or that are not JSON.
func CheckDocs(op string, key thread.Key, docs []thread.Doc) error {
	for _, d := range docs {
		if d.Name == "" {
			return fail(thread.Invalid, op, key.ID, "", "a document must have a name")
		}
		if len(d.Data) > mostBytes {
			return tooLarge(op, key, "a document", len(d.Data))
		}
		if len(d.Data) > 0 && !json.Valid(d.Data) {
			return fail(thread.Invalid, op, key.ID, "", "the document %q is not JSON", d.Name)
		}
	}
	return nil
}

// said is what makes two tries of saying something the same: neither whether it
// was queued, nor what the engine adds to it.
type said struct {
	Author   string          `json:"author"`
	To       []string        `json:"to,omitempty"`
	Audience []string        `json:"audience,omitempty"`
	Role     thread.Role     `json:"role"`
	Parts    []thread.Part   `json:"parts"`
	Meta     json.RawMessage `json:"meta,omitempty"`
}

// content sums what an entry's client key stands for.
func content(e *thread.Entry) ([]byte, error) {
	m := e.Message
	if e.Kind == thread.QueuedKind {
		m = e.Queued.Message
	}
	body := e.Body()
	if m != nil {
		body = said{m.Author, m.To, m.Audience, m.Role, m.Parts, m.Meta}
	}
	data, err := thread.Encode(body)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(data)
	return sum[:], nil
}

// Decode reads the bodies back as a reader of the log will see them. It may run
// while another goroutine writes the draft: the time of waiting is put to use.
func (p *Prepared) Decode() error {
	p.decoded = make([]thread.Entry, len(p.entries))
	for i := range p.entries {
		e := Bare(p.entries[i].Entry)
		if err := e.DecodeBody(p.entries[i].body); err != nil {
			return unreadable(err)
		}
		p.decoded[i] = e
	}
	return nil
}

func unreadable(err error) error {
	return &thread.Error{Code: thread.Storage, Op: "write", Message: "an entry cannot be read as it is written", Err: err}
}

// Result is what a write made, still encoded.
type Result struct {
	Thread thread.Thread
	Nodes  []thread.Node
	Fresh  bool

	draft  *Prepared
	placed []Placed
}

// Written gives the entries as a reader of the log would see them. It is called
// outside the transaction, after the draft's Decode.
func (r *Result) Written() (Written, error) {
	w := Written{Thread: r.Thread, Nodes: r.Nodes, Fresh: r.Fresh, Entries: make([]thread.Entry, len(r.placed))}
	for i := range r.placed {
		p := &r.placed[i]
		if p.old {
			w.Entries[i] = p.Entry
			continue
		}
		e, err := r.decoded(p)
		if err != nil {
			return w, err
		}
		w.Entries[i] = e
	}
	return w, nil
}

func (r *Result) decoded(p *Placed) (thread.Entry, error) {
	e := r.draft.decoded[p.draft]
	if p.recoded {
		e = Bare(p.Entry)
		if err := e.DecodeBody(p.Body); err != nil {
			return e, unreadable(err)
		}
	}
	at := &p.Entry
	e.Seq, e.Time, e.Prev, e.Index, e.Branch = at.Seq, at.Time, at.Prev, at.Index, at.Branch
	return e, nil
}

// Bare is the entry without its body.
func Bare(e thread.Entry) thread.Entry {
	return thread.Entry{Seq: e.Seq, ID: e.ID, Kind: e.Kind, Time: e.Time, Key: e.Key, Prev: e.Prev, Index: e.Index, Branch: e.Branch}
}

// Stamp is how the store keeps a time: UTC, in whole milliseconds.
func Stamp(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Millisecond)
}
