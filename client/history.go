package client

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// PageQuery says which messages a page holds: those with Before > seq > After, the
// newest first, at most Limit (0: 50; at most 200) and at most 4 MiB. Cursor goes on
// where another page of the same thread ended.
type PageQuery struct {
	Before, After int64
	Limit         int
	Order         string // "asc": the oldest first
	Cursor        string
	Inactive      bool // undone messages too
}

// Page reads a page of a thread's messages.
func (c *Client) Page(ctx context.Context, id string, q PageQuery) (view.Page, error) {
	query := values("before", q.Before, "after", q.After, "limit", q.Limit, "order", q.Order, "cursor", q.Cursor, "inactive", q.Inactive)
	return call[view.Page](ctx, c, request{method: http.MethodGet, path: in(id, "entries"), query: query})
}

// Entry reads one entry of the log, whole.
func (c *Client) Entry(ctx context.Context, id string, seq int64) (thread.Entry, error) {
	return call[thread.Entry](ctx, c, request{method: http.MethodGet, path: in(id, "entries", strconv.FormatInt(seq, 10))})
}

// Outline is a thread's outline with the state of its tail.
type Outline struct {
	Thread   string        `json:"thread"`
	Messages int64         `json:"messages"` // active ones
	Boundary int64         `json:"boundary"` // index of the first message that the model gets whole
	Cut      int64         `json:"cut"`      // number of the cut in force, 0 before the first
	Lines    []OutlineLine `json:"lines"`
	Tail     Tail          `json:"tail"`
	Backlog  int64         `json:"backlog"` // lines that are due and not built
	Error    string        `json:"error,omitempty"`
	Strategy string        `json:"strategy,omitempty"` // where it is not the outline alone
}

// OutlineLine is one line of an outline: of N messages from ID on.
type OutlineLine struct {
	ID   int64  `json:"id"`
	N    int64  `json:"n"`
	Text string `json:"text"`
}

// Tail is the whole messages' start, their weight and the marks, in tokens.
type Tail struct {
	From   int64 `json:"from"`
	Weight int   `json:"weight"`
	Low    int   `json:"low"`
	High   int   `json:"high"`
}

// Outline reads a thread's outline.
func (c *Client) Outline(ctx context.Context, id string) (Outline, error) {
	return call[Outline](ctx, c, request{method: http.MethodGet, path: in(id, "outline")})
}

// Line is one line. Where nobody has written it yet, Missing is set.
type Line struct {
	Span    thread.Span `json:"span"`
	Text    string      `json:"text"`
	Missing bool        `json:"missing,omitempty"`
}

// Reading is a page of a message, from 1.
type Reading struct {
	ID     int64       `json:"id"`
	Seq    int64       `json:"seq"`
	Author string      `json:"author,omitempty"`
	To     []string    `json:"to,omitempty"`
	Role   thread.Role `json:"role,omitempty"`
	Time   time.Time   `json:"time"`
	Text   string      `json:"text"`
	Page   int         `json:"page"`
	Pages  int         `json:"pages"`
}

// Zoomed is what a line opens to: the two lines it was made from or, of a single
// message, a page of it.
type Zoomed struct {
	Span    thread.Span `json:"span"`
	Lines   []Line      `json:"lines,omitempty"`
	Message *Reading    `json:"message,omitempty"`
}

// Zoom opens a line; page is of a long message, 0: the first.
//
// Errors: not-found (no such line).
func (c *Client) Zoom(ctx context.Context, id string, span thread.Span, page int) (Zoomed, error) {
	query := values("n", span.N, "page", page)
	query.Set("id", strconv.FormatInt(span.ID, 10))
	return call[Zoomed](ctx, c, request{method: http.MethodGet, path: in(id, "zoom"), query: query})
}

// Read reads count messages whole from the one of that index on, as many as fit;
// next is the first that did not, 0 where all did.
func (c *Client) Read(ctx context.Context, id string, index, count int64) (messages []Reading, next int64, err error) {
	query := values("count", count)
	query.Set("id", strconv.FormatInt(index, 10))
	out, err := call[struct {
		Messages []Reading `json:"messages"`
		Next     int64     `json:"next"`
	}](ctx, c, request{method: http.MethodGet, path: in(id, "read"), query: query})
	return out.Messages, out.Next, err
}

// SearchQuery says what to look for. The zero values of its numbers are the
// server's defaults.
type SearchQuery struct {
	Text          string
	Limit         int  // hits
	Before, After int  // lines around each
	Inactive      bool // undone messages too
}

// Results are what was found, the best first.
type Results struct {
	Words  []string `json:"words"` // what was looked for
	Hits   []Hit    `json:"hits"`
	Capped int      `json:"capped,omitempty"` // only so many of the newest matches were ranked
}

// Hit is one message that was found, as one line. ID is -1 of one that was undone.
type Hit struct {
	ID     int64           `json:"id"`
	Seq    int64           `json:"seq"`
	Text   string          `json:"text"`
	Marks  json.RawMessage `json:"marks"` // where in Text the words stand, in bytes
	Score  float64         `json:"score"`
	Before []Line          `json:"before,omitempty"`
	After  []Line          `json:"after,omitempty"`
}

// Search searches a thread.
func (c *Client) Search(ctx context.Context, id string, q SearchQuery) (Results, error) {
	query := values("q", q.Text, "limit", q.Limit, "before", q.Before, "after", q.After, "inactive", q.Inactive)
	return call[Results](ctx, c, request{method: http.MethodGet, path: in(id, "search"), query: query})
}

// Found is what one thread has of what was looked for in all.
type Found struct {
	Thread string  `json:"thread"`
	Title  string  `json:"title,omitempty"`
	Found  Results `json:"found"`
}

// SearchAll searches the threads that were updated last.
func (c *Client) SearchAll(ctx context.Context, text string, limit int) ([]Found, error) {
	out, err := call[struct {
		Items []Found `json:"items"`
	}](ctx, c, request{method: http.MethodGet, path: []string{"v1", "search"}, query: values("q", text, "limit", limit)})
	return out.Items, err
}

// Prompt gives what an agent would be sent now, as the server writes it: sections,
// tokens, marks, ledger. An empty name means whoever would answer; at is the seq of
// an answer, for what that was made from.
func (c *Client) Prompt(ctx context.Context, id, agent string, at int64) (json.RawMessage, error) {
	return call[json.RawMessage](ctx, c, request{method: http.MethodGet, path: in(id, "prompt"), query: values("agent", agent, "at", at)})
}

// Usage is what a thread's requests took.
type Usage struct {
	Requests int64                   `json:"requests"` // undone ones included
	Turns    thread.Usage            `json:"turns"`    // answers
	Lines    thread.Usage            `json:"lines"`    // lines that a model wrote
	Summary  thread.Usage            `json:"summary"`  // summaries
	Tokens   int64                   `json:"tokens"`   // estimated, of all prompts
	Same     int64                   `json:"same"`     // of those, the same prefix as the request before
	Agents   map[string]thread.Usage `json:"agents,omitempty"`
}

// Usage reads what a thread's requests took.
func (c *Client) Usage(ctx context.Context, id string) (Usage, error) {
	return call[Usage](ctx, c, request{method: http.MethodGet, path: in(id, "usage")})
}
