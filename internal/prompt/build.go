package prompt

import (
	"time"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// The names of the sections, in order.
const (
	ToolsSection        = "tools"
	InstructionsSection = "instructions"
	ContextsSection     = "contexts"
	HistorySection      = "history"
	TurnSection         = "turn"
)

// system is the role that tools and instructions are shown with; no stored
// message has it.
const system thread.Role = "system"

// Section is one piece of the prompt.
type Section struct {
	Name     string          `json:"name"`
	Tokens   int             `json:"tokens"`
	Messages []model.Message `json:"messages"`
}

// Prompt is what a model is sent, and what is to be remembered of it.
type Prompt struct {
	Sections []Section
	Request  model.Request
	Tokens   int // estimate of the whole, by thread.Weight
	Ledger   Ledger

	// Told and Stamp are stored with the reply that is made from the prompt: its
	// Contexts and its Request.
	Told  []thread.Context
	Stamp thread.Request

	chat *model.Message // of the history section: the one that holds the lines, nil without
}

// Build makes the prompt of the definition's agent from a thread's past. It is
// a pure function. It fails with configuration where the definition is wrong,
// with storage where the past is not whole, and with limit where the prompt goes
// over the model's window or the request's size; Details is then an [Overflow].
func Build(def Definition, past Past, turn Turn, rules model.Rules, plugins ...Plugin) (*Prompt, error) {
	p := Merge(plugins...)
	return p.Prompt(Input{def, past, turn, rules}, p)
}

// compose makes the prompt: sections in order, what changes least first.
func compose(in Input, plugin Plugin) (*Prompt, error) {
	if err := in.Past.check(); err != nil {
		return nil, err
	}
	encoded, err := in.Definition.Encode()
	if err != nil {
		return nil, err
	}
	f := fixedPart(in.Definition)
	l := newLayout(in, plugin)
	l.within(in.Definition.MaxAge)
	l.sharp = l.sharpFrom(l.Messages, f.bytes()+lineBytes(l.Lines))
	plugin.History(l)
	l.pair()
	told, err := l.toTell()
	if err != nil {
		return nil, err
	}

	c := newChain()
	c.tools(f.tools)
	c.system(f.system)
	l.frame(f.contexts, told)
	l.seal(c)

	p := &Prompt{Told: told}
	p.Request = model.Request{
		Model: in.Definition.Model, Tools: f.tools, System: f.system, Messages: l.messages(),
		MaxOutput: l.maxOutput(), Thinking: l.effort(),
		Number: in.Past.Requests + 1,
	}
	if at := l.chatAt(); at >= 0 {
		p.chat = &p.Request.Messages[at]
	}
	p.Sections = l.sections(f, p.Request.Messages)
	for _, s := range p.Sections {
		p.Tokens += s.Tokens
	}
	if err := l.fits(p); err != nil {
		return nil, err
	}
	b := l.blocks(f, p.Request.Thinking)
	p.Ledger = l.ledger(b, p.Tokens)
	p.Request.Marks = l.marks(f)
	if l.Rules.CacheKey {
		p.Request.CacheKey = cacheKey(in.Past.Thread, in.Definition.Agent)
	}
	p.Stamp = thread.Request{
		Number: p.Request.Number, Cut: in.Past.cut(), Length: in.Past.Length, Definition: blobHash(encoded), Time: in.Turn.Time.UTC().Round(time.Millisecond),
		Blocks: hashes(b), Hash: c.sum().String(), Tokens: p.Tokens, Same: p.Ledger.Same, Cause: p.Ledger.Cause, Block: p.Ledger.Block,
	}
	return p, nil
}

// fixed is what of a prompt does not come from the log.
type fixed struct {
	tools    []model.Tool
	system   []string
	contexts []thread.Context
}

func fixedPart(d Definition) fixed {
	f := fixed{contexts: d.Contexts}
	if len(d.Tools) > 0 {
		f.tools = make([]model.Tool, len(d.Tools))
		for i, t := range d.Tools {
			f.tools[i] = model.Tool{Name: t.Name, Description: valid(t.Description), Schema: compact(t.Schema)}
		}
	}
	if !blank(d.Instructions) {
		f.system = []string{valid(d.Instructions)}
	}
	return f
}

func (f fixed) bytes() int64 {
	n := 0
	for _, t := range f.tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for _, s := range f.system {
		n += len(s)
	}
	for _, c := range f.contexts {
		n += len(c.Text)
	}
	return int64(n)
}

func lineBytes(lines []thread.Node) int64 {
	n := 0
	for i := range lines {
		n += len(lines[i].Text)
	}
	return int64(n)
}

// toolWeight is the weight of a tool as a provider is told of it.
func toolWeight(t model.Tool) int {
	return thread.Weight(t.Name) + thread.Weight(t.Description) + thread.Weight(string(t.Schema))
}

// frame puts the contexts before the history and the turn's contexts after it.
func (l *Layout) frame(always, told []thread.Context) {
	laid := l.out
	l.out = make([]placed, 0, len(laid)+3)
	switch {
	case len(always) > 0:
		l.place(contextMessage(always), placed{kind: contexts, index: thread.NoIndex})
	case len(laid) > 0 && isAssistant(laid[0]):
		l.Say(model.Message{Role: thread.User, Parts: []thread.Part{thread.Text(opener)}})
	}
	l.out = append(l.out, laid...)
	if len(told) > 0 {
		l.place(contextMessage(told), placed{kind: turn, index: thread.NoIndex})
	}
}

func (l *Layout) messages() []model.Message {
	out := make([]model.Message, len(l.out))
	for i := range l.out {
		out[i] = l.out[i].Message
	}
	return out
}

// maxOutput is the most that the model may answer.
func (l *Layout) maxOutput() int {
	largest := l.Rules.MaxOutput
	if n := l.Definition.MaxOutput; n > 0 && (largest == 0 || n < largest) {
		return n
	}
	return largest
}
