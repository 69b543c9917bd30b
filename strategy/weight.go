package strategy

import (
	"unicode/utf8"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// Weight is what messages, or what stands beside them, weigh: tokens by
// thread.Weight's estimate, and characters, the runes of their JSON.
type Weight struct {
	Tokens     int `json:"tokens"`
	Characters int `json:"characters"`
}

// Plus adds two weights.
func (w Weight) Plus(o Weight) Weight {
	return Weight{w.Tokens + o.Tokens, w.Characters + o.Characters}
}

// Weigh gives the weight of messages as they are sent.
func Weigh(messages []Message) Weight {
	return Weight{tokens(messages), characters(messages)}
}

// tokens is the estimate for the messages as they are sent.
func tokens(messages []Message) int {
	n := 0
	for i := range messages {
		n += messages[i].tokens()
	}
	return n
}

// tokens of an erased message are none.
func (m *Message) tokens() int {
	switch {
	case m.Message == nil:
		return 0
	case m.Message.Weight > 0:
		return m.Message.Weight
	}
	return m.Message.Weigh()
}

// characters counts the runes of the messages' JSON.
func characters(messages []Message) int {
	n := 0
	for i := range messages {
		n += messages[i].characters()
	}
	return n
}

// characters of a message are those of its role and parts.
func (m *Message) characters() int {
	if m.Message == nil {
		return 0
	}
	data, err := thread.Encode(model.Message{Role: m.Message.Role, Parts: m.Message.Parts})
	if err != nil {
		// A call's input that is no JSON stands for itself.
		return characterSum(m.Message.Parts)
	}
	return utf8.RuneCount(data)
}

// characterSum counts the runes of what parts hold.
func characterSum(parts []thread.Part) int {
	n := 0
	for i := range parts {
		p := &parts[i]
		n += utf8.RuneCountInString(p.Text) + utf8.RuneCount(p.Input) + utf8.RuneCount(p.Raw) + characterSum(p.Parts)
	}
	return n
}

// total is the weight of the whole prompt in tokens.
func (in *Input) total() int { return in.Fixed.Tokens + tokens(in.Messages) }

// over says whether the prompt is too large for the model, by our estimate or
// by the provider's word.
func (in *Input) over() bool {
	return in.Overflowing || in.Limit > 0 && in.total() > in.Limit
}

// room is what the limit leaves for messages; ok is false where there is none.
// Where the provider has found the prompt too large, though our estimate says
// that it is not, half of the messages have to go.
func (in *Input) room() (tokensLeft int, ok bool) {
	switch {
	case in.Limit > 0 && in.total() > in.Limit:
		return in.Limit - in.Fixed.Tokens, true
	case in.Overflowing:
		return tokens(in.Messages) / 2, true
	case in.Limit > 0:
		return in.Limit - in.Fixed.Tokens, true
	}
	return 0, false
}
