package modeltest

import "strings"

// claude is what is documented of a family of Anthropic's models besides what
// the model table has.
type claude struct {
	prefix   string
	thinking []string // the types of thinking it takes
	always   bool     // it thinks where nothing is said
	bound    bool     // thinking is bound to the prompt it was made with
	omitted  bool     // thoughts are not shown where nothing is said
	prefill  bool     // the last message may be the assistant's
	sampling bool     // it takes temperature, top_p and top_k
	effort   string   // that is asked for where nothing is said; empty: it takes none
	strips   bool     // thoughts before the newest words of a user are left out
}

// claudes are the families; the first whose prefix fits counts.
var claudes = []claude{
	{prefix: "claude-fable-5-", thinking: []string{"adaptive"}, always: true, bound: true, omitted: true, effort: "high"},
	{prefix: "claude-mythos-5-", thinking: []string{"adaptive"}, always: true, bound: true, omitted: true, effort: "high"},
	{prefix: "claude-opus-5-5", thinking: []string{"adaptive"}, always: true, bound: true, omitted: true, effort: "medium"},
	{prefix: "claude-sonnet-5-5", thinking: []string{"adaptive", "between_tools"}, always: true, bound: true, omitted: true, effort: "high"},
	{prefix: "claude-haiku-5-5", thinking: []string{"adaptive", "between_tools"}, always: true, bound: true, omitted: true, effort: "high"},
	{prefix: "claude-fable-5", thinking: []string{"adaptive"}, always: true, omitted: true, effort: "high"},
	{prefix: "claude-mythos-5", thinking: []string{"adaptive"}, always: true, omitted: true, effort: "high"},
	{prefix: "claude-opus-5", thinking: []string{"adaptive", "disabled"}, always: true, omitted: true, effort: "high"},
	{prefix: "claude-sonnet-5", thinking: []string{"adaptive", "disabled"}, always: true, omitted: true, effort: "high"},
	{prefix: "claude-opus-4-8", thinking: []string{"adaptive", "disabled"}, omitted: true, effort: "high"},
	{prefix: "claude-opus-4-7", thinking: []string{"adaptive", "disabled"}, omitted: true, effort: "high"},
	{prefix: "claude-opus-4-6", thinking: []string{"adaptive", "enabled", "disabled"}, sampling: true, effort: "high"},
	{prefix: "claude-sonnet-4-6", thinking: []string{"adaptive", "enabled", "disabled"}, sampling: true, effort: "high"},
	{prefix: "claude-opus-4-5", thinking: []string{"enabled", "disabled"}, prefill: true, sampling: true, effort: "high"},
	{prefix: "", thinking: []string{"enabled", "disabled"}, prefill: true, sampling: true, strips: true},
}

func claudeOf(model string) claude {
	for _, c := range claudes {
		if strings.HasPrefix(model, c.prefix) {
			return c
		}
	}
	return claude{}
}
