package modeltest

import (
	"fmt"
	"strings"

	"github.com/skeinhq/skein/thread"
)

// check holds what concerns messages as a whole: roles, pairs, ids, images.
func (r *anthropicReader) check() {
	last := r.messages[len(r.messages)-1]
	switch {
	case r.messages[0].role != "user":
		r.fail(problem{message: "messages: first message must use the \"user\" role"})
	case last.role == "assistant" && !r.claude.prefill:
		r.fail(problem{message: "This model does not support assistant message prefill. The conversation must end with a user message."})
	case last.role == "assistant" && trailingSpace(last):
		r.fail(problem{message: "messages: final assistant content cannot end with trailing whitespace"})
	}
	r.checkPairs()
	r.checkImages()
}

func trailingSpace(m spoken) bool {
	p := m.parts[len(m.parts)-1]
	return p.kind == thread.TextPart && p.text != strings.TrimRight(p.text, " \t\r\n")
}

// turns joins messages of one side that follow each other, as the API does.
func turns(messages []spoken) []spoken {
	var out []spoken
	for _, m := range messages {
		if n := len(out); n > 0 && out[n-1].role == m.role {
			out[n-1].parts = append(out[n-1].parts[:len(out[n-1].parts):len(out[n-1].parts)], m.parts...)
			continue
		}
		out = append(out, m)
	}
	return out
}

// checkPairs asks that the calls of a turn are answered at the start of the
// next, each once, and that nothing else is.
func (r *anthropicReader) checkPairs() {
	seen := map[string]bool{}
	var open []string
	for _, m := range turns(r.messages) {
		if len(open) > 0 {
			r.answered(m, open)
		}
		for i, p := range m.parts {
			switch {
			case p.kind == thread.CallPart && seen[p.id]:
				r.fail(problem{message: p.at + ": `tool_use` ids must be unique"})
			case p.kind == thread.CallPart && len(r.tools) == 0, p.kind == thread.ResultPart && len(r.tools) == 0:
				r.fail(problem{message: "Requests which include `tool_use` or `tool_result` blocks must define tools"})
			case p.kind == thread.ResultPart && !contains(open, p.id):
				r.fail(problem{message: fmt.Sprintf("%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", p.at, p.id)})
			case p.kind == thread.ResultPart && answeredBefore(m.parts[:i], p.id):
				r.fail(problem{message: fmt.Sprintf("%s: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s", p.at, p.id)})
			}
			if p.kind == thread.CallPart {
				seen[p.id] = true
			}
		}
		open = nil
		for _, p := range m.parts {
			if p.kind == thread.CallPart {
				open = append(open, p.id)
			}
		}
	}
	if len(open) > 0 {
		r.unanswered(r.messages[len(r.messages)-1].at, open)
	}
}

