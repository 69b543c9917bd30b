package line

import (
	"context"
	"strings"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// ModelVersion is the version of what models are told about lines.
const ModelVersion = 1

// tries is how often a model is asked for one line.
const tries = 3

// outputTokens is how many tokens an answer may take for each line.
const outputTokens = 320

// modelWriter writes lines with a model.
type modelWriter struct {
	model model.Model
	name  string   // of the provider's model; the lines are by it
	guide string   // what it is told to keep
	own   []string // the sentences it is told
	price func(thread.Usage) float64
}

// draft is a line on its way.
type draft struct {
	item     *item
	sources  []string
	shortest string // of the lines that were too long
	tried    int
	lied     bool // it has been asked again for what it made up
	usage    thread.Usage
	done     bool
	node     thread.Node
}

// write asks for the lines of the items, again for those that cannot be used,
// and takes the extractive writer's where the model cannot do it. It gives the
// drafts with what was spent on each. Where a call fails the error comes with
// them; what is done then is done for good.
func (w modelWriter) write(ctx context.Context, cacheKey string, before []thread.Node, items []item) ([]*draft, error) {
	drafts := make([]*draft, len(items))
	for i := range items {
		drafts[i] = &draft{item: &items[i], sources: items[i].sources()}
	}
	messages := []model.Message{spoken(thread.User, ask(before, items))}
	pending := drafts
	for len(pending) > 0 {
		text, usage, err := w.call(ctx, cacheKey, messages, len(pending))
		share(usage, pending)
		if err != nil {
			return drafts, err
		}
		var complaints []complaint
		pending, complaints = w.judge(text, pending)
		if text == "" {
			text = noText // a request holds no empty message
		}
		messages = append(messages, spoken(thread.Assistant, text), spoken(thread.User, askAgain(complaints)))
	}
	return drafts, nil
}

// judge takes the lines that can be used and says what is wrong with the others.
func (w modelWriter) judge(answer string, pending []*draft) ([]*draft, []complaint) {
	asked := map[thread.Span]bool{}
	for _, d := range pending {
		asked[d.item.span] = true
	}
	lines := readAnswer(answer, asked)
	var again []*draft
	var complaints []complaint
	for _, d := range pending {
		c := complaint{span: d.item.span, text: d.item.cleaned(lines[d.item.span])}
		if echoes(c.text, w.own, d.sources) {
			c.text = ""
		}
		if w.accept(d, &c) {
			continue
		}
		again = append(again, d)
		complaints = append(complaints, c)
	}
	return again, complaints
}

// accept settles a draft with the line it got, or completes the complaint.
func (w modelWriter) accept(d *draft, c *complaint) bool {
	d.tried++
	c.bad = Unsupported(c.text, d.sources...)
	switch {
	case c.text == "":
	case len(c.bad) > 0 && d.lied:
		d.finish(d.item.byRule())
		return true
	case len(c.bad) > 0:
		d.lied = true
	case len(c.text) <= thread.LineBytes:
		d.finish(d.item.node(c.text, w.name, ModelVersion))
		return true
	case d.shortest == "" || len(c.text) < len(d.shortest):
		d.shortest = c.text
	}
	if d.tried < tries {
		return false
	}
	if d.shortest == "" {
		d.finish(d.item.byRule())
		return true
	}
	line := Clip(d.shortest, thread.LineBytes)
	if len(Unsupported(line, d.sources...)) > 0 {
		d.finish(d.item.byRule())
		return true
	}
	d.finish(d.item.node(line, w.name, ModelVersion))
	return true
}

func (d *draft) finish(n thread.Node) {
	if d.usage != (thread.Usage{}) {
		usage := d.usage
		n.Usage = &usage
	}
	d.node, d.done = n, true
}

// call sends one request and gives the text of the answer. An answer cut off by
// its length loses its last line, which is not whole.
func (w modelWriter) call(ctx context.Context, cacheKey string, messages []model.Message, lines int) (string, thread.Usage, error) {
	r := &model.Request{
		Model:     w.name,
		System:    []string{instructions(w.guide)},
		Messages:  messages,
		MaxOutput: outputTokens * (lines + 1),
		CacheKey:  cacheKey,
	}
	for e, err := range w.model.Stream(ctx, r) {
		if err != nil {
			return "", thread.Usage{}, err
		}
		if e.Type != model.Done {
			continue
		}
		m := thread.Message{Parts: e.Parts}
		text := m.PlainText()
		if e.Stop == thread.StopLength {
			text = text[:strings.LastIndexByte(text, '\n')+1]
		}
		usage := e.Usage
		if usage.Cost == 0 && w.price != nil {
			usage.Cost = w.price(usage)
		}
		return text, usage, nil
	}
	return "", thread.Usage{}, &thread.Error{Code: thread.Response, Op: "line", Message: "the model ended without an answer"}
}

// share divides what a call took among the lines that it was for. Their sum is
// what it took.
func share(total thread.Usage, drafts []*draft) {
	left := total
	for i, d := range drafts {
		n := int64(len(drafts) - i)
		part := thread.Usage{
			Input:      left.Input / n,
			CacheRead:  left.CacheRead / n,
			CacheWrite: left.CacheWrite / n,
			Output:     left.Output / n,
			Reasoning:  left.Reasoning / n,
			Cost:       left.Cost / float64(n),
		}
		d.usage.Add(part)
		left.Add(thread.Usage{Input: -part.Input, CacheRead: -part.CacheRead, CacheWrite: -part.CacheWrite,
			Output: -part.Output, Reasoning: -part.Reasoning, Cost: -part.Cost})
	}
}

// spoken is a text as a message of a request.
func spoken(role thread.Role, text string) model.Message {
	return model.Message{Role: role, Parts: []thread.Part{thread.Text(text)}}
}
