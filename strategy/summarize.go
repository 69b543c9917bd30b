package strategy

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/skeinhq/skein/thread"
)

// The defaults of [Summarize].
const (
	DefaultTriggerCharacters  = 400_000
	DefaultKeepRecentMessages = 6
	DefaultSummaryTokens      = 4_000
)

// Summarize are the options of [SummarizeHistory]. A zero field stands for its
// default.
type Summarize struct {
	TriggerCharacters  int    // runes of the JSON of messages, system text and tools; default 400,000
	TriggerTokens      int    // of the same, instead of characters
	KeepRecentMessages int    // at least so many newest messages stay whole; default 6
	Prompt             string // what a summary keeps; default [Guide]
	Model              string // that writes it; default: the agent's
	MaxSummaryTokens   int    // of a summary; default 4,000
}

func (o Summarize) filled() Summarize {
	o.TriggerCharacters = cmp.Or(o.TriggerCharacters, DefaultTriggerCharacters)
	o.KeepRecentMessages = max(1, cmp.Or(o.KeepRecentMessages, DefaultKeepRecentMessages))
	o.MaxSummaryTokens = cmp.Or(o.MaxSummaryTokens, DefaultSummaryTokens)
	return o
}

// SummaryHead stands before the text of a summary.
const SummaryHead = "Summary of the earlier conversation:\n"

// SummarizeHistory has a model summarize what is older than the newest messages,
// where the prompt is above the trigger. Sent are then the thread's first prompt,
// the summary, calls that wait for their results, what no model has been sent yet,
// and the newest messages. A later
// summary folds the earlier one in.
func SummarizeHistory(o Summarize) Strategy {
	return Strategy{Name: SummarizeName, Model: o.Model, Compact: o.filled().compact}
}

func (o Summarize) compact(ctx context.Context, in Input) (Result, error) {
	over := in.over()
	if !over && !o.fires(&in) {
		return Result{}, nil
	}
	p := o.plan(in.Messages)
	stay := tokens(p.stay)
	if len(p.leave) == 0 {
		stay += tokens(p.earlier)
	}
	if in.stuck(stay + 1) { // a summary has at least one token
		return Result{}, in.irreducible(stay)
	}
	if len(p.leave) == 0 || !over && !o.worth(p.leave) {
		return Result{}, nil
	}
	ask := Ask{
		Model: cmp.Or(o.Model, in.Model), Messages: p.leave, Prompt: o.Prompt,
		MaxTokens: o.MaxSummaryTokens, Most: tokens(p.leave) + tokens(p.earlier),
	}
	for i := range p.earlier {
		text, _ := summaryOf(&p.earlier[i])
		ask.Earlier = strings.TrimSpace(ask.Earlier + "\n\n" + text)
	}
	if room := in.Limit - in.Fixed.Tokens - stay; in.Limit > 0 {
		ask.MaxTokens = max(1, min(ask.MaxTokens, room))
	}
	if in.Summarize == nil {
		return Result{}, &thread.Error{Code: thread.Configuration, Op: "compact", Message: "there is no model to summarize with", Hint: "set Input.Summarize"}
	}
	s, err := in.Summarize(ctx, ask)
	if err != nil {
		return Result{Usage: s.Usage}, err
	}
	text := strings.TrimSpace(strings.ToValidUTF8(s.Text, "\uFFFD"))
	if text == "" {
		return Result{Usage: s.Usage}, &thread.Error{Code: thread.Response, Op: "compact", Message: "the summary is blank"}
	}
	return Result{Messages: p.with(text), Reason: in.reason("trigger"), Usage: s.Usage}, nil
}

// fires says whether the prompt is above the trigger.
func (o Summarize) fires(in *Input) bool {
	if o.TriggerTokens > 0 {
		return in.total() > o.TriggerTokens
	}
	return in.Fixed.Characters+characters(in.Messages) > o.TriggerCharacters
}

// worth says whether it is worth a summary that these messages leave: they are a
// tenth of the trigger. After a summary only what was said since can leave, so
// where what must stay is itself above the trigger, the next summary comes when
// another tenth has gathered, and not at each step. The earlier summary does not
// count: it comes back as part of the new one.
func (o Summarize) worth(leave []Message) bool {
	if o.TriggerTokens > 0 {
		return tokens(leave) >= o.TriggerTokens/10
	}
	return characters(leave) >= o.TriggerCharacters/10
}

// plan is what a summary does with each message.
type plan struct {
	earlier []Message // summaries, to be folded in
	leave   []Message // to be summarized
	stay    []Message // the first prompt, calls that wait, the newest messages
	led     bool      // what stays begins with the first prompt, and the summary follows it
}

func (o Summarize) plan(messages []Message) plan {
	pairs := pair(messages)
	held := holdUnheard(messages, pairs.held(messages))
	cut := 0
	for i, legal := range pairs.starts(messages) {
		if legal && i <= len(messages)-o.KeepRecentMessages {
			cut = i
		}
	}
	first := slices.IndexFunc(messages, func(m Message) bool {
		_, summary := summaryOf(&m)
		return !summary && asks(m.Message)
	})
	var p plan
	for i := range messages {
		m := messages[i]
		_, summary := summaryOf(&m)
		switch {
		case i == first && i < cut:
			p.led = len(p.stay) == 0
			p.stay = append(p.stay, m)
		case i >= cut || held[i]:
			p.stay = append(p.stay, m)
		case summary:
			p.earlier = append(p.earlier, m)
		default:
			p.leave = append(p.leave, m)
		}
	}
	return p
}

// with is what is sent with that summary.
func (p *plan) with(text string) []Message {
	at := 0
	if p.led {
		at = 1
	}
	summary := New(thread.Message{Role: thread.User, Parts: []thread.Part{thread.Text(SummaryHead + text)}})
	return slices.Insert(slices.Clone(p.stay), at, summary)
}

// summaryOf gives the text of a summary that stands among the messages.
func summaryOf(m *Message) (text string, ok bool) {
	if m.Seq != 0 || m.Message == nil || m.Message.Role != thread.User || m.Message.Author != "" {
		return "", false
	}
	return strings.CutPrefix(m.Message.PlainText(), SummaryHead)
}

// Irreducible gives the figures of a prompt that no compaction makes small
// enough, in tokens, as Details of the error.
type Irreducible struct {
	Limit    int `json:"limit"`
	Fixed    int `json:"fixed"`    // instructions, tools, contexts
	Messages int `json:"messages"` // those that must stay
}

// stuck says whether the prompt is too large, and so is what must stay of it.
func (in *Input) stuck(messages int) bool {
	return in.Limit > 0 && in.total() > in.Limit && in.Fixed.Tokens+messages > in.Limit
}

// irreducible is the error of a strategy that is stuck; one that another follows
// leaves it to that.
func (in *Input) irreducible(messages int) error {
	if in.Followed {
		return nil
	}
	d := Irreducible{Limit: in.Limit, Fixed: in.Fixed.Tokens, Messages: messages}
	return &thread.Error{
		Code: thread.Limit, Op: "compact", Details: d,
		Message: fmt.Sprintf("the prompt cannot be made small enough: instructions, tools and contexts weigh %d tokens and the messages that must stay %d, and the limit is %d", d.Fixed, d.Messages, d.Limit),
		Hint:    "shorten the instructions, take tools away, keep fewer messages, use a model with a larger window, or rewind before a message that is too long by itself",
	}
}
