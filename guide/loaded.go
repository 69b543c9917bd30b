package guide

import (
	"encoding/json"
	"slices"

	"github.com/skeinhq/skein/thread"
)

// Loaded gives the skills that the agent has loaded, in the order of loading: a
// call of load_skill by that agent and its result without an error both stand in
// the messages. It needs the messages that the model is sent, in order, and
// nothing else.
//
// A call counts when the batch it was made in has ended: each call of its message
// has a result, or the conversation has a later answer. So a skill that is loaded
// and used in one batch is still locked for that batch. Imported messages prove
// nothing: their tools were other programs'.
func Loaded(agent string, messages []thread.Entry) []string {
	var loaded []string
	var b batch
	for i := range messages {
		m := messages[i].Message
		if m == nil {
			continue
		}
		switch m.Role {
		case thread.Assistant:
			loaded = b.end(loaded)
			b = batchOf(agent, m)
		case thread.Tool:
			if m.Imported() {
				continue
			}
			for _, r := range m.Results() {
				b.answer(r)
			}
			if len(b.open) == 0 {
				loaded = b.end(loaded)
			}
		}
	}
	return loaded
}

// batch is the calls of one message.
type batch struct {
	open   map[string]string // of each call without a result, the skill that it loads, "" for none
	loaded []string          // what has been loaded so far
}

// batchOf gives the calls of an assistant's message. Those of others load nothing
// for the agent.
func batchOf(agent string, m *thread.Message) batch {
	b := batch{open: map[string]string{}}
	own := m.Author == agent && !m.Imported()
	for _, c := range m.Calls() {
		b.open[c.ID] = ""
		if own && c.Name == LoadSkill {
			b.open[c.ID] = skillOf(c.Input)
		}
	}
	return b
}

// skillOf gives the skill that an input of load_skill loads: none where it asks
// for a file.
func skillOf(input json.RawMessage) string {
	var ask loadInput
	if err := json.Unmarshal(input, &ask); err != nil || ask.File != "" {
		return "" // what the tool refuses loads nothing
	}
	return ask.Name
}

func (b *batch) answer(result thread.Part) {
	name, ok := b.open[result.Call]
	if !ok {
		return
	}
	delete(b.open, result.Call)
	if name != "" && !result.IsError {
		b.loaded = append(b.loaded, name)
	}
}

// end adds what the batch has loaded.
func (b *batch) end(loaded []string) []string {
	for _, name := range b.loaded {
		if !slices.Contains(loaded, name) {
			loaded = append(loaded, name)
		}
	}
	*b = batch{}
	return loaded
}
