package transcript

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/skeinhq/skein/thread"
)

// pi is the session log of the coding agent pi: JSON lines, the first a header
// of type "session". Version 1 is a list; from version 2 on entries have an id
// and a parentId, and the conversation is the path to the last entry of the file.
var pi = format{name: piName, title: "pi sessions (JSONL)", detect: detectPi, read: readPi}

func detectPi(head []byte) bool {
	for line := range bytes.Lines(head) {
		o, err := parse(bytes.Trim(line, "\x00 \t\r\n"))
		if err == nil && o.text("type") == piHeader {
			return true
		}
	}
	return false
}

const (
	piName   = "pi"
	piHeader = "session"
)

// maxAside is how many bytes of records that are no messages the next message
// may carry.
const maxAside = 1 << 20

// piReader is one reading of a session.
type piReader struct {
	*Reader
	out     *pairer
	path    *piPath // nil: every line counts
	session string
	headed  bool

	aside      []json.RawMessage // records that are no messages, since the last message
	asideBytes int
}

// piRecord is one entry of the log.
type piRecord struct {
	fields object
	line   int64
	raw    []byte // good until the next line
	draft  draft
}

func readPi(ctx context.Context, r *Reader, p *pairer) error {
	if err := r.rewind(); err != nil {
		return err
	}
	path, err := findPiPath(ctx, r.src)
	if err != nil {
		return err
	}
	if err := r.rewind(); err != nil {
		return err
	}
	x := &piReader{Reader: r, out: p, path: path}
	if err := eachLine(ctx, r.src, x.line); err != nil {
		return err
	}
	r.report.leftAside(len(x.aside))
	return nil
}

// line reads one line.
func (x *piReader) line(number int64, line []byte, tooLong error) error {
	if tooLong != nil {
		x.report.skipped(number, tooLong.Error())
		return nil
	}
	if x.path != nil && x.path.isEntry(number) && !x.path.has(number) {
		x.report.skipped(number, "on a branch that was left")
		return nil
	}
	fields, err := parse(line)
	if err != nil {
		x.report.skipped(number, err.Error())
		return nil
	}
	kind := fields.text("type")
	if kind == piHeader && !x.headed {
		x.headed = true
		x.session = fields.text("id")
		return nil
	}
	if why := x.path.mended(number); why != "" {
		x.report.repaired(number, why)
	}
	make, ok := piRecords[kind]
	if !ok {
		if kind == "session_info" {
			take(fields, "name", &x.report.Title)
		}
		x.setAside(number, line, kind)
		return nil
	}
	return x.keep(piRecord{fields: fields, line: number, raw: line, draft: x.draft(fields, number, len(line))}, make)
}

// draft begins the message of an entry.
func (x *piReader) draft(fields object, number int64, size int) draft {
	id := fields.text("id")
	delete(fields, "parentId")
	place := id
	if id == "" || x.path.isTwin(number) {
		place += "@" + strconv.FormatInt(number, 10)
	}
	d := draft{
		origin: Origin{Format: piName, ID: id},
		key:    "import:" + piName + ":" + x.session + ":" + place,
		line:   number,
		size:   size,
	}
	if t, err := time.Parse(time.RFC3339, fields.text("timestamp")); err == nil {
		d.time = milliseconds(t)
	}
	return d
}

// keep makes the entry's message and hands it on, or sets the entry aside.
func (x *piReader) keep(rec piRecord, make piMaker) error {
	reason, err := make(x, &rec)
	if err != nil {
		return err
	}
	if reason != "" {
		x.setAside(rec.line, rec.raw, reason)
		return nil
	}
	rec.draft.origin.Before = x.aside
	x.aside, x.asideBytes = nil, 0
	return x.out.add(rec.draft)
}

// setAside keeps a record that is no message for the next message to carry.
func (x *piReader) setAside(number int64, line []byte, what string) {
	if what == "" {
		what = "entry without a type"
	}
	if x.asideBytes += len(line); x.asideBytes > maxAside {
		x.report.skipped(number, what+": no message; more of these than one message can carry, not kept")
		return
	}
	x.aside = append(x.aside, bytes.Clone(line))
	x.report.skipped(number, what+": no message; the next one carries it in its meta")
}

// piMaker makes the message of an entry; a reason says why there is none.
type piMaker func(x *piReader, rec *piRecord) (reason string, err error)

// piRecords are the types of entries that are messages.
var piRecords = map[string]piMaker{
	"message":        piMessage,
	"custom_message": func(x *piReader, rec *piRecord) (string, error) { return piCustom(x, rec, rec.fields) },
	"branch_summary": func(x *piReader, rec *piRecord) (string, error) { return piBranchSummary(x, rec, rec.fields) },
}

// piRoles are the roles of the messages in entries of type "message".
var piRoles = map[string]func(x *piReader, rec *piRecord, m object) (reason string, err error){
	"user":          piUser,
	"assistant":     piAssistant,
	"toolResult":    piToolResult,
	"bashExecution": piBash,
	"custom":        piCustom,
	"hookMessage":   piCustom, // its name in version 2
	"branchSummary": piBranchSummary,
}

func piMessage(x *piReader, rec *piRecord) (string, error) {
	m, err := parse(rec.fields["message"])
	if err != nil {
		return "message that is no object", nil
	}
	role := m.text("role")
	make, ok := piRoles[role]
	if !ok {
		return "message of the unknown role " + strconv.Quote(role), nil
	}
	delete(rec.fields, "message")
	return make(x, rec, m)
}

// finish sets what all messages have.
func (rec *piRecord) finish(m object, msg thread.Message) {
	var at int64
	if take(m, "timestamp", &at) && rec.draft.time.IsZero() && at > 0 {
		rec.draft.time = milliseconds(time.UnixMilli(at))
	}
	rec.draft.message = msg
	rec.draft.origin.Rest = m.rest()
}
