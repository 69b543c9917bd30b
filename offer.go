package skein

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/skeinhq/skein/internal/agent"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

// Offer is what the agent that would answer in a thread may use there.
type Offer struct {
	Agent  string         `json:"agent"`
	Tools  []OfferedTool  `json:"tools"`
	Skills []OfferedSkill `json:"skills"`
}

// OfferedTool is a tool, and what is to be told of calling it: which skill unlocks
// it, where that is not loaded, and what the permissions say.
type OfferedTool struct {
	Name     string        `json:"name"`
	ReadOnly bool          `json:"readOnly"`
	Locked   string        `json:"locked,omitempty"`
	Decision tool.Decision `json:"decision"`         // where no rule about paths or commands comes first
	Others   []string      `json:"others,omitempty"` // what such rules decide of some calls

	// Allowed is what somebody allowed for the whole thread: calls of the tool, or
	// of one that runs command lines those very lines.
	Allowed []tool.AllowedCall `json:"allowed,omitempty"`

	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"` // of its input
}

// OfferedSkill is a skill, and whether it is loaded.
type OfferedSkill struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Loaded      bool   `json:"loaded"`
}

// Offer gives the tools and skills of whoever would answer in the thread now.
func (t *Thread) Offer(ctx context.Context) (Offer, error) {
	state, err := t.State(ctx)
	if err != nil {
		return Offer{}, err
	}
	c, err := t.engine.castOf(ctx, state.Key)
	if err != nil {
		return Offer{}, err
	}
	past, err := t.past(ctx, &state, c)
	if err != nil {
		return Offer{}, err
	}
	var allowed tool.Allowed
	if err := agent.ReadDoc(ctx, t.engine.store, state.Key, thread.AllowedDoc, &allowed); err != nil {
		return Offer{}, err
	}
	return c.offer(past.Loaded(c.agent.Name), allowed)
}

// offer is what the cast may use, with those skills loaded and those calls allowed.
func (c cast) offer(loaded []string, allowed tool.Allowed) (Offer, error) {
	out := Offer{Agent: c.agent.Name, Tools: []OfferedTool{}, Skills: []OfferedSkill{}}
	locks := map[string]string{}
	for _, s := range c.skills {
		open := slices.Contains(loaded, s.Name)
		out.Skills = append(out.Skills, OfferedSkill{Name: s.Name, Description: s.Description, Loaded: open})
		for _, x := range s.Tools {
			if !open {
				locks[x.Name] = s.Name
			}
		}
	}
	for _, x := range c.tools {
		o := OfferedTool{Name: x.Name, ReadOnly: x.ReadOnly, Locked: locks[x.Name], Description: x.Description, Schema: x.Schema}
		for _, a := range allowed {
			if a.Tool == x.Name {
				o.Allowed = append(o.Allowed, a)
			}
		}
		var err error
		if o.Decision, o.Others, err = said(c.agent.Permissions, x); err != nil {
			return Offer{}, err
		}
		out.Tools = append(out.Tools, o)
	}
	return out, nil
}

// Offer gives the tools and skills of an agent in a thread of its own, where nothing
// is loaded yet. Errors: configuration (there is no such agent, or its tools are not
// there).
func (e *Engine) Offer(ctx context.Context, agentName string) (Offer, error) {
	c, err := e.cast(ctx, eyes{}, Settings{Agent: agentName}, nil)
	if err != nil {
		return Offer{}, err
	}
	return c.offer(nil, nil)
}

// said gives what permissions say of a tool whatever it is called with, and what
// the rules that come before that decide of some of its calls.
func said(p tool.Permissions, x tool.Tool) (d tool.Decision, others []string, err error) {
	bare := tool.Tool{Name: x.Name, ReadOnly: x.ReadOnly}
	for _, r := range p.Rules {
		named := tool.Permissions{Rules: []tool.Rule{{Decision: r.Decision, Tools: r.Tools}}}
		v, err := named.Decide(bare, []byte("{}"))
		switch {
		case err != nil:
			return "", nil, err
		case v.Rule == 0:
		case len(r.Paths) == 0 && len(r.Commands) == 0:
			return r.Decision, others, nil
		case x.Resources != nil && !slices.Contains(others, string(r.Decision)):
			others = append(others, string(r.Decision))
		}
	}
	v, err := tool.Permissions{Default: p.Default, ReadOnly: p.ReadOnly}.Decide(bare, []byte("{}"))
	return v.Decision, others, err
}
