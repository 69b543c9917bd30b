package strategy

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// Summarizer asks a model for summaries. Its Summarize is an Input's.
type Summarizer struct {
	Models   func(name string) (model.Model, model.Rules, error)
	Model    string       // the name of the one that is asked where the ask names none
	CacheKey string       // the same for all of a thread's summaries
	Number   func() int64 // of the next request, for models that answer by number; nil: 0
}

// Tries is how often a model is asked for one answer.
const tries = 2

// Summarize asks once, or once for each chunk where what is to be summarized goes
// over the model's window: each chunk folds the summary so far in. An answer that
// did not end by itself or is blank is asked for once more.
//
// Errors: response (no usable answer, or one that is no smaller than what it
// replaces), configuration (no such model, or one with too small a window), and
// those of the model. Usage is given with an error too.
func (s Summarizer) Summarize(ctx context.Context, a Ask) (Summary, error) {
	name := cmp.Or(a.Model, s.Model)
	m, rules, err := s.Models(name)
	if err != nil {
		return Summary{}, err
	}
	c := call{model: m, rules: rules, name: name, asker: s, guide: cmp.Or(strings.TrimSpace(a.Prompt), Guide), most: cmp.Or(a.MaxTokens, DefaultSummaryTokens)}
	if rules.MaxOutput > 0 {
		c.most = min(c.most, rules.MaxOutput)
	}
	room, err := c.room()
	if err != nil {
		return Summary{}, err
	}
	out := Summary{Text: a.Earlier}
	left := shown(a.Messages)
	for left != "" {
		chunk := left
		if room > 0 {
			chunk = head(left, room-thread.Weight(escaped(out.Text)))
		}
		if chunk == "" {
			return out, c.tooNarrow()
		}
		left = left[len(chunk):]
		text, err := c.ask(ctx, out.Text, chunk, &out.Usage)
		if err != nil {
			return Summary{Usage: out.Usage}, err
		}
		out.Text = text
	}
	if w := thread.Weight(out.Text); a.Most > 0 && w >= a.Most {
		return Summary{Usage: out.Usage}, &thread.Error{Code: thread.Response, Op: "summary", Message: fmt.Sprintf("the summary is no smaller than what it replaces: %d tokens for %d", w, a.Most)}
	}
	return out, nil
}

// call is how one model is asked.
type call struct {
	model model.Model
	rules model.Rules
	name  string
	asker Summarizer
	guide string
	most  int // tokens of an answer
}

// room is what the model's window leaves for the conversation and the summary so
// far, in thread.Weight's unit; 0: there is no limit.
func (c *call) room() (int, error) {
	rules := c.rules
	rules.MaxOutput = c.most
	room := rules.Room()
	if room == 0 {
		return 0, nil
	}
	if room -= thread.Weight(instructions(c.guide)) + thread.Weight(request("x", "")); room <= 0 {
		return 0, c.tooNarrow()
	}
	return room, nil
}

func (c *call) tooNarrow() error {
	return &thread.Error{Code: thread.Configuration, Op: "summary", Message: fmt.Sprintf("the window of %s is too small to summarize with", c.name), Hint: "choose another model for summaries, or lower MaxSummaryTokens"}
}

// ask gets one summary, asking again where the answer cannot be used.
func (c *call) ask(ctx context.Context, earlier, chunk string, usage *thread.Usage) (string, error) {
	var why string
	for range tries {
		text, stop, err := c.once(ctx, earlier, chunk, usage)
		switch {
		case err != nil:
			return "", err
		case stop == thread.StopEnd && text != "":
			return text, nil
		case stop != thread.StopEnd:
			why = fmt.Sprintf("the answer stopped with %q", stop)
		default:
			why = "the answer is blank"
		}
	}
	return "", &thread.Error{Code: thread.Response, Op: "summary", Message: fmt.Sprintf("%s gave no summary: %s", c.name, why)}
}

func (c *call) once(ctx context.Context, earlier, chunk string, usage *thread.Usage) (text string, stop thread.Stop, err error) {
	r := &model.Request{
		Model:     c.name,
		System:    []string{instructions(c.guide)},
		Messages:  []model.Message{{Role: thread.User, Parts: []thread.Part{thread.Text(request(earlier, chunk))}}},
		MaxOutput: c.most,
		CacheKey:  c.asker.CacheKey,
	}
	if c.asker.Number != nil {
		r.Number = c.asker.Number()
	}
	for e, err := range c.model.Stream(ctx, r) {
		if err != nil {
			return "", "", err
		}
		if e.Type != model.Done {
			continue
		}
		spent := e.Usage
		if spent.Cost == 0 {
			spent.Cost = c.rules.Cost(spent)
		}
		usage.Add(spent)
		m := thread.Message{Parts: e.Parts}
		return strings.TrimSpace(m.PlainText()), e.Stop, nil
	}
	return "", "", &thread.Error{Code: thread.Response, Op: "summary", Message: "the model ended without an answer"}
}

// head gives the start of a text that weighs at most so much, whole lines where
// it can; of a text that goes on, less than that never.
func head(text string, weight int) string {
	if thread.Weight(text) <= weight {
		return text
	}
	low, high := 0, len(text) // text[:low] fits
	for low+1 < high {
		if mid := (low + high) / 2; thread.Weight(text[:mid]) <= weight {
			low = mid
		} else {
			high = mid
		}
	}
	for low > 0 && low < len(text) && !startsRune(text[low]) {
		low--
	}
	if at := strings.LastIndexByte(text[:low], '\n') + 1; at > low/2 {
		return text[:at]
	}
	return text[:low]
}

func startsRune(b byte) bool { return b&0xC0 != 0x80 }
