package server

import "github.com/skeinhq/skein"

// Settings are what a client may set of a thread. The folder that its agents work in
// is none of it, whatever the token: that is of the machine that the server runs on.
type Settings struct {
	Agent    string `json:"agent,omitempty" maxLength:"200" doc:"Who answers; one of GET /v1/agents."`
	Model    string `json:"model,omitempty" maxLength:"200" doc:"Which model; default leaves it to the agent."`
	Strategy string `json:"strategy,omitempty" maxLength:"1000" doc:"How what is long is made shorter; default leaves it to the agent."`
	Tail     *Marks `json:"tail,omitempty" doc:"How much is sent whole."`
	Outline  *Marks `json:"outline,omitempty" doc:"How much the lines before that may weigh."`
	Zone     string `json:"zone,omitempty" maxLength:"100" doc:"Time zone, such as Europe/Berlin; default: UTC."`
}

// Marks are weights in tokens between which something is kept.
type Marks struct {
	Low  int `json:"low" minimum:"0"`
	High int `json:"high" minimum:"0"`
}

// given are the settings as the engine takes them; none are empty ones.
func (s *Settings) given() (out skein.Settings) {
	if s == nil {
		return out
	}
	out.Agent, out.Model, out.Strategy, out.Zone = s.Agent, s.Model, s.Strategy, s.Zone
	if s.Tail != nil {
		out.Tail.Low, out.Tail.High = s.Tail.Low, s.Tail.High
	}
	if s.Outline != nil {
		out.Outline.Low, out.Outline.High = s.Outline.Low, s.Outline.High
	}
	return out
}
