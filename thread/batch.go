package thread

import "encoding/json"

// Doc is a named JSON document kept beside a thread's log: its settings, its
// usage, the answer being made. Empty Data removes it.
type Doc struct {
	Name string          `json:"name"`
	Data json.RawMessage `json:"data,omitempty"`
}

// The names of the documents.
const (
	SettingsDoc = "settings" // what was given for the thread and stays
	UsageDoc    = "usage"    // what answers took, and the newest requests
	LinesDoc    = "lines"    // what lines took that a model wrote
	LiveDoc     = "live"     // what was saved of the answer being made
	AllowedDoc  = "allowed"  // which calls were approved for the whole thread
	NotedDoc    = "noted"    // which compaction was tried in vain, so that it is not tried again
	ToolDoc     = "tool:"    // before the name under which a tool keeps its notes
	StopDoc     = "stop"     // which turn somebody in another process asked to stop
	PromiseDoc  = "promise"  // which message is to be answered, until a turn has begun
)

// Batch is what one commit made, published after it is durable. A batch that
// carries only Live or Events is the exception: it is of an answer still being
// made.
type Batch struct {
	Thread  Thread  `json:"thread"` // the state after the commit
	Entries []Entry `json:"entries,omitempty"`
	Nodes   []Node  `json:"nodes,omitempty"`
	Docs    []Doc   `json:"docs,omitempty"`
	Live    *Live   `json:"live,omitempty"`
	Events  []Event `json:"events,omitempty"` // what happened besides
}

// Live is a piece of an answer being made. ID is reserved from the first piece
// to the commit, whose entry has it.
type Live struct {
	ID       string `json:"id"`
	Author   string `json:"author,omitempty"`
	Type     string `json:"type"`             // text, thinking, call, output, retry
	Offset   int    `json:"offset,omitempty"` // bytes of the same type before this piece
	Text     string `json:"text,omitempty"`
	Call     *Part  `json:"call,omitempty"`
	Finished bool   `json:"finished,omitempty"`

	Audience []string `json:"audience,omitempty"` // as of a message: who may see the answer
}
