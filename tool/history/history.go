// Package history gives an agent the way back: zoom, read and search over
// everything ever said in its thread. They read only, and see what the agent
// may see.
package history

import (
	"context"

	"github.com/skeinhq/skein/internal/recall"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

// Set is the name of the three tools together, as an agent's file may name
// them.
const Set = "history"

type zoomInput struct {
	ID   int64 `json:"id" jsonschema:"number of the line's first message: the id of id+n"`
	N    int64 `json:"n" jsonschema:"how many messages the line stands for: the n of id+n, a power of two; 1 opens the message itself"`
	Page int   `json:"page,omitempty" jsonschema:"page of a long message, from 1"`
}

type readInput struct {
	ID    int64 `json:"id" jsonschema:"number of the first message to read"`
	Count int64 `json:"count" jsonschema:"how many messages to read"`
}

type searchInput struct {
	Query  string `json:"query" jsonschema:"words to look for; the more of them a message holds, the better"`
	Limit  int    `json:"limit,omitempty" jsonschema:"the most hits; 10 if left out, at most 100"`
	Before int    `json:"before,omitempty" jsonschema:"lines to show before each hit"`
	After  int    `json:"after,omitempty" jsonschema:"lines to show after each hit"`
}

// Look says what a call looks at: the thread's state, and for whom. What only
// some may see is shown to no other viewer; the empty one sees what all may.
type Look func(context.Context) (t thread.Thread, viewer string, err error)

// Tools makes the tools of one thread.
func Tools(st store.Store, look Look) ([]tool.Tool, error) {
	zoom, err := tool.Make(tool.Tool{
		Name: thread.ZoomTool, ReadOnly: true,
		Description: "Opens a line id+n of the conversation's outline: for n greater than 1 it gives the two lines that the line was made from, for n = 1 message id itself, whole, in pages. Any line of the past opens, not only those you see.",
	}, func(ctx context.Context, in zoomInput) (string, error) {
		t, viewer, err := look(ctx)
		if err != nil {
			return "", err
		}
		z, err := recall.Zoom(ctx, st, &t, viewer, thread.Span{ID: in.ID, N: in.N}, in.Page)
		return z.String(), err
	})
	if err != nil {
		return nil, err
	}
	read, err := tool.Make(tool.Tool{
		Name: thread.ReadTool, ReadOnly: true,
		Description: "Reads messages of the conversation whole, from number id on. It says where to go on if they are too long for one answer.",
	}, func(ctx context.Context, in readInput) (string, error) {
		t, viewer, err := look(ctx)
		if err != nil {
			return "", err
		}
		r, err := recall.Read(ctx, st, &t, viewer, in.ID, in.Count)
		return r.String(), err
	})
	if err != nil {
		return nil, err
	}
	search, err := tool.Make(tool.Tool{
		Name: thread.SearchTool, ReadOnly: true,
		Description: "Searches everything ever said in the conversation, the best hits first. Each hit is a line id+1 with the words found; zoom(id, 1) opens the whole message.",
	}, func(ctx context.Context, in searchInput) (string, error) {
		t, viewer, err := look(ctx)
		if err != nil {
			return "", err
		}
		r, err := recall.Search(ctx, st, &t, viewer, recall.Query{Text: in.Query, Limit: in.Limit, Before: in.Before, After: in.After})
		return r.String(), err
	})
	return []tool.Tool{zoom, read, search}, err
}
