package strategy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"

	"github.com/skeinhq/skein/thread"
)

// note remembers an attempt in vain: over which input, and how much it weighed.
type note struct {
	Input  string `json:"input"` // a hash
	Tokens int    `json:"tokens"`
}

// notes are the attempts in vain by the strategies' names, the thread's document
// [thread.NotedDoc].
type notes map[string]note

// readNotes takes a document that cannot be read for none: all that is lost by it
// is one attempt.
func readNotes(data json.RawMessage) notes {
	var n notes
	if json.Unmarshal(data, &n) != nil {
		return nil
	}
	return n
}

// vain says whether another attempt would be like the one noted: the input is the
// same or, where nothing presses, has grown by less than a tenth since.
func (n notes) vain(name string, in *Input) bool {
	was, ok := n[name]
	if !ok {
		return false
	}
	if was.Input == hashOf(in) {
		return true
	}
	now := tokens(in.Messages)
	return !in.over() && now >= was.Tokens && now < was.Tokens+was.Tokens/10
}

func (n notes) with(name string, in *Input) notes {
	out := notes{name: {hashOf(in), tokens(in.Messages)}}
	for other, v := range n {
		if other != name {
			out[other] = v
		}
	}
	return out
}

func (n notes) without(name string) notes {
	out := maps.Clone(n)
	delete(out, name)
	return out
}

// encode gives the document, the one there was where it says the same, and none
// where there is nothing to remember.
func (n notes) encode(was json.RawMessage) json.RawMessage {
	if maps.Equal(n, readNotes(was)) {
		return was
	}
	if len(n) == 0 {
		return nil
	}
	data, err := thread.Encode(n)
	if err != nil {
		panic(err) // a map of strings and numbers always encodes
	}
	return data
}

// hashOf tells inputs apart by all that a strategy decides on.
func hashOf(in *Input) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	put := func(v any) {
		if err := enc.Encode(v); err != nil {
			b.WriteString(err.Error()) // the same for the same input
		}
	}
	put([]any{in.Model, in.Limit, in.Fixed, in.Overflowing})
	for i := range in.Messages {
		m := &in.Messages[i]
		put([]any{m.Seq, m.Results, m.edited, m.Message == nil})
		if m.Seq == 0 || m.edited {
			put(m.Message)
		}
	}
	sum := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(sum[:12])
}
