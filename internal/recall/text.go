package recall

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skeinhq/skein/internal/line"
	"github.com/skeinhq/skein/thread"
)

// What stands for a message that cannot be shown.
const (
	private = "(private)"
	erased  = "(erased)"
)

// Text is the whole message as the viewer may read it: who speaks to whom on the
// first line, then its parts in order, newlines kept. Thinking is not shown.
func Text(e *thread.Entry, viewer string) string {
	m := e.Message
	switch {
	case m == nil:
		return erased
	case !m.VisibleTo(viewer):
		return private
	}
	blocks := []string{head(m)}
	for _, p := range m.Parts {
		if show, ok := shown[p.Type]; ok {
			blocks = append(blocks, show(p))
		}
	}
	return strings.ToValidUTF8(strings.Join(blocks, "\n"), "\uFFFD")
}

// head says who speaks to whom.
func head(m *thread.Message) string {
	if len(m.To) == 0 {
		return m.Author
	}
	return m.Author + " → " + strings.Join(m.To, ", ")
}

// shown is how each type of part reads; what is not in it is not shown.
var shown map[thread.PartType]func(thread.Part) string

func init() { // a result shows parts, so the table refers to itself
	shown = map[thread.PartType]func(thread.Part) string{
		thread.TextPart:   func(p thread.Part) string { return p.Text },
		thread.CallPart:   func(p thread.Part) string { return fmt.Sprintf("call %s (%s): %s", p.Name, p.ID, pretty(p.Input)) },
		thread.ResultPart: resultText,
		thread.BlobPart:   line.Attachment,
		thread.RawPart:    func(p thread.Part) string { return "part of another program: " + pretty(p.Raw) },
	}
}

func resultText(p thread.Part) string {
	what := "result"
	if p.IsError {
		what = "error"
	}
	blocks := []string{fmt.Sprintf("%s of %s (%s):", what, p.Name, p.Call)}
	for _, q := range p.Parts {
		if show, ok := shown[q.Type]; ok {
			blocks = append(blocks, show(q))
		}
	}
	return strings.Join(blocks, "\n")
}

// pretty sets JSON out over lines; numbers and strings stay as they are written.
// What is no JSON is left alone.
func pretty(data json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, data, "", "  ") != nil {
		return string(data)
	}
	return b.String()
}
