package view

import (
	"encoding/json"
	"time"

	"github.com/skeinhq/skein/thread"
)

// What a window is bounded by.
const (
	DefaultTail = 50        // messages of a first snapshot
	MaxTail     = 500       // the most that may be asked for
	MaxBytes    = 4 << 20   // of a window's or a page's entries, as JSON
	MaxEntry    = 256 << 10 // of an entry, as JSON; longer ones have their long parts cut
	MaxQueued   = 16 << 10  // likewise, of a queued entry
)

// View is what a client holds of a thread.
type View struct {
	Thread  Thread  `json:"thread"`
	Head    *Head   `json:"head,omitempty"`  // the newest cut
	Entries []Entry `json:"entries"`         // the window: active messages with seq >= From, ascending
	From    int64   `json:"from"`            // seq where the window starts
	Before  int64   `json:"before"`          // seq of the active message before the window; 0: there is none
	Earlier bool    `json:"earlier"`         // Before is not 0
	Length  int64   `json:"length"`          // active messages of the thread
	Fresh   bool    `json:"fresh,omitempty"` // nothing that the client holds goes on here
	Docs    Docs    `json:"docs"`

	// N is the number of the batch that made the view; 0: none has.
	N int64 `json:"-"`
}

// Thread names the thread. Epoch is the incarnation of its log; Branch changes
// with every rewind and reset, and with nothing else.
type Thread struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Epoch  string `json:"epoch"`
	Branch int64  `json:"branch"`
}

// Head is the newest cut: where the model's whole messages start. It takes
// nothing from a person's screen.
type Head struct {
	Seq      int64  `json:"seq"`
	Number   int64  `json:"number"`
	Strategy string `json:"strategy"`
	Boundary int64  `json:"boundary"`          // index of the first message that the model gets whole
	Lines    int    `json:"lines,omitempty"`   // of the outline before it
	Summary  string `json:"summary,omitempty"` // the text that stands for what is before it
}

// Entry is one message of a thread. Seq, ID, Prev and Index are always there;
// of a message that the viewer may not see, and of one that was erased, nothing
// else is.
type Entry struct {
	Seq     int64           `json:"seq"`
	ID      string          `json:"id"`
	Prev    int64           `json:"prev"`  // seq of the active message before it, 0: it is the first
	Index   int64           `json:"index"` // its leaf number
	Time    time.Time       `json:"time,omitzero"`
	Key     string          `json:"key,omitempty"` // the client's key
	Message *thread.Message `json:"message,omitempty"`
	More    bool            `json:"more,omitempty"`   // long parts were cut: read it by seq for the whole
	Undone  bool            `json:"undone,omitempty"` // on pages that ask for undone messages: it is one
	Past    bool            `json:"past,omitempty"`   // on pages: it lies before a reset
}

// Docs are the documents beside the messages.
type Docs struct {
	Live     *Live             `json:"live"` // null: nothing is being made
	Agent    Agent             `json:"agent"`
	Inbox    []Queued          `json:"inbox"`
	Provider map[string]Cached `json:"provider"` // by agent
	Usage    Usage             `json:"usage"`
}

// Live is the answer being made, and what runs for it. It is volatile: it
// changes between commits, and the commit of the answer clears it.
type Live struct {
	ID       string    `json:"id"` // the entry that the answer will have; empty: none has begun
	Author   string    `json:"author"`
	Turn     int64     `json:"turn"` // seq of the turn's first entry
	Text     string    `json:"text"`
	Thinking string    `json:"thinking"`
	Tools    []Running `json:"tools"`             // calls that run, in the order of their start
	Retries  int       `json:"retries,omitempty"` // of this answer
	Retry    string    `json:"retry,omitempty"`   // why the newest was made
	Compact  string    `json:"compact,omitempty"` // the strategy that acted, or why none could
}

// Running is a call that runs, with the tail of what it has put out.
type Running struct {
	Call   string          `json:"call"` // its id
	Name   string          `json:"name"`
	Input  json.RawMessage `json:"input,omitempty"`
	Output string          `json:"output"`
}

// Agent is who answers in the thread and how it stands.
type Agent struct {
	Name    string        `json:"name"`
	Model   string        `json:"model"`
	Tools   []string      `json:"tools"`
	Skills  []string      `json:"skills"`          // loaded
	Waiting []Asked       `json:"waiting"`         // calls that wait for an approval
	Backlog int64         `json:"backlog"`         // lines that are due and not built
	Turn    int64         `json:"turn"`            // seq of the open turn's first entry; 0: none is open. With calls waiting it is parked
	Error   *thread.Error `json:"error,omitempty"` // of the newest turn, if it failed
}

// Asked is a call that waits for somebody to allow or deny it.
type Asked struct {
	ID       string          `json:"id"`   // of the entry that asks: it names this question and no other
	Seq      int64           `json:"seq"`  // of the same
	Call     string          `json:"call"` // the call's id, which a model may use again
	Agent    string          `json:"agent"`
	Tool     string          `json:"tool"`
	Input    json.RawMessage `json:"input,omitempty"`
	Question string          `json:"question"`
	Reason   string          `json:"reason,omitempty"` // of the rule that asks
}

// Queued is something said while a turn runs, not placed yet.
type Queued struct {
	Seq     int64           `json:"seq"`
	ID      string          `json:"id"`
	Time    time.Time       `json:"time,omitzero"`
	Key     string          `json:"key,omitempty"`
	When    string          `json:"when,omitempty"`
	Message *thread.Message `json:"message,omitempty"` // absent where the viewer may not see it
	More    bool            `json:"more,omitempty"`
}

// Cached is the identity of what a provider may hold in its cache for an agent
// in this thread: the agent's newest request.
type Cached struct {
	Number     int64  `json:"number"`
	Cut        int64  `json:"cut,omitempty"`
	Definition string `json:"definition,omitempty"`
	Hash       string `json:"hash"`
	Tokens     int    `json:"tokens"`
	Same       int    `json:"same"` // of those, the same prefix as the request before
}

// Usage is what the thread's requests took, as billed, undone ones included.
type Usage struct {
	Requests int64        `json:"requests"`
	Turns    thread.Usage `json:"turns"`    // answers
	Summary  thread.Usage `json:"summary"`  // summaries that strategies had written
	Lines    thread.Usage `json:"lines"`    // lines of the outline
	Tokens   int64        `json:"tokens"`   // of all of them, in and out
	Cost     float64      `json:"cost"`     // US dollars
	CacheHit float64      `json:"cacheHit"` // the part of the input that came from a cache, 0 to 1
}

// Page is a piece of the thread's history.
type Page struct {
	Items  []Entry `json:"items"` // in the order asked for
	Next   string  `json:"next,omitempty"`
	Epoch  string  `json:"epoch"`
	Branch int64   `json:"branch"`

	// Tag changes whenever the page may: for an ETag.
	Tag string `json:"-"`
}
