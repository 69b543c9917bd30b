package anthropic

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// answer gathers the blocks of one answer.
type answer struct {
	provider string
	model    string // as the request names it

	blocks     []*open
	stop       sdk.StopReason
	refusal    string
	usage      thread.Usage
	longWrites int64 // tokens written to the cache for an hour
	ended      bool
}

// open is a block while it comes.
type open struct {
	index int64
	part  thread.Part // its type is empty for what Skein has no part for
	text  strings.Builder
	sign  strings.Builder // the signature
	input []byte          // of a call, as JSON in pieces
	whole bool
}

// take takes one event of the stream and gives what there is to tell.
func (a *answer) take(e sdk.MessageStreamEventUnion) []model.Event {
	switch e.Type {
	case "message_start":
		u := e.Message.Usage
		a.usage = thread.Usage{Input: u.InputTokens, CacheRead: u.CacheReadInputTokens, CacheWrite: u.CacheCreationInputTokens, Output: u.OutputTokens}
		a.longWrites = u.CacheCreation.Ephemeral1hInputTokens
	case "content_block_start":
		return a.begin(e.AsContentBlockStart())
	case "content_block_delta":
		return a.grow(e.AsContentBlockDelta())
	case "content_block_stop":
		if o := a.find(e.Index); o != nil {
			o.whole = true
		}
	case "message_delta":
		a.stop = e.Delta.StopReason
		a.refusal = e.Delta.StopDetails.Explanation
		a.count(e.Usage)
	case "message_stop":
		a.ended = true
	}
	return nil
}

// count takes the running totals: those that are told replace the earlier ones.
func (a *answer) count(u sdk.MessageDeltaUsage) {
	if u.JSON.InputTokens.Valid() {
		a.usage.Input = u.InputTokens
	}
	if u.JSON.CacheReadInputTokens.Valid() {
		a.usage.CacheRead = u.CacheReadInputTokens
	}
	if u.JSON.CacheCreationInputTokens.Valid() {
		a.usage.CacheWrite = u.CacheCreationInputTokens
	}
	if u.JSON.OutputTokens.Valid() {
		a.usage.Output = u.OutputTokens
	}
	a.usage.Reasoning = u.OutputTokensDetails.ThinkingTokens
}

func (a *answer) find(index int64) *open {
	if i := slices.IndexFunc(a.blocks, func(o *open) bool { return o.index == index }); i >= 0 {
		return a.blocks[i]
	}
	return nil
}

func (a *answer) begin(e sdk.ContentBlockStartEvent) []model.Event {
	o := &open{index: e.Index}
	a.blocks = append(a.blocks, o)
	b := e.ContentBlock
	switch b.Type {
	case "text":
		o.part = thread.Text(b.Text)
		return told(model.TextDelta, b.Text)
	case "thinking":
		o.part = thread.Part{Type: thread.ThinkingPart, Text: b.Thinking, Signature: b.Signature, Provider: a.provider, Model: a.model}
		return told(model.ThinkingDelta, b.Thinking)
	case "redacted_thinking":
		o.part = thread.Part{Type: thread.ThinkingPart, Redacted: true, Signature: b.Data, Provider: a.provider, Model: a.model}
	case "tool_use":
		o.part = thread.Part{Type: thread.CallPart, ID: b.ID, Name: b.Name}
		// What comes in pieces starts with an empty object here.
		if raw := b.JSON.Input.Raw(); raw != "{}" && raw != "null" {
			o.input = append(o.input, raw...)
		}
	}
	return nil
}

func (a *answer) grow(e sdk.ContentBlockDeltaEvent) []model.Event {
	o := a.find(e.Index)
	if o == nil {
		return nil
	}
	switch d := e.Delta; d.Type {
	case "text_delta":
		o.text.WriteString(d.Text)
		return told(model.TextDelta, d.Text)
	case "thinking_delta":
		o.text.WriteString(d.Thinking)
		return told(model.ThinkingDelta, d.Thinking)
	case "signature_delta":
		o.sign.WriteString(d.Signature)
	case "input_json_delta":
		o.input = append(o.input, d.PartialJSON...)
	}
	return nil
}

func told(t model.EventType, text string) []model.Event {
	if text == "" {
		return nil
	}
	return []model.Event{{Type: t, Text: text}}
}

// stops says what the provider's reasons mean.
var stops = map[sdk.StopReason]thread.Stop{
	sdk.StopReasonEndTurn:                    thread.StopEnd,
	sdk.StopReasonStopSequence:               thread.StopEnd,
	sdk.StopReasonPauseTurn:                  thread.StopEnd,
	sdk.StopReasonToolUse:                    thread.StopCalls,
	sdk.StopReasonMaxTokens:                  thread.StopLength,
	sdk.StopReasonModelContextWindowExceeded: thread.StopLength,
	sdk.StopReasonRefusal:                    thread.StopRefusal,
}

// done makes the event that ends the answer. A call that the length cut off is
// left out; any other must be readable.
func (a *answer) done() (model.Event, error) {
	e := model.Event{Type: model.Done, Stop: stops[a.stop], Usage: a.usage}
	if e.Stop == "" {
		e.Stop = thread.StopEnd
	}
	calls := false
	for _, o := range a.blocks {
		p := o.part
		p.Text += o.text.String()
		p.Signature += o.sign.String()
		switch p.Type {
		case "":
			continue
		case thread.TextPart:
			if p.Text == "" {
				continue
			}
		case thread.CallPart:
			if !o.whole || len(o.input) > 0 && !json.Valid(o.input) {
				if e.Stop != thread.StopCalls {
					continue
				}
				return model.Event{}, fmt.Errorf("the input of the call of %s is no JSON", p.Name)
			}
			p = thread.Call(p.ID, p.Name, o.input)
			calls = true
		}
		e.Parts = append(e.Parts, p)
	}
	if e.Stop == thread.StopCalls && !calls {
		e.Stop = thread.StopEnd
	}
	if e.Stop == thread.StopRefusal && !slices.ContainsFunc(e.Parts, isText) {
		e.Parts = append(e.Parts, thread.Text(refusalText(a.refusal)))
	}
	return e, nil
}

func isText(p thread.Part) bool { return p.Type == thread.TextPart }

// refusalText stands for an answer that was refused before it began.
func refusalText(explanation string) string {
	if explanation == "" {
		return "(the model refused to answer)"
	}
	return "(the model refused to answer: " + thread.OneLine(explanation) + ")"
}
