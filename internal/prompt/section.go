package prompt

import (
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// sections groups the request's messages; they share its memory. Tools and
// instructions are shown as messages of the role system.
func (l *Layout) sections(f fixed, messages []model.Message) []Section {
	tools := Section{Name: ToolsSection, Messages: make([]model.Message, 0, len(f.tools))}
	for _, t := range f.tools {
		tools.Messages = append(tools.Messages, model.Message{Role: system, Parts: []thread.Part{thread.Text(t.Name + ": " + t.Description + " " + string(t.Schema))}})
		tools.Tokens += toolWeight(t)
	}
	instructions := Section{Name: InstructionsSection, Messages: make([]model.Message, 0, len(f.system))}
	for _, s := range f.system {
		instructions.Messages = append(instructions.Messages, model.Message{Role: system, Parts: []thread.Part{thread.Text(s)}})
		instructions.Tokens += thread.Weight(s)
	}
	start, end := 0, len(l.out)
	if start < end && l.out[start].kind == contexts {
		start++
	}
	if start < end && l.out[end-1].kind == turn {
		end--
	}
	return []Section{
		tools,
		instructions,
		{Name: ContextsSection, Tokens: l.weight(0, start), Messages: messages[:start:start]},
		{Name: HistorySection, Tokens: l.weight(start, end), Messages: messages[start:end:end]},
		{Name: TurnSection, Tokens: l.weight(end, len(l.out)), Messages: messages[end:]},
	}
}

// weight is what the messages [from, to) of the prompt weigh.
func (l *Layout) weight(from, to int) int {
	w := 0
	for i := from; i < to; i++ {
		w += l.out[i].tokens
	}
	return w
}
