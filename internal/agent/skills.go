package agent

import (
	"context"
	"slices"
	"strings"

	"github.com/skeinhq/skein/guide"
	"github.com/skeinhq/skein/thread"
)

// A cut's skills are written agent/skill, since each agent loads its own.
func skillOf(agent, skill string) string { return agent + "/" + skill }

// skillsOf gives an agent's skills of those that a cut names.
func skillsOf(names []string, agent string) []string {
	var out []string
	for _, n := range names {
		if skill, own := strings.CutPrefix(n, agent+"/"); own {
			out = append(out, skill)
		}
	}
	return out
}

// Loaded gives the skills that an agent has open, in the order of loading: those
// that the cut in force has kept open, and those that the messages sent show it
// has loaded.
func (p Past) Loaded(agent string) []string {
	var loaded []string
	if p.Cut != nil {
		loaded = skillsOf(p.Cut.Skills, agent)
	}
	for _, s := range guide.Loaded(agent, p.Whole()) {
		if !slices.Contains(loaded, s) {
			loaded = append(loaded, s)
		}
	}
	return loaded
}

// every gives the skills that all agents have open, as cuts write them.
func (p Past) every() []string {
	var out []string
	if p.Cut != nil {
		out = append(out, p.Cut.Skills...)
	}
	return union(out, loadedIn(p.Whole()))
}

// locked gives the skills that the cut in force says are locked again.
func (p Past) locked() []string {
	if p.Cut == nil {
		return nil
	}
	return slices.Clone(p.Cut.Locked)
}

// loadedIn gives what the agents have loaded in these messages.
func loadedIn(messages []thread.Entry) []string {
	var agents, out []string
	for i := range messages {
		m := messages[i].Message
		if m != nil && m.Role == thread.Assistant && len(m.Calls()) > 0 && !slices.Contains(agents, m.Author) {
			agents = append(agents, m.Author)
		}
	}
	for _, a := range agents {
		for _, s := range guide.Loaded(a, messages) {
			out = append(out, skillOf(a, s))
		}
	}
	return out
}

// union gives a and what of b is not in it; a may be changed.
func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}

// without gives what of a is not in b.
func without(a, b []string) []string {
	var out []string
	for _, s := range a {
		if !slices.Contains(b, s) {
			out = append(out, s)
		}
	}
	return out
}

// LockedContext is the name of the turn context that tells which skills a cut has
// locked again.
const LockedContext = "skills"

// Contexts gives what a turn tells besides the day: the instructions of skills
// that are open though the messages which loaded them have left, and which skills
// are locked again.
func (a Agent) Contexts(ctx context.Context, past Past, skills guide.Skills, in guide.Input) ([]thread.Context, error) {
	if past.Cut == nil {
		return nil, nil
	}
	contexts, err := skills.Again(ctx, in, skillsOf(past.Cut.Skills, a.Name))
	if err != nil {
		return nil, err
	}
	locked := without(skillsOf(past.Cut.Locked, a.Name), past.Loaded(a.Name))
	if len(locked) > 0 {
		contexts = append(contexts, thread.Context{
			Name: LockedContext,
			Text: "Their instructions have left this conversation, so these skills are locked again: " + strings.Join(locked, ", ") + ". Load them with " + guide.LoadSkill + " before you use their tools.",
		})
	}
	return contexts, nil
}
