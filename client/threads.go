package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/skeinhq/skein/thread"
)

// NewThread says how to make a thread. All of it may be left out.
type NewThread struct {
	ID       string          `json:"id,omitempty"` // letters, digits, dots, dashes, underscores; default: a UUID
	Title    string          `json:"title,omitempty"`
	Meta     json.RawMessage `json:"meta,omitempty"` // any JSON, at most 64 KB
	Settings *Settings       `json:"settings,omitempty"`
}

// Settings are what is given for a thread, and stay. What is zero is not set.
type Settings struct {
	Agent    string `json:"agent,omitempty"`
	Model    string `json:"model,omitempty"`
	Strategy string `json:"strategy,omitempty"`
	Tail     *Marks `json:"tail,omitempty"`
	Outline  *Marks `json:"outline,omitempty"`
	Zone     string `json:"zone,omitempty"` // an IANA name
}

// Marks are weights in tokens between which something is kept.
type Marks struct {
	Low  int `json:"low"`
	High int `json:"high"`
}

// Change says what to change of a thread; nil stays as it is. A Meta of null
// removes what is there.
type Change struct {
	Title    *string         `json:"title,omitempty"`
	Meta     json.RawMessage `json:"meta,omitempty"`
	Settings *Settings       `json:"settings,omitempty"`
}

// Threads lists the threads that the token may see, the last updated first.
func (c *Client) Threads(ctx context.Context) iter.Seq2[thread.Thread, error] {
	return func(yield func(thread.Thread, error) bool) {
		query := url.Values{}
		for {
			page, err := call[struct {
				Items []thread.Thread `json:"items"`
				Next  string          `json:"next"`
			}](ctx, c, request{method: http.MethodGet, path: []string{"v1", "threads"}, query: query})
			if err != nil {
				yield(thread.Thread{}, err)
				return
			}
			for _, t := range page.Items {
				if !yield(t, nil) {
					return
				}
			}
			if page.Next == "" {
				return
			}
			query.Set("cursor", page.Next)
		}
	}
}

// Create makes a thread.
//
// Errors: invalid, conflict (there is one of that id), permission.
func (c *Client) Create(ctx context.Context, t NewThread) (thread.Thread, error) {
	return call[thread.Thread](ctx, c, request{method: http.MethodPost, path: []string{"v1", "threads"}, body: t})
}

// Thread reads a thread's state.
func (c *Client) Thread(ctx context.Context, id string) (thread.Thread, error) {
	return call[thread.Thread](ctx, c, request{method: http.MethodGet, path: in(id)})
}

// Change changes a thread's title, metadata or settings.
func (c *Client) Change(ctx context.Context, id string, what Change) (thread.Thread, error) {
	return call[thread.Thread](ctx, c, request{method: http.MethodPatch, path: in(id), body: what})
}

// Delete deletes a thread; it can be brought back within seven days.
func (c *Client) Delete(ctx context.Context, id string) error {
	return c.do(ctx, request{method: http.MethodDelete, path: in(id)})
}

// NewFork says what to fork. All of it may be left out.
type NewFork struct {
	Seq   int64  `json:"seq,omitempty"` // the last message that the fork sees; 0: the newest
	ID    string `json:"id,omitempty"`
	Title string `json:"title,omitempty"`
}

// Fork makes a thread that goes on from a message of this one.
func (c *Client) Fork(ctx context.Context, id string, f NewFork) (thread.Thread, error) {
	return call[thread.Thread](ctx, c, request{method: http.MethodPost, path: in(id, "fork"), body: f})
}

// Rewind undoes every message after the one at seq.
func (c *Client) Rewind(ctx context.Context, id string, seq int64) (thread.Thread, error) {
	return call[thread.Thread](ctx, c, request{method: http.MethodPost, path: in(id, "rewind"), body: map[string]int64{"seq": seq}})
}

// Reset undoes every message.
func (c *Client) Reset(ctx context.Context, id string) (thread.Thread, error) {
	return call[thread.Thread](ctx, c, request{method: http.MethodPost, path: in(id, "reset")})
}

// Agents lists the names of the server's agents; answers is the one who answers
// where a thread says nothing else.
func (c *Client) Agents(ctx context.Context) (names []string, answers string, err error) {
	out, err := call[struct {
		Items []struct {
			Name    string `json:"name"`
			Default bool   `json:"default"`
		} `json:"items"`
	}](ctx, c, request{method: http.MethodGet, path: []string{"v1", "agents"}})
	for _, a := range out.Items {
		names = append(names, a.Name)
		if a.Default {
			answers = a.Name
		}
	}
	return names, answers, err
}

// values makes a query of names and numbers or texts in turn; zero ones are left
// out.
func values(pairs ...any) url.Values {
	out := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		var text string
		switch v := pairs[i+1].(type) {
		case string:
			text = v
		case int:
			text = strconv.Itoa(v)
		case int64:
			text = strconv.FormatInt(v, 10)
		case bool:
			text = strconv.FormatBool(v)
		}
		if text != "" && text != "0" && text != "false" {
			out.Set(pairs[i].(string), text)
		}
	}
	return out
}
