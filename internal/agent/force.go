package agent

// Source says whose word a choice is.
type Source string

// The sources, the strongest first.
const (
	ByThread  Source = "thread"
	ByAgent   Source = "agent" // the agent's file
	ByDefault Source = "default"
)

// Choice is what was chosen, and by whose word.
type Choice struct {
	Name string `json:"name"`
	By   Source `json:"by"`
}

// Force is what is in force in a thread: who answers, by which model, and which
// strategies choose what of the past is sent.
type Force struct {
	Agent    string `json:"agent"`
	Model    Choice `json:"model"`
	Strategy Choice `json:"strategy"` // names, joined by commas
}

// InForce gives what is in force under settings where that agent answers, and
// that model where nobody says another.
func (s Settings) InForce(a Agent, modelName string) Force {
	own := ""
	if len(a.Strategy) > 0 {
		own = a.Strategy.String()
	}
	return Force{
		Agent:    a.Name,
		Model:    chosen(s.Model, a.Model, modelName),
		Strategy: chosen(s.Strategy, own, OutlineStrategy),
	}
}

func chosen(byThread, byAgent, otherwise string) Choice {
	switch {
	case byThread != "":
		return Choice{byThread, ByThread}
	case byAgent != "":
		return Choice{byAgent, ByAgent}
	}
	return Choice{otherwise, ByDefault}
}

// Unset gives a setting back to the agent, where it stands for a model or a
// strategy.
const Unset = "default"
