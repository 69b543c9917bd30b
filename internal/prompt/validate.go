package prompt

import (
	"fmt"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// Violation says where a request breaks which rule, as Details of the error.
// Message is -1 for what is not in a message; Part is -1 for a whole message.
type Violation struct {
	Rule    string `json:"rule"`
	Message int    `json:"message"`
	Part    int    `json:"part"`
}

// Validate checks a request against what its model's provider takes. It fails
// with configuration; Details is a [Violation], the first one found.
func Validate(r *model.Request, rules model.Rules) error {
	checks, ok := familyChecks[rules.Family]
	if !ok {
		return &thread.Error{Code: thread.Configuration, Op: "prompt", Message: fmt.Sprintf("the model %s has the family %q, for which no rules are known", r.Model, rules.Family), Details: Violation{"family", -1, -1}}
	}
	for _, c := range checks {
		if f := c.find(r, rules); f != nil {
			return &thread.Error{
				Code: thread.Configuration, Op: "prompt",
				Message: fmt.Sprintf("the prompt is not valid for %s: %s %s (rule %s)", r.Model, f.where(), f.what, c.rule),
				Details: Violation{c.rule, f.message, f.part},
			}
		}
	}
	return nil
}

// check is one rule and what finds its first violation.
type check struct {
	rule string
	find func(*model.Request, model.Rules) *finding
}

// familyChecks is the rule table: what each family of providers asks for.
var familyChecks = map[string][]check{
	model.Anthropic: append(commonChecks(128), check{"thinking", thinkingLeads}, check{"thinking", runningThinks}),
	model.OpenAI:    append(commonChecks(64), check{"thinking", thinkingLeadsOn}),
	model.Echo:      append(commonChecks(64), check{"thinking", thinkingLeads}, check{"thinking", runningThinks}, check{"thinking", thinkingLeadsOn}),
	model.Scripted:  append(commonChecks(64), check{"thinking", thinkingLeads}, check{"thinking", runningThinks}, check{"thinking", thinkingLeadsOn}),
}

func commonChecks(toolName int) []check {
	return []check{
		{"messages", someMessages},
		{"roles", rolesHold},
		{"first", userFirst},
		{"empty", nothingEmpty},
		{"pairs", pairsHold},
		{"ids", idsUnique},
		{"tools", toolsNamed(toolName)},
		{"input", inputsAreObjects},
		{"thinking", thinkingSigned},
		{"images", imagesTaken},
		{"body", bodyHolds},
		{"marks", marksHold},
	}
}

// finding is a place and what is wrong there.
type finding struct {
	message, part int
	what          string
}

func (f *finding) where() string {
	switch {
	case f.message < 0:
		return "it"
	case f.part < 0:
		return fmt.Sprintf("message %d", f.message)
	}
	return fmt.Sprintf("message %d, part %d,", f.message, f.part)
}

// eachPart asks f of every part, those inside results too, until it finds
// something.
func eachPart(r *model.Request, f func(role thread.Role, p *thread.Part) string) *finding {
	for i := range r.Messages {
		m := &r.Messages[i]
		for j := range m.Parts {
			if what := f(m.Role, &m.Parts[j]); what != "" {
				return &finding{i, j, what}
			}
			for k := range m.Parts[j].Parts {
				if what := f("result", &m.Parts[j].Parts[k]); what != "" {
					return &finding{i, j, what}
				}
			}
		}
	}
	return nil
}
