package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/openai/openai-go/v3/responses"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// answer gathers the items of one answer.
type answer struct {
	provider string
	model    string // as the request names it

	items   []item
	refused bool
	thought bool // something was told of what is thought now
	final   *responses.Response
	failure *responses.ResponseError // the provider gave up in the middle
}

// item is a whole item of the answer at its place.
type item struct {
	index int64
	parts []thread.Part
}

// take takes one event of the stream and gives what there is to tell. It fails
// where an item cannot be read.
func (a *answer) take(e *responses.ResponseStreamEventUnion) ([]model.Event, error) {
	switch e.Type {
	case "response.output_text.delta":
		return told(model.TextDelta, e.Delta), nil
	case "response.refusal.delta":
		a.refused = true
		return told(model.TextDelta, e.Delta), nil
	case "response.reasoning_summary_part.added":
		if a.thought {
			return told(model.ThinkingDelta, "\n\n"), nil
		}
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		a.thought = true
		return told(model.ThinkingDelta, e.Delta), nil
	case "response.output_item.done":
		parts, err := a.parts(&e.Item)
		a.items = append(a.items, item{e.OutputIndex, parts})
		return nil, err
	case "response.completed", "response.incomplete":
		r := e.Response
		a.final = &r
	case "response.failed":
		f := e.Response.Error
		a.failure = &f
	case "error":
		a.failure = &responses.ResponseError{Code: responses.ResponseErrorCode(e.Code), Message: e.Message}
	}
	return nil, nil
}

func (a *answer) ended() bool { return a.final != nil || a.failure != nil }

func told(t model.EventType, text string) []model.Event {
	if text == "" {
		return nil
	}
	return []model.Event{{Type: t, Text: text}}
}

// parts makes parts of an item.
func (a *answer) parts(i *responses.ResponseOutputItemUnion) ([]thread.Part, error) {
	switch i.Type {
	case "message":
		return a.said(i), nil
	case "reasoning":
		p, err := a.reasoning(i.AsReasoning())
		return []thread.Part{p}, err
	case "function_call":
		c := i.AsFunctionCall()
		input := []byte(strings.TrimSpace(c.Arguments))
		if len(input) > 0 && !json.Valid(input) {
			if i.Status == "incomplete" {
				return nil, nil
			}
			return nil, fmt.Errorf("the input of the call of %s is no JSON", c.Name)
		}
		return []thread.Part{thread.Call(c.CallID, c.Name, input)}, nil
	}
	return nil, nil
}

func (a *answer) said(i *responses.ResponseOutputItemUnion) []thread.Part {
	var out []thread.Part
	for _, c := range i.AsMessage().Content {
		text := c.Text
		if c.Type == "refusal" {
			a.refused, text = true, c.Refusal
		}
		if text != "" {
			out = append(out, thread.Text(text))
		}
	}
	return out
}

// reasoning keeps an item: what is encrypted is its signature, the rest stays
// beside it as it came. Without what is encrypted the provider could not read it
// again, so that it is not kept for sending.
func (a *answer) reasoning(r responses.ResponseReasoningItem) (thread.Part, error) {
	p := thread.Part{Type: thread.ThinkingPart, Provider: a.provider, Model: a.model, Signature: r.EncryptedContent}
	var texts []string
	for _, s := range r.Summary {
		texts = append(texts, s.Text)
	}
	if len(texts) == 0 {
		for _, c := range r.Content {
			texts = append(texts, c.Text)
		}
	}
	p.Text = strings.Join(texts, "\n\n")
	if p.Signature == "" {
		return p, nil
	}
	var err error
	p.Raw, err = thread.Encode(thought{ID: r.ID, Summary: json.RawMessage(r.JSON.Summary.Raw()), Content: json.RawMessage(r.JSON.Content.Raw())})
	return p, err
}

// done makes the event that ends the answer.
func (a *answer) done() model.Event {
	slices.SortStableFunc(a.items, func(x, y item) int { return int(x.index - y.index) })
	e := model.Event{Type: model.Done, Usage: usage(a.final.Usage)}
	calls, says := false, false
	for _, i := range a.items {
		for _, p := range i.parts {
			calls = calls || p.Type == thread.CallPart
			says = says || p.Type == thread.TextPart
			e.Parts = append(e.Parts, p)
		}
	}
	switch {
	case a.refused || a.final.IncompleteDetails.Reason == "content_filter":
		e.Stop = thread.StopRefusal
	case a.final.Status == "incomplete":
		e.Stop = thread.StopLength
	case calls:
		e.Stop = thread.StopCalls
	default:
		e.Stop = thread.StopEnd
	}
	if e.Stop == thread.StopRefusal && !says {
		e.Parts = append(e.Parts, thread.Text("(the model refused to answer)"))
	}
	return e
}

// usage counts what the cache gave and took apart from the rest of the input.
func usage(u responses.ResponseUsage) thread.Usage {
	read, write := u.InputTokensDetails.CachedTokens, u.InputTokensDetails.CacheWriteTokens
	return thread.Usage{
		Input: max(0, u.InputTokens-read-write), CacheRead: read, CacheWrite: write,
		Output: u.OutputTokens, Reasoning: u.OutputTokensDetails.ReasoningTokens,
	}
}
