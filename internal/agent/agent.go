package agent

import (
	"context"
	"strings"
	"time"

	"github.com/skeinhq/skein/guide"
	"github.com/skeinhq/skein/internal/outline"
	"github.com/skeinhq/skein/internal/prompt"
	"github.com/skeinhq/skein/strategy"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

// North is the name of the built-in agent.
const North = "north"

// Agent is who answers in a thread. The zero value of a field leaves the
// default, or the thread's setting, in force.
type Agent struct {
	Name         string
	Instructions string
	Include      []guide.Instruction // more instructions, after those, resolved at every turn
	Model        string
	MaxOutput    int
	Thinking     string
	Tools        []string // names of tools and sets; nil: all that there are. The history tools are always there
	Skills       []string // names; nil: all that there are
	ForgetSkills bool     // with the outline: a skill is locked again once the messages that loaded it have left
	Permissions  tool.Permissions
	Strategy     strategy.Chain
	MaxAge       time.Duration
	Tail         outline.Marks
	Outline      outline.Marks
	Limits       Limits
}

// Limits are what a turn may take; 0 is no limit, but for Steps.
type Limits struct {
	Steps  int           // requests to the model; 0: DefaultSteps
	Calls  int           // of tools
	Tokens int64         // of its requests and answers, as billed, summaries included
	Cost   float64       // US dollars
	Time   time.Duration // without the time that it waits for approvals
}

// DefaultSteps is how many steps a turn may have where nothing else is said.
const DefaultSteps = 100

// BuiltIn is the agent that is there without any file.
func BuiltIn() Agent {
	return Agent{
		Name: North,
		Instructions: "You are north, a calm and exact assistant in a conversation that may go on for years. " +
			"Older messages reach you as one-line summaries; open them with the history tools before you rely on a detail. " +
			"Answer in the language you are spoken to, say plainly what you do not know, and keep answers as short as they can be.",
	}
}

// Definition is what of the agent its prompts are made from: the model's name, the
// thread's zone, the tools, and what was resolved of the instructions.
func (a Agent) Definition(modelName, zone, instructions string, c strategy.Chain, tools []tool.Tool) prompt.Definition {
	d := prompt.Definition{
		Agent:        a.Name,
		Model:        modelName,
		Instructions: instructions,
		Tools:        tool.Told(tools),
		MaxAge:       a.MaxAge,
		MaxOutput:    a.MaxOutput,
		Thinking:     a.Thinking,
		Zone:         zone,
	}
	if base := BaseOf(c); base != OutlineStrategy {
		d.Strategy = string(base)
	}
	return d
}

// Instruct resolves the agent's instructions: its own text, what it includes,
// then the catalogue of its skills.
func (a Agent) Instruct(ctx context.Context, in guide.Input, skills guide.Skills) (string, error) {
	all := append([]guide.Instruction{guide.Text(a.Instructions)}, a.Include...)
	all = append(all, guide.Text(skills.Catalogue()))
	return guide.Resolve(ctx, all, in)
}

// instructions is how many there are to be resolved.
func (a Agent) instructions() int64 {
	n := int64(len(a.Include))
	if strings.TrimSpace(a.Instructions) != "" {
		n++
	}
	return n
}

// Settings are what was given for a thread: they are written to it and stay. In
// Model and Strategy, [Unset] put over them gives the choice back to the agent.
type Settings struct {
	Agent    string        `json:"agent,omitempty"`
	Model    string        `json:"model,omitempty"`
	Strategy string        `json:"strategy,omitempty"`
	Tail     outline.Marks `json:"tail,omitzero"`
	Outline  outline.Marks `json:"outline,omitzero"`
	Zone     string        `json:"zone,omitempty"` // an IANA name; empty: UTC

	// Workspace is the folder, as an absolute path, that the thread's agents work in;
	// empty: none of them has yet.
	Workspace string `json:"workspace,omitempty"`
}

// Over gives s with whatever o sets put over it.
func (s Settings) Over(o Settings) Settings {
	put := func(to *string, from string) {
		if from != "" {
			*to = from
		}
	}
	put(&s.Agent, o.Agent)
	put(&s.Model, o.Model)
	put(&s.Strategy, o.Strategy)
	put(&s.Zone, o.Zone)
	put(&s.Workspace, o.Workspace)
	if s.Model == Unset {
		s.Model = ""
	}
	if s.Strategy == Unset {
		s.Strategy = ""
	}
	if o.Tail != (outline.Marks{}) {
		s.Tail = o.Tail
	}
	if o.Outline != (outline.Marks{}) {
		s.Outline = o.Outline
	}
	return s
}

// Usage is a thread's usage document: what its requests took, and the newest
// ones for the ledger.
type Usage struct {
	Requests int64        `json:"requests"` // undone ones included
	Turns    thread.Usage `json:"turns"`    // what answers took
	Lines    thread.Usage `json:"lines"`    // what lines took that a model wrote; counted apart, in a document of their own
	Summary  thread.Usage `json:"summary"`  // what summaries took
	Tokens   int64        `json:"tokens"`   // estimated, of all prompts
	Same     int64        `json:"same"`     // of those, the same prefix as the request before

	Agents map[string]thread.Usage    `json:"agents,omitempty"` // what each agent's answers and summaries took
	Last   map[string]*thread.Request `json:"last,omitempty"`   // each agent's newest
}

// count adds what an agent took for a purpose.
func (u *Usage) count(purpose *thread.Usage, agent string, took thread.Usage) {
	purpose.Add(took)
	if u.Agents == nil {
		u.Agents = map[string]thread.Usage{}
	}
	sum := u.Agents[agent]
	sum.Add(took)
	u.Agents[agent] = sum
}