// answered asks that a turn starts with the results of the open calls.
func (r *anthropicReader) answered(m spoken, open []string) {
	var missing []string
	for _, id := range open {
		found := false
		for _, p := range m.parts {
			if p.kind != thread.ResultPart {
				break
			}
			found = found || p.id == id
		}
		if !found {
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		r.unanswered(before(r.messages, m.at), missing)
	}
}

// before is the place of the message before the one at a place.
func before(messages []spoken, at string) string {
	for i, m := range messages {
		if m.at == at && i > 0 {
			return messages[i-1].at
		}
	}
	return at
}

func (r *anthropicReader) unanswered(at string, ids []string) {
	r.fail(problem{message: fmt.Sprintf("%s: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", at, strings.Join(ids, ", "))})
}

func answeredBefore(parts []part, id string) bool {
	for _, p := range parts {
		if p.kind == thread.ResultPart && p.id == id {
			return true
		}
	}
	return false
}

// checkMarks holds the limits of cache marks: four of them, the longer-lived
// first.
func (r *anthropicReader) checkMarks() {
	if n := len(r.marks); n > 4 {
		r.fail(problem{message: fmt.Sprintf("A maximum of 4 blocks with cache_control may be provided. Found %d.", n)})
	}
	short := false
	for _, m := range r.marks {
		if m.life == "1h" && short {
			r.fail(problem{message: fmt.Sprintf("%s.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.", m.at)})
		}
		short = short || m.life == "5m"
	}
}

// checkThinking holds the rules of thinking: it is what this server signed, it
// ends no message, it leads the running calls where the model asks for that,
// and, where it is bound, the prompt before it is the one it was made with. What
// the model cannot read, or is to be dropped, is taken out of the prompt.
func (r *anthropicReader) checkThinking() {
	if r.manual {
		r.checkLead()
	}
	drop := map[int]bool{}
	broken := false
	sums := sumsOf(r.blocks)
	for _, m := range r.messages {
		for i, p := range m.parts {
			if p.kind != thread.ThinkingPart && p.kind != redactedPart {
				continue
			}
			if i == len(m.parts)-1 {
				r.fail(problem{message: m.at + ": The final block in an assistant message cannot be `thinking`."})
			}
			broken = r.checkThought(p, sums[p.block], broken, drop)
		}
	}
	if r.claude.strips {
		r.strip(drop)
	}
	if len(drop) == 0 {
		return
	}
	var kept []block
	for i, b := range r.blocks {
		if !drop[i] {
			kept = append(kept, b)
		}
	}
	r.asSent, r.blocks = r.blocks, kept
}

// strip leaves out the thoughts that stand before the newest message with a
// user's own words, as older models have it.
func (r *anthropicReader) strip(drop map[int]bool) {
	newest := 0
	for i, m := range r.messages {
		if m.role == "user" && !onlyResults(m) {
			newest = i
		}
	}
	for _, m := range r.messages[:newest] {
		for _, p := range m.parts {
			if p.kind == thread.ThinkingPart || p.kind == redactedPart {
				drop[p.block] = true
			}
		}
	}
}

// checkThought checks one thought against the prompt before it. It says whether
// it, or one before it, no longer fits.
func (r *anthropicReader) checkThought(p part, before sum, broken bool, drop map[int]bool) bool {
	kind, field := "thinking", "signature"
	if p.kind == redactedPart {
		kind, field = "redacted_thinking", "data"
	}
	s, ok := open(p.proof)
	if !ok || !s.fits(p.text) {
		r.fail(problem{message: fmt.Sprintf("%s: Invalid `%s` in `%s` block", p.at, field, kind)})
		return broken
	}
	if !r.claude.bound {
		return broken
	}
	if s.model != r.model {
		drop[p.block] = true
		r.changes = append(r.changes, change{p.at, "model_binding_mismatch"})
		return broken
	}
	if broken = broken || s.before != before; !broken {
		return false
	}
	if !r.drops {
		message := fmt.Sprintf("%s: Invalid `%s` in `%s` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\".", p.at, field, kind)
		if !strings.Contains(r.betas, bindingBeta) {
			message += " That setting requires the `" + bindingBeta + "` value in the `anthropic-beta` header."
		}
		r.fail(problem{message: message})
	}
	drop[p.block] = true
	r.changes = append(r.changes, change{p.at, "prefix_binding_mismatch"})
	return true
}

// checkLead asks that the run of the newest calls starts with thinking: a model
// that was asked to think by a budget goes on from it.
func (r *anthropicReader) checkLead() {
	all := turns(r.messages)
	last := len(all) - 1
	for last >= 0 && (all[last].role != "assistant") {
		last--
	}
	if last < 0 || !has(all[last], thread.CallPart) {
		return
	}
	start := last
	for i := last; i >= 2; i -= 2 {
		if !onlyResults(all[i-1]) || !has(all[i-2], thread.CallPart) {
			break
		}
		start = i - 2
	}
	if first := all[start].parts[0]; first.kind != thread.ThinkingPart && first.kind != redactedPart {
		found := map[thread.PartType]string{thread.CallPart: "tool_use", thread.TextPart: "text"}[first.kind]
		r.fail(problem{message: fmt.Sprintf("%s.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`.", first.at, found)}) //nolint:misspell // as Anthropic writes it
	}
}

func has(m spoken, kind thread.PartType) bool {
	for _, p := range m.parts {
		if p.kind == kind {
			return true
		}
	}
	return false
}

func onlyResults(m spoken) bool {
	for _, p := range m.parts {
		if p.kind != thread.ResultPart {
			return false
		}
	}
	return true
}
