package thread

import (
	"encoding/json"
	"strings"
	"time"
)

// Role says on whose side a message was said.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Message is what somebody said.
type Message struct {
	Author   string   `json:"author"`
	To       []string `json:"to,omitempty"`
	Audience []string `json:"audience,omitempty"` // nil: everybody; else only these see it
	Role     Role     `json:"role"`
	Parts    []Part   `json:"parts"`

	Turn   int64           `json:"turn,omitempty"`   // seq of the turn entry it was made in
	Queued int64           `json:"queued,omitempty"` // seq of the queued entry it was taken from
	Meta   json.RawMessage `json:"meta,omitempty"`

	// Contexts are the turn contexts told together with this message's prompt;
	// from then on they are rendered before it.
	Contexts []Context `json:"contexts,omitempty"`

	// Weight is the estimate, in tokens, of the message as rendered, with its
	// contexts.
	Weight int `json:"weight,omitempty"`

	// An assistant message also says how it was made.
	Model   string   `json:"model,omitempty"`
	Stop    Stop     `json:"stop,omitempty"`
	Usage   *Usage   `json:"usage,omitempty"`
	Request *Request `json:"request,omitempty"`
}

// Context is a named block of the prompt that seldom changes. Same is what is
// compared to see whether it changed; empty means the text itself.
type Context struct {
	Name string `json:"name"`
	Text string `json:"text"`
	Same string `json:"same,omitempty"`
}

// Identity is what tells two versions of a context apart.
func (c Context) Identity() string {
	if c.Same != "" {
		return c.Same
	}
	return c.Text
}

// contextTag keeps a context's text from closing its block and opening another.
var contextTag = strings.NewReplacer("<context", "&lt;context", "</context", "&lt;/context")

// String is the context as the model reads it. Its text cannot close the block.
func (c Context) String() string {
	return `<context name="` + c.Name + "\">\n" + contextTag.Replace(c.Text) + "\n</context>"
}

// Stop is the reason why a model stopped.
type Stop string

// The reasons. Interrupted marks what was saved of an answer whose process
// died, Error what had come of one that failed; such an entry is never active.
const (
	StopEnd         Stop = "end"
	StopCalls       Stop = "toolCalls"
	StopLength      Stop = "length"
	StopRefusal     Stop = "refusal"
	StopError       Stop = "error"
	StopLimit       Stop = "limit" // of a turn: one of its limits was reached
	StopAborted     Stop = "aborted"
	StopInterrupted Stop = "interrupted"
)

// Usage counts tokens as billed. Input counts neither CacheRead nor CacheWrite;
// Reasoning is a part of Output. Cost is in US dollars.
type Usage struct {
	Input      int64   `json:"input"`
	CacheRead  int64   `json:"cacheRead"`
	CacheWrite int64   `json:"cacheWrite"`
	Output     int64   `json:"output"`
	Reasoning  int64   `json:"reasoning,omitempty"`
	Cost       float64 `json:"cost,omitempty"`
}

// Add adds o to u.
func (u *Usage) Add(o Usage) {
	u.Input += o.Input
	u.CacheRead += o.CacheRead
	u.CacheWrite += o.CacheWrite
	u.Output += o.Output
	u.Reasoning += o.Reasoning
	u.Cost += o.Cost
}

// Request says from which prompt an assistant message was made: with the log
// and the nodes it is enough to show that prompt again.
type Request struct {
	Number     int64     `json:"number"`               // 1 for the thread's first request, counting undone ones
	Cut        int64     `json:"cut,omitempty"`        // number of the cut in force, 0 before the first
	Length     int64     `json:"length"`               // active messages the prompt was made from
	Definition string    `json:"definition,omitempty"` // hash of the blob: instructions, tools, settings
	Time       time.Time `json:"time"`                 // the turn's time
	Blocks     string    `json:"blocks,omitempty"`     // hashes of the blocks before the first whole message, eight characters each
	Hash       string    `json:"hash"`                 // hash of the whole prompt, cache marks aside
	Tokens     int       `json:"tokens"`               // estimate of the whole prompt
	Same       int       `json:"same"`                 // of those, the same prefix as the request before
	Cause      string    `json:"cause,omitempty"`      // why Same ends before the earlier prompt did
	Block      string    `json:"block,omitempty"`      // the first block that differs
}

// PlainText joins the message's text parts by newlines.
func (m *Message) PlainText() string {
	var texts []string
	for _, p := range m.Parts {
		if p.Type == TextPart {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// Calls gives the message's tool calls in order.
func (m *Message) Calls() []Part { return m.partsOf(CallPart) }

// Results gives the message's tool results in order.
func (m *Message) Results() []Part { return m.partsOf(ResultPart) }

func (m *Message) partsOf(t PartType) []Part {
	var out []Part
	for _, p := range m.Parts {
		if p.Type == t {
			out = append(out, p)
		}
	}
	return out
}

// VisibleTo says whether somebody of that name may read the message: its
// author, whoever is in its audience, and everybody where there is none.
func (m *Message) VisibleTo(name string) bool {
	if len(m.Audience) == 0 || name == m.Author {
		return true
	}
	for _, a := range m.Audience {
		if a == name {
			return true
		}
	}
	return false
}
