package strategy

import (
	"github.com/skeinhq/skein/thread"
)

// end is one end of a pair, a call or a result, named so that it can be found
// again in another list: by its message's seq, the call's id, and how often the
// id came in that message before. A new message has its place, negated, for a
// seq.
type end struct {
	seq int64
	id  string
	nth int
}

// pairs are the calls of a list of messages with their results. A result answers
// the oldest open call of its id before it: models use ids again.
type pairs struct {
	calls, results []end
	at             map[end]int // the message in which a call stands
	is             map[end]int // the message in which a result stands
	result         map[end]end // of a call
	call           map[end]end // of a result
}

func pair(messages []Message) *pairs {
	p := &pairs{at: map[end]int{}, is: map[end]int{}, result: map[end]end{}, call: map[end]end{}}
	open := map[string][]end{}
	for i := range messages {
		m := &messages[i]
		if m.Message == nil {
			continue
		}
		seq := m.Seq
		if seq == 0 {
			seq = -int64(i) - 1
		}
		for j := range m.Message.Parts {
			switch part := &m.Message.Parts[j]; part.Type {
			case thread.CallPart:
				c := unused(end{seq, part.ID, 0}, p.at)
				p.calls = append(p.calls, c)
				p.at[c] = i
				open[part.ID] = append(open[part.ID], c)
			case thread.ResultPart:
				r := unused(end{seq, part.Call, 0}, p.is)
				p.results = append(p.results, r)
				p.is[r] = i
				if waiting := open[part.Call]; len(waiting) > 0 {
					p.result[waiting[0]], p.call[r] = r, waiting[0]
					open[part.Call] = waiting[1:]
				}
			}
		}
	}
	return p
}

func unused(e end, taken map[end]int) end {
	for {
		if _, ok := taken[e]; !ok {
			return e
		}
		e.nth++
	}
}

// starts says for each place whether what is kept may start there: with a user's
// or an agent's message, and with no call before it whose result is there or
// later.
func (p *pairs) starts(messages []Message) []bool {
	until := make([]int, len(messages)) // the last place of the results of its calls
	for c, r := range p.result {
		i := p.at[c]
		until[i] = max(until[i], p.is[r])
	}
	out := make([]bool, len(messages))
	barrier := -1
	for i := range messages {
		out[i] = i > barrier && leads(messages[i].Message)
		barrier = max(barrier, until[i])
	}
	return out
}

// leads says whether a message can be the first: it is no tool's, and not erased.
func leads(m *thread.Message) bool {
	return m != nil && (m.Role == thread.User || m.Role == thread.Assistant)
}

// held are the messages that stay wherever a cut is made: those with a call that
// waits for its result, and all that are linked with them by a call or a result.
// There are few: a round that finds none more ends it.
func (p *pairs) held(messages []Message) []bool {
	out := make([]bool, len(messages))
	for _, c := range p.calls {
		if _, ok := p.result[c]; !ok {
			out[p.at[c]] = true
		}
	}
	for more := true; more; {
		more = false
		for c, r := range p.result {
			if i, j := p.at[c], p.is[r]; out[i] != out[j] {
				out[i], out[j], more = true, true, true
			}
		}
	}
	return out
}
