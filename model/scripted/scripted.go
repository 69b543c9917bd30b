// Package scripted is a model that answers from a script: the thread's k-th
// request, counted from the log, gets the k-th reply. A restart in the middle
// changes nothing, so whole conversations, tool calls included, can be played
// and tested without a network.
//
// A script has one reply a line. A line that starts with { is a [Reply] as
// JSON; any other line is the text of an answer; lines that are blank or start
// with # are skipped:
//
//	# the model looks a line up, then answers
//	{"calls": [{"name": "zoom", "input": {"id": 0, "n": 1}}]}
//	The venue is the old harbour hall.
//
// Requests beside the talk, such as those for summaries, have the number 0. They
// get the script's summary, which a line of its own sets, wherever it stands; the
// last one counts:
//
//	{"summary": "The venue was chosen."}
package scripted

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// Reply is one answer. Error, where set, comes instead of an answer, after Text
// was streamed. Delay is waited before anything is said.
type Reply struct {
	Text     string        `json:"text,omitempty"`
	Thinking string        `json:"thinking,omitempty"`
	Calls    []Call        `json:"calls,omitempty"`
	Stop     thread.Stop   `json:"stop,omitempty"` // toolCalls where there are calls, else end
	Error    *thread.Error `json:"error,omitempty"`
	Delay    Duration      `json:"delay,omitempty"`
	Usage    *thread.Usage `json:"usage,omitempty"`
}

// Call is a tool call of a reply. Without an ID it is named by its place:
// call-<request>-<n>.
type Call struct {
	ID    string          `json:"id,omitempty"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input,omitempty"`
}

// Duration is written as Go writes it: "250ms".
type Duration time.Duration

// MarshalText writes the duration.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads the duration.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = Duration(v)
	return err
}

// Model plays its replies. Summary is what it says where a request has no number;
// empty: such a request fails.
type Model struct {
	Replies []Reply
	Summary string
}

// scriptLine is a line of JSON: a reply, or the summary.
type scriptLine struct {
	Reply
	Summary *string `json:"summary"`
}

// reply gives the line's reply, where it is one.
func (l scriptLine) reply() (reply Reply, ok bool, err error) {
	switch {
	case l.Summary == nil:
		return l.Reply, true, nil
	case strings.TrimSpace(*l.Summary) == "":
		return Reply{}, false, errors.New("its summary is blank")
	case !reflect.ValueOf(l.Reply).IsZero():
		return Reply{}, false, errors.New("a summary stands on a line of its own")
	}
	return Reply{}, false, nil
}

// Open reads a script from a file.
func Open(path string) (*Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &thread.Error{Code: thread.Configuration, Op: "script", Message: "the script cannot be opened", Err: err}
	}
	defer f.Close()
	return Read(f)
}

// Read reads a script.
func Read(r io.Reader) (*Model, error) {
	m := &Model{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		switch {
		case len(line) == 0 || line[0] == '#':
			continue
		case line[0] != '{':
			m.Replies = append(m.Replies, Reply{Text: string(line)})
			continue
		}
		var l scriptLine
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		err := dec.Decode(&l)
		reply, ok, wrong := l.reply()
		switch err := cmp.Or(err, wrong); {
		case err != nil:
			return nil, &thread.Error{Code: thread.Configuration, Op: "script", Message: fmt.Sprintf("line %d of the script is no reply", n), Err: err}
		case ok:
			m.Replies = append(m.Replies, reply)
		default:
			m.Summary = *l.Summary
		}
	}
	if err := lines.Err(); err != nil {
		return nil, &thread.Error{Code: thread.Configuration, Op: "script", Message: "the script cannot be read", Err: err}
	}
	return m, nil
}

// Stream plays the reply that the request's number asks for.
func (m *Model) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		reply, err := m.reply(r.Number)
		if err != nil {
			yield(model.Event{}, err)
			return
		}
		if err := model.Wait(ctx, time.Duration(reply.Delay)); err != nil {
			yield(model.Event{}, err)
			return
		}
		if reply.Thinking != "" && !yield(model.Event{Type: model.ThinkingDelta, Text: reply.Thinking}, nil) {
			return
		}
		for _, word := range strings.SplitAfter(reply.Text, " ") {
			if word != "" && !yield(model.Event{Type: model.TextDelta, Text: word}, nil) {
				return
			}
		}
		if reply.Error != nil {
			failure := *reply.Error
			yield(model.Event{}, &failure)
			return
		}
		yield(reply.done(r), nil)
	}
}

// reply gives the reply to the request of a number.
func (m *Model) reply(number int64) (Reply, error) {
	switch {
	case number == 0 && m.Summary != "":
		return Reply{Text: m.Summary}, nil
	case number == 0:
		return Reply{}, &thread.Error{
			Code: thread.Response, Op: "model",
			Message: "the script has no summary",
			Hint:    `add a line {"summary": "text"}`,
		}
	case number < 0 || number > int64(len(m.Replies)):
		return Reply{}, &thread.Error{
			Code: thread.Response, Op: "model",
			Message: fmt.Sprintf("the script has no reply number %d", number),
			Hint:    fmt.Sprintf("it ends after %d; add a line", len(m.Replies)),
		}
	}
	return m.Replies[number-1], nil
}

// done is the event that ends the reply.
func (reply Reply) done(r *model.Request) model.Event {
	var parts []thread.Part
	if reply.Thinking != "" {
		parts = append(parts, thread.Part{Type: thread.ThinkingPart, Text: reply.Thinking, Signature: fmt.Sprintf("scripted-%d", r.Number), Provider: "scripted", Model: r.Model})
	}
	if reply.Text != "" {
		parts = append(parts, thread.Text(reply.Text))
	}
	for i, c := range reply.Calls {
		if c.ID == "" {
			c.ID = fmt.Sprintf("call-%d-%d", r.Number, i+1)
		}
		parts = append(parts, thread.Call(c.ID, c.Name, c.Input))
	}
	stop := reply.Stop
	switch {
	case stop != "":
	case len(reply.Calls) > 0:
		stop = thread.StopCalls
	default:
		stop = thread.StopEnd
	}
	usage := thread.Usage{Input: int64(r.Weigh()), Output: int64(thread.Weight(reply.Text) + thread.Weight(reply.Thinking))}
	if reply.Usage != nil {
		usage = *reply.Usage
	}
	return model.Event{Type: model.Done, Parts: parts, Stop: stop, Usage: usage}
}
