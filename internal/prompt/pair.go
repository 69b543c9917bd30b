package prompt

import (
	"slices"
	"strconv"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// NoResult stands for the result of a call that has none in the log.
const NoResult = "No result of this call is recorded. Whether it had an effect is not known."

// Limits that every provider's names and ids keep.
const (
	maxName = 64
	maxID   = 64
)

// pair puts calls and results in order, whatever the log holds: each message
// with calls is followed by one message with a result for each, in the calls'
// order; what was said in between comes after them; a result without its call
// becomes a note; ids are unique and all names are such as providers take.
func (l *Layout) pair() {
	out := make([]placed, 0, cap(l.out))
	ids := make(map[string]bool, len(l.out))
	for i, p := range l.out {
		switch {
		case p.Role == thread.Tool:
			if note := l.note(p); len(note.Parts) > 0 {
				out = append(out, note)
			}
		case p.Role == thread.Assistant && hasCalls(p):
			answers := l.out[i+1:]
			if end := slices.IndexFunc(answers, isAssistant); end >= 0 {
				answers = answers[:end]
			}
			results := l.answer(p, answers)
			nameCalls(p, results, ids)
			out = append(out, p, results)
		default:
			out = append(out, p)
		}
	}
	l.out = out
}

func isAssistant(p placed) bool { return p.Role == thread.Assistant }

func hasCalls(p placed) bool { return slices.ContainsFunc(p.Parts, isCall) }

func isCall(p thread.Part) bool { return p.Type == thread.CallPart }

// nameCalls gives calls and their results names and ids that every provider
// takes.
func nameCalls(calls, results placed, ids map[string]bool) {
	result := 0
	for i := range calls.Parts {
		call := &calls.Parts[i]
		if call.Type != thread.CallPart {
			continue
		}
		call.ID = uniqueID(call.ID, calls.index, ids)
		call.Name = toolName(call.Name)
		results.Parts[result].Call = call.ID
		results.Parts[result].Name = call.Name
		result++
	}
}

// answer makes the message of the results of p's calls, taking them out of the
// messages that follow.
func (l *Layout) answer(p placed, following []placed) placed {
	start := len(l.parts)
	l.from = l.from[:0]
	index := p.index
	for i := range p.Parts {
		call := &p.Parts[i]
		if call.Type != thread.CallPart {
			continue
		}
		result, at := takeResult(call.ID, following)
		if result.Type == "" {
			result = thread.Result(call.ID, call.Name, NoResult, true)
		}
		index = max(index, at)
		l.parts = append(l.parts, result)
		l.from = append(l.from, at)
	}
	parts := l.parts[start:len(l.parts):len(l.parts)]
	l.shorten(parts, l.from)
	return placed{Message: model.Message{Role: thread.Tool, Parts: parts}, index: index}
}

// takeResult finds the first result of a call and leaves a hole where it was.
func takeResult(id string, in []placed) (result thread.Part, index int64) {
	for i := range in {
		if in[i].Role != thread.Tool {
			continue
		}
		for j := range in[i].Parts {
			if p := in[i].Parts[j]; p.Type == thread.ResultPart && p.Call == id {
				in[i].Parts[j] = thread.Part{}
				return p, in[i].index
			}
		}
	}
	return thread.Part{}, thread.NoIndex
}

// note shows results without a call of the agent's own as a user message.
func (l *Layout) note(p placed) placed {
	parts := slices.DeleteFunc(p.Parts, func(q thread.Part) bool { return q.Type != thread.ResultPart })
	if len(parts) == 0 {
		return placed{}
	}
	l.shorten(parts, slices.Repeat([]int64{p.index}, len(parts)))
	start := len(l.parts)
	for i := range parts {
		head := l.resultHead(l.caller(p.index), &parts[i])
		for _, q := range parts[i].Parts {
			if q.Type == thread.TextPart {
				q.Text = l.texts.join(head, q.Text)
				head = ""
			} else if head != "" {
				l.parts = append(l.parts, thread.Text(head))
				head = ""
			}
			l.parts = append(l.parts, q)
		}
	}
	return placed{Message: model.Message{Role: thread.User, Parts: l.parts[start:len(l.parts):len(l.parts)]}, index: p.index}
}

// caller names to whom a result that is shown as a note was given.
func (l *Layout) caller(index int64) string {
	at := slices.IndexFunc(l.Messages, func(e thread.Entry) bool { return e.Index == index })
	if at >= 0 && l.Messages[at].Message != nil && len(l.Messages[at].Message.To) > 0 {
		return l.Messages[at].Message.To[0]
	}
	return l.Definition.Agent
}

// uniqueID gives an id that no other call of the prompt has, made of the
// characters that every provider takes.
func uniqueID(id string, index int64, taken map[string]bool) string {
	id = wordOf(id, maxID)
	if id == "" {
		id = "call"
	}
	base := id[:min(len(id), maxID-24)]
	for n := 0; taken[id]; n++ {
		id = base + "_" + strconv.FormatInt(index, 10)
		if n > 0 {
			id += "_" + strconv.Itoa(n)
		}
	}
	taken[id] = true
	return id
}

// toolName gives a tool's name as every provider takes it.
func toolName(s string) string {
	if s = wordOf(s, maxName); s == "" {
		return "tool"
	}
	return s
}

// wordOf keeps letters, digits, _ and -, and puts _ for all else.
func wordOf(s string, most int) string {
	ok := len(s) <= most
	for i := 0; ok && i < len(s); i++ {
		ok = wordByte(s[i])
	}
	if ok {
		return s
	}
	b := []byte(s[:min(len(s), most)])
	for i, c := range b {
		if !wordByte(c) {
			b[i] = '_'
		}
	}
	return string(b)
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
