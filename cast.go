package skein

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skeinhq/skein/guide"
	"github.com/skeinhq/skein/internal/agent"
	"github.com/skeinhq/skein/internal/prompt"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/strategy"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
	"github.com/skeinhq/skein/tool/history"
)

// cast is who answers, and with what.
type cast struct {
	agent  Agent
	model  string
	rules  model.Rules
	tools  []tool.Tool
	skills guide.Skills
	chain  strategy.Chain
	marks  agent.Marks
}

// eyes are what the tools of a turn look through; without a turn they see nothing
// and nobody calls them.
type eyes struct {
	look   history.Look
	loaded func(context.Context) ([]string, error) // the skills that are open
}

// cast chooses among those addressed the first that is an agent, else the
// thread's, else the engine's. The strategies are those of the thread's agent,
// whoever answers: what a thread's prompt holds of the past is one thing.
func (e *Engine) cast(ctx context.Context, see eyes, s Settings, to []string) (cast, error) {
	name := e.Answering(s)
	for _, n := range to {
		if _, err := e.agent(n); err == nil {
			name = n
			break
		}
	}
	a, err := e.agent(name)
	if err != nil {
		return cast{}, err
	}
	c := cast{agent: a, model: e.cfg.Model}
	if a.Model != "" {
		c.model = a.Model
	}
	if s.Model != "" {
		c.model = s.Model
	}
	if c.rules, err = e.cfg.Rules.Rules(c.model); err != nil {
		return cast{}, err
	}
	if c.chain, _, err = e.chain(s); err != nil {
		return cast{}, err
	}
	for _, x := range c.chain {
		if x.Model == "" {
			continue
		}
		if _, _, err := e.modelOf(x.Model); err != nil {
			return cast{}, &thread.Error{Code: thread.Configuration, Op: "strategy", Message: fmt.Sprintf("the strategy %s names a model that is not there", x.Name), Err: err}
		}
	}
	c.marks = agent.MarksFor(s, a, c.rules)
	if c.skills, err = e.skills(a); err != nil {
		return cast{}, err
	}
	c.tools, err = e.tools(ctx, see, c)
	return c, err
}

// chain gives the strategies of a thread with those settings, and the agent whose
// they are.
func (e *Engine) chain(s Settings) (strategy.Chain, Agent, error) {
	a, err := e.agent(e.Answering(s))
	if err != nil {
		return nil, a, err
	}
	c, err := agent.ChainOf(s, a, e.cfg.Strategies)
	return c, a, err
}

// skills gives the skills that an agent may load.
func (e *Engine) skills(a Agent) (guide.Skills, error) {
	if a.Skills == nil {
		return e.cfg.Skills, nil
	}
	out := guide.Skills{}
	for _, name := range a.Skills {
		at := slices.IndexFunc(e.cfg.Skills, func(s guide.Skill) bool { return s.Name == name })
		if at < 0 {
			var known []string
			for _, s := range e.cfg.Skills {
				known = append(known, s.Name)
			}
			return nil, &thread.Error{Code: thread.Configuration, Op: "agent", Message: fmt.Sprintf("the agent %s asks for the skill %q, which is not there", a.Name, name), Hint: "known: " + strings.Join(known, ", ")}
		}
		out = append(out, e.cfg.Skills[at])
	}
	return out, nil
}

// tools gives the tools that an agent may use, in a fixed order: the history
// tools, unless it names none at all or some of them only, its own, those of its
// skills.
func (e *Engine) tools(ctx context.Context, see eyes, c cast) ([]tool.Tool, error) {
	past, err := history.Tools(e.store, see.look)
	if err != nil {
		return nil, err
	}
	own, err := e.named(ctx, c.agent, past)
	if err != nil {
		return nil, err
	}
	all := past
	isPast := func(t tool.Tool) bool { _, ok := tool.Find(past, t.Name); return ok }
	if c.agent.Tools != nil && (len(own) == 0 || slices.ContainsFunc(own, isPast)) {
		all = nil
	}
	own = slices.DeleteFunc(slices.Clone(own), func(t tool.Tool) bool { return brought(c.skills, t) })
	all = append(all, own...)
	if len(c.skills) == 0 {
		return all, tool.Check(all)
	}
	if err := c.skills.Check(all); err != nil {
		return nil, err
	}
	load, err := c.skills.LoadTool(e.guide(c, nil), see.loaded)
	if err != nil {
		return nil, err
	}
	all = append(append(all, c.skills.Tools()...), load)
	return all, tool.Check(all)
}

// brought says whether a skill brings that very tool, too: then it is the skill's,
// and locked until that is loaded, also where the agent names it.
func brought(skills guide.Skills, t tool.Tool) bool {
	s, ok := tool.Find(skills.Tools(), t.Name)
	return ok && s.Description == t.Description && bytes.Equal(s.Schema, t.Schema)
}

// named gives the tools that an agent names, or all that it may use where it
// names none.
func (e *Engine) named(ctx context.Context, a Agent, past []tool.Tool) ([]tool.Tool, error) {
	if a.Tools == nil {
		return e.cfg.Tools, nil
	}
	sets := map[string][]tool.Tool{history.Set: past}
	var others []tool.Set
	if e.cfg.Sets != nil {
		others = e.cfg.Sets(ctx)
	}
	for _, s := range others {
		for _, x := range s.Tools {
			sets[x.Name] = []tool.Tool{x}
		}
	}
	for _, x := range slices.Concat(past, e.cfg.Tools) {
		sets[x.Name] = []tool.Tool{x}
	}
	for _, s := range others {
		sets[s.Name] = s.Tools
	}
	var out []tool.Tool
	for _, name := range a.Tools {
		set, ok := sets[name]
		if !ok {
			return nil, &thread.Error{Code: thread.Configuration, Op: "agent", Message: fmt.Sprintf("the agent %s asks for the tool %q, which is not there", a.Name, name), Hint: "known: " + strings.Join(slices.Sorted(maps.Keys(sets)), ", ")}
		}
		out = append(out, set...)
	}
	return out, nil
}

// modelOf gives a model and its rules.
func (e *Engine) modelOf(name string) (model.Model, model.Rules, error) {
	rules, err := e.cfg.Rules.Rules(name)
	if err != nil {
		return nil, rules, err
	}
	m, err := e.cfg.Models(name)
	return m, rules, err
}

// guide is what the instructions of who answers are resolved with.
func (e *Engine) guide(c cast, warn func(string)) guide.Input {
	return guide.Input{Workspace: e.cfg.Workspace, Model: c.model, Prompt: e.cfg.Prompts, Warn: warn}
}

// define resolves what the prompts of who answers are made from.
func (e *Engine) define(ctx context.Context, c cast, s Settings, in guide.Input) (prompt.Definition, error) {
	instructions, err := c.agent.Instruct(ctx, in, c.skills)
	if err != nil {
		return prompt.Definition{}, err
	}
	return c.agent.Definition(c.model, s.Zone, instructions, c.chain, c.tools), nil
}
