package thread

import (
	"encoding/json"
	"time"
)

// EventType says what an [Event] tells.
type EventType string

// The types of events, with the fields that each sets besides Type, Time,
// Thread, Turn, Agent and Step.
const (
	ConversationEvent EventType = "conversation"        // Count: active messages
	InstructionsEvent EventType = "instructions-loaded" // Count
	WarningEvent      EventType = "warning"             // Reason
	SkillsEvent       EventType = "skills-loaded"       // Names
	StepEvent         EventType = "step"                // a step begins
	CutEvent          EventType = "cut"                 // Number, Strategy, Messages, Before, After, Boundary, Lines, Merged; Reason where none was made
	CompactionEvent   EventType = "compaction"          // Strategy, Messages
	LineEvent         EventType = "line"                // ID (id+n), By
	UsageEvent        EventType = "usage"               // Usage, Purpose, Model
	RequestEvent      EventType = "model-request"       // Model, Request; verbose
	ResponseEvent     EventType = "model-response"      // Model, Stop, Parts, Usage; verbose
	RetryEvent        EventType = "model-retry"         // Model, Reason
	ModelErrorEvent   EventType = "model-error"         // Model, Error
	TextDeltaEvent    EventType = "text-delta"          // ID, Text
	TextEvent         EventType = "text"                // ID, Text
	ReasoningEvent    EventType = "reasoning"           // ID, Text
	ToolEvent         EventType = "tool"                // Name, Input, CallID: the call is about to run
	DeniedEvent       EventType = "tool-denied"         // Name, CallID, Reason
	AskedEvent        EventType = "approval-requested"  // Name, Input, CallID, Reason, Text: the question
	DecidedEvent      EventType = "approval-decided"    // CallID, State, Scope, By, Reason
	OutputEvent       EventType = "tool-output"         // Name, CallID, Text
	ResultEvent       EventType = "tool-result"         // Name, CallID, IsError, Preview, Characters
	PreventedEvent    EventType = "stop-prevented"      // Reason: what keeps the turn going
	SteerEvent        EventType = "steer"               // Text, By
	FinishedEvent     EventType = "finished"            // Stop, Usage, Steps
	StoppedEvent      EventType = "stopped"             // Reason, Error, Usage, Steps
)

// Event is one thing that happened in a thread, for observers: terminals, logs,
// traces. Nothing rests on it: the log is the record.
type Event struct {
	Type   EventType `json:"type"`
	Time   time.Time `json:"time"`
	Thread string    `json:"thread"`
	Turn   int64     `json:"turn,omitempty"` // seq of the turn's first entry
	Agent  string    `json:"agent,omitempty"`
	Step   int       `json:"step,omitempty"` // of the turn, from 1

	ID     string          `json:"id,omitempty"` // of the entry, or the line's id+n
	Seq    int64           `json:"seq,omitempty"`
	Model  string          `json:"model,omitempty"`
	Name   string          `json:"name,omitempty"` // of a tool
	Names  []string        `json:"names,omitempty"`
	Count  int64           `json:"count,omitempty"`
	Input  json.RawMessage `json:"input,omitempty"`
	CallID string          `json:"callId,omitempty"`
	Text   string          `json:"text,omitempty"`
	Parts  []Part          `json:"parts,omitempty"`
	By     string          `json:"by,omitempty"`
	Reason string          `json:"reason,omitempty"`
	State  string          `json:"state,omitempty"`
	Scope  string          `json:"scope,omitempty"`

	IsError    bool   `json:"isError,omitempty"`
	Preview    string `json:"preview,omitempty"` // of a result: its first 200 characters
	Characters int    `json:"characters,omitempty"`

	Number   int64      `json:"number,omitempty"` // of a cut
	Strategy string     `json:"strategy,omitempty"`
	Messages int        `json:"messages,omitempty"` // that left or changed
	Before   *CutWeight `json:"before,omitempty"`
	After    *CutWeight `json:"after,omitempty"`
	Boundary int64      `json:"boundary,omitempty"`
	Lines    int        `json:"lines,omitempty"`
	Merged   int        `json:"merged,omitempty"` // lines of the outline before that are no longer in it

	Stop    Stop            `json:"stop,omitempty"`
	Steps   int             `json:"steps,omitempty"`
	Usage   *Usage          `json:"usage,omitempty"`
	Purpose string          `json:"purpose,omitempty"` // turn, summary or line
	Error   *Error          `json:"error,omitempty"`
	Request json.RawMessage `json:"request,omitempty"`
}
