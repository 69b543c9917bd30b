package window

import (
	"cmp"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// What is kept of a running call: its input where that is short, and the tail of
// its output, which is cut to outputLow bytes where it is over outputHigh.
const (
	maxInput   = 4 << 10
	outputLow  = 4 << 10
	outputHigh = 8 << 10
)

// answer is an answer being made, as far as it has come. It is kept for every
// thread that has one, watched or not, so that who joins in the middle sees it
// from its beginning.
type answer struct {
	id, author     string
	turn           int64
	text, thinking flow
	tools          []running
	retries        int
	retry, compact string
	seen           audience
	foreign        bool // another process makes it: it was read from the store

	// version changes with everything but what is appended; tools with theirs, and
	// step then is what leads there from the version before, nil where only all of
	// them does.
	version     int64
	toolsAt     int64
	toolsStep   []byte
	outputGrown bool

	pieces [2]piece // of text and thinking: what was encoded last
	full   full
}

// full is the JSON of an answer as it was at some point.
type full struct {
	version, tools int64
	text, thinking int
	data           []byte
}

// flow is a text that comes in pieces, which may end within a rune.
type flow struct {
	whole []byte
	rest  []byte // the beginning of a rune
	got   int    // bytes, as they came
	shown int    // bytes of whole that watches may have
}

// running is a call that runs. shown is how much of its output watches have.
type running struct {
	view.Running
	shown int
}

// piece is the JSON of the operation that appends bytes from … to of a flow.
type piece struct {
	version  int64
	from, to int
	data     []byte
}

// audience is who may see something: nobody in it stands for everybody.
type audience struct {
	author string
	names  []string
}

func audienceOf(m *thread.Message) audience {
	if m == nil || len(m.Audience) == 0 {
		return audience{}
	}
	return audience{m.Author, m.Audience}
}

func (a audience) private() bool { return len(a.names) > 0 }

func (a audience) has(viewer string) bool {
	return viewer == "" || !a.private() || viewer == a.author || slices.Contains(a.names, viewer)
}

// begun says whether there is anything to show.
func (a *answer) begun() bool {
	return a.id != "" || len(a.tools) > 0 || a.retry != "" || a.compact != ""
}

// matters says whether there is something to remember while nobody views: what
// this process makes, and that only some may see what the turn's calls do.
func (a *answer) matters() bool { return a.begun() && !a.foreign || a.seen.private() }

// add appends a piece that stands at offset in the text as it came. A piece that
// is there already, or that does not follow, is passed over.
func (f *flow) add(offset int, s string) {
	if offset != f.got {
		return
	}
	f.got += len(s)
	data := slices.Concat(f.rest, []byte(s))
	end := len(data)
	for i := 1; i < utf8.UTFMax && i <= len(data); i++ {
		if c := data[len(data)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(data[len(data)-i:]) {
				end = len(data) - i
			}
			break
		}
	}
	f.rest = slices.Clone(data[end:])
	if !utf8.Valid(data[:end]) {
		data = []byte(string([]rune(string(data[:end])))) // what is no UTF-8 has no JSON
		end = len(data)
	}
	f.whole = append(f.whole, data[:end]...)
}

// hear takes a piece of an answer. It says whether more than texts have changed.
func (a *answer) hear(t *thread.Thread, l *thread.Live) (changed bool) {
	if l.ID == "" {
		return false
	}
	if l.ID != a.id {
		a.begin(l.ID, l.Author, t.Turn)
		a.seen = audience{l.Author, l.Audience}
		changed = true
	}
	switch l.Type {
	case "text":
		a.text.add(l.Offset, l.Text)
	case "thinking":
		a.thinking.add(l.Offset, l.Text)
	case "retry":
		a.text, a.thinking = flow{}, flow{}
		a.retries++
		a.retry = l.Text
		a.version++
		changed = true
	}
	return changed
}

// begin starts another answer.
func (a *answer) begin(id, author string, turn int64) {
	a.id, a.author, a.turn, a.foreign = id, author, turn, false
	a.text, a.thinking = flow{}, flow{}
	a.retries, a.retry = 0, ""
	a.version++
}

// happens takes what happens beside the text. It says whether anything but
// outputs has changed.
func (a *answer) happens(e *thread.Event) (changed bool) {
	switch e.Type {
	case thread.ToolEvent:
		r := view.Running{Call: e.CallID, Name: e.Name}
		if len(e.Input) <= maxInput {
			r.Input = e.Input
		}
		a.tools = append(a.tools, running{Running: r})
		a.author, a.turn = cmp.Or(a.author, e.Agent), e.Turn
	case thread.OutputEvent:
		i := slices.IndexFunc(a.tools, func(r running) bool { return r.Call == e.CallID })
		if i < 0 || e.Text == "" {
			return false
		}
		a.tools[i].put(e.Text)
		a.outputGrown = true
		return false
	case thread.CutEvent:
		if e.Reason == "" {
			return false
		}
		a.compact = e.Reason
		a.author, a.turn = cmp.Or(a.author, e.Agent), e.Turn
	default:
		return false
	}
	a.version++
	return true
}

func (r *running) put(text string) {
	r.Output += string([]rune(text)) // what is no UTF-8 has no JSON
	if len(r.Output) > outputHigh {
		cut := len(r.Output) - outputLow
		for !utf8.RuneStart(r.Output[cut]) {
			cut++
		}
		r.Output, r.shown = r.Output[cut:], -1
	}
}

// commit takes an entry of the log: an answer that is there is no longer being
// made, and a call that has its result no longer runs.
func (a *answer) commit(e *thread.Entry) {
	was := a.version
	switch {
	case e.Turn != nil && e.Turn.State != thread.TurnStarted:
		ended := e.Turn.Turn
		if e.Turn.State == thread.TurnBegun {
			ended = e.Seq - 1
		}
		if a.turn > ended {
			return // what there is, is of a later turn
		}
		if a.begun() || a.foreign {
			a.drop()
		}
		a.seen = audience{}
		return
	case e.Cut != nil && e.Cut.Agent != "":
		a.compact, a.author = e.Cut.Strategy, cmp.Or(a.author, e.Cut.Agent)
		a.version++
		return
	case e.Message == nil:
		return
	case e.ID == a.id:
		a.id, a.text, a.thinking, a.retries, a.retry, a.compact = "", flow{}, flow{}, 0, "", ""
		a.version++
	}
	if e.Message.Role == thread.Assistant {
		if now := audienceOf(e.Message); now.private() || a.seen.private() {
			a.seen = now
			a.version++
		}
	}
	for _, p := range e.Message.Parts {
		if p.Type == thread.ResultPart {
			before := len(a.tools)
			a.tools = slices.DeleteFunc(a.tools, func(r running) bool { return r.Call == p.Call })
			if len(a.tools) != before {
				a.version++
			}
		}
	}
	if was != a.version && !a.begun() {
		a.author, a.turn = "", 0
	}
}

// show lets watches have what has come.
func (a *answer) show() (grown bool) {
	for _, f := range []*flow{&a.text, &a.thinking} {
		grown = grown || f.shown < len(f.whole)
		f.shown = len(f.whole)
	}
	if !a.outputGrown {
		return grown
	}
	a.outputGrown = false
	a.toolsAt++
	a.toolsStep = []byte{}
	for i := range a.tools {
		r := &a.tools[i]
		switch {
		case r.shown < 0:
			a.toolsStep = nil
		case r.shown < len(r.Output) && a.toolsStep != nil:
			a.toolsStep = appendText(a.toolsStep, r.shown, r.Output[r.shown:], "tools", i)
		}
		r.shown = len(r.Output)
	}
	return true
}

// value is the answer as a view shows it.
func (a *answer) value() *view.Live {
	if !a.begun() {
		return nil
	}
	return &view.Live{
		ID: a.id, Author: a.author, Turn: a.turn,
		Text: string(a.text.whole), Thinking: string(a.thinking.whole), Tools: a.shownTools(),
		Retries: a.retries, Retry: a.retry, Compact: a.compact,
	}
}

func (a *answer) shownTools() []view.Running {
	out := make([]view.Running, len(a.tools))
	for i, r := range a.tools {
		out[i] = r.Running
		if r.shown >= 0 {
			out[i].Output = r.Output[:r.shown]
		}
	}
	return out
}

// savedAnswer is what a process saves, once a second, of an answer that it
// makes.
type savedAnswer struct {
	ID       string   `json:"id"`
	Agent    string   `json:"agent"`
	Turn     int64    `json:"turn"`
	Text     string   `json:"text"`
	Thinking string   `json:"thinking"`
	Audience []string `json:"audience"`
}

// read takes what another process saved of its answer; nothing where it has
// none. An answer that this process makes is known better.
func (a *answer) read(data json.RawMessage) error {
	if a.begun() && !a.foreign {
		return nil
	}
	var s savedAnswer
	if len(data) > 0 {
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
	}
	if s.ID != a.id {
		a.begin(s.ID, s.Agent, s.Turn)
		a.seen = audience{s.Agent, s.Audience}
	}
	a.foreign = s.ID != ""
	for f, text := range map[*flow]string{&a.text: s.Text, &a.thinking: s.Thinking} {
		if len(text) < f.got || text[:min(f.got, len(text))] != string(f.whole)+string(f.rest) {
			*f = flow{}
			a.version++
		}
		f.add(f.got, text[f.got:])
	}
	return nil
}

// drop forgets the answer, and lets it be seen that it has changed.
func (a *answer) drop() { *a = answer{version: a.version + 1, toolsAt: a.toolsAt + 1} }
