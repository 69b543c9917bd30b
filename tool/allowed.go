package tool

// MaxAllowed is how many calls are remembered as allowed for a thread; beyond it
// the oldest are asked about again. A command line of more than MaxAllowedCommand
// bytes is not remembered.
const (
	MaxAllowed        = 1000
	MaxAllowedCommand = 1000
)

// Allowed is what people allowed for the whole thread, the newest last: the JSON
// of the document thread.AllowedDoc.
type Allowed []AllowedCall

// AllowedCall is a tool that need not be asked about again; of one that runs
// command lines, only that very line.
type AllowedCall struct {
	Tool    string `json:"tool"`
	Command string `json:"command,omitempty"`
}

// Has says whether a call of the tool that reaches r was allowed for the thread.
func (a Allowed) Has(t Tool, r Resources) bool {
	for _, c := range a {
		if c.Tool == t.Name && c.Command == r.Command {
			return true
		}
	}
	return false
}

// With gives the list with such calls allowed. It leaves a as it is.
func (a Allowed) With(t Tool, r Resources) Allowed {
	if a.Has(t, r) || len(r.Command) > MaxAllowedCommand {
		return a
	}
	out := append(Allowed(nil), a...)
	out = append(out, AllowedCall{Tool: t.Name, Command: r.Command})
	return out[max(len(out)-MaxAllowed, 0):]
}

// Without gives the list without what was allowed of the tool; with a command only
// that one. It leaves a as it is.
func (a Allowed) Without(tool, command string) Allowed {
	var out Allowed
	for _, c := range a {
		if c.Tool != tool || command != "" && c.Command != command {
			out = append(out, c)
		}
	}
	return out
}
