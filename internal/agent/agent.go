package agent

import (
	"time"

	"github.com/skeinhq/skein/internal/outline"
	"github.com/skeinhq/skein/internal/prompt"
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
	Model        string
	MaxOutput    int
	Thinking     string
	Tools        []string // names; nil: all that there are
	MaxAge       time.Duration
	Tail         outline.Marks
	Outline      outline.Marks
	MaxSteps     int // steps of a turn; 0: DefaultMaxSteps
}

// DefaultMaxSteps is how many steps a turn may have where nothing else is said.
const DefaultMaxSteps = 100

// BuiltIn is the agent that is there without any file.
func BuiltIn() Agent {
	return Agent{
		Name: North,
		Instructions: "You are north, a calm and exact assistant in a conversation that may go on for years. " +
			"Older messages reach you as one-line summaries; open them with the history tools before you rely on a detail. " +
			"Answer in the language you are spoken to, say plainly what you do not know, and keep answers as short as they can be.",
	}
}

// Definition is what of the agent its prompts are made from.
func (a Agent) Definition(modelName, zone string, tools []tool.Tool) prompt.Definition {
	return prompt.Definition{
		Agent:        a.Name,
		Model:        modelName,
		Instructions: a.Instructions,
		Tools:        tool.Told(tools),
		MaxAge:       a.MaxAge,
		MaxOutput:    a.MaxOutput,
		Thinking:     a.Thinking,
		Zone:         zone,
	}
}

// Settings are what was given for a thread: they are written to it and stay.
type Settings struct {
	Agent    string        `json:"agent,omitempty"`
	Model    string        `json:"model,omitempty"`
	Strategy string        `json:"strategy,omitempty"`
	Tail     outline.Marks `json:"tail,omitzero"`
	Outline  outline.Marks `json:"outline,omitzero"`
	Zone     string        `json:"zone,omitempty"` // an IANA name; empty: UTC
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
	Tokens   int64        `json:"tokens"`   // estimated, of all prompts
	Same     int64        `json:"same"`     // of those, the same prefix as the request before

	Last map[string]*thread.Request `json:"last,omitempty"` // each agent's newest
}
