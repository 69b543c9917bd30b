package line

import "github.com/skeinhq/skein/thread"

// What a model is asked for a line beside the line's own sources, in tokens, as
// callNodes lines share a call: its instructions, the lines before, the framing.
const (
	sharedTokens = 1200
	entryTokens  = 20
	lineTokens   = thread.LineBytes / 4
)

// Estimate is about what lines would take if a model wrote them.
type Estimate struct {
	Lines  int   `json:"lines"`
	Calls  int   `json:"calls"`
	Input  int64 `json:"input"` // tokens
	Output int64 `json:"output"`
}

// AddLeaf adds the line of a message.
func (e *Estimate) AddLeaf(m *thread.Message) {
	e.add(thread.Weight(Clip(Leaf(m), callBytes)))
}

// AddMerge adds a line above two others: it is made from those, and a model is
// shown the four below them.
func (e *Estimate) AddMerge() { e.add(6 * lineTokens) }

func (e *Estimate) add(sources int) {
	e.Lines++
	e.Calls = (e.Lines + callNodes - 1) / callNodes
	e.Input += int64(sources + entryTokens + sharedTokens/callNodes)
	e.Output += lineTokens
}
