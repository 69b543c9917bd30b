package server

import (
	"context"
	"slices"
	"time"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

// LogEntry is an entry of a thread's log: what every entry has, and the one body
// that kind names. A message that the reader may not see has only seq, id, kind,
// prev and index; so has what an entry says of a call or a turn out of the reader's
// sight.
type LogEntry struct {
	Seq    int64       `json:"seq"`
	ID     string      `json:"id"`
	Kind   thread.Kind `json:"kind" doc:"message, cut, queued, approval, turn, rewind, reset, title or erase."`
	Time   time.Time   `json:"time,omitzero"`
	Key    string      `json:"key,omitempty"`
	Prev   int64       `json:"prev" doc:"Messages: the seq of the active message before it, 0 if none."`
	Index  *int64      `json:"index,omitempty" doc:"Messages: the place among the active ones."`
	Branch int64       `json:"branch,omitempty"`
	Undone bool        `json:"undone,omitempty" doc:"It is no active message any more, or never was."`

	Message  *thread.Message  `json:"message,omitempty"`
	Cut      *thread.Cut      `json:"cut,omitempty"`
	Queued   *thread.Queued   `json:"queued,omitempty"`
	Approval *thread.Approval `json:"approval,omitempty"`
	Turn     *thread.Turn     `json:"turn,omitempty"`
	Rewind   *thread.Rewind   `json:"rewind,omitempty"`
	Reset    *thread.Reset    `json:"reset,omitempty"`
	Title    *thread.Title    `json:"title,omitempty"`
	Erase    *thread.Erase    `json:"erase,omitempty"`
}

// seenBy is an entry as somebody of that name may see it.
func seenBy(e thread.Entry, undone bool, viewer string) LogEntry {
	out := stub(e, undone)
	hidden := e.Message != nil && !e.Message.VisibleTo(viewer) ||
		e.Queued != nil && e.Queued.Message != nil && !e.Queued.Message.VisibleTo(viewer)
	if hidden {
		return out
	}
	out.Time, out.Key, out.Branch = e.Time, e.Key, e.Branch
	out.Message, out.Queued, out.Approval, out.Turn = e.Message, e.Queued, e.Approval, e.Turn
	out.Rewind, out.Reset, out.Title, out.Erase = e.Rewind, e.Reset, e.Title, e.Erase
	out.Cut = cutSeenBy(e.Cut, viewer)
	return out
}

// stub is what everybody may see of an entry.
func stub(e thread.Entry, undone bool) LogEntry {
	out := LogEntry{Seq: e.Seq, ID: e.ID, Kind: e.Kind, Prev: e.Prev, Undone: undone}
	if e.Index != thread.NoIndex {
		out.Index = &e.Index
	}
	return out
}

// cutSeenBy is a cut without the messages in it that the viewer may not see.
func cutSeenBy(c *thread.Cut, viewer string) *thread.Cut {
	hidden := func(k thread.Kept) bool { return k.Message != nil && !k.Message.VisibleTo(viewer) }
	if c == nil || !slices.ContainsFunc(c.Kept, hidden) {
		return c
	}
	out := *c
	out.Kept = slices.DeleteFunc(slices.Clone(c.Kept), hidden)
	return &out
}

func (s *Server) getEntry(ctx context.Context, in *struct {
	InThread
	Seq int64 `path:"seq" minimum:"1"`
}) (*struct{ Body LogEntry }, error) {
	t, err := s.thread(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	e, undone, err := t.Entry(ctx, in.Seq)
	if err != nil {
		return nil, err
	}
	viewer := by(ctx).name
	hidden, err := aside(ctx, t, e, viewer)
	if err != nil {
		return nil, err
	}
	if hidden {
		return &struct{ Body LogEntry }{stub(e, undone)}, nil
	}
	return &struct{ Body LogEntry }{seenBy(e, undone, viewer)}, nil
}

func (s *Server) showOutline(ctx context.Context, in *InThread) (*struct{ Body skein.Outline }, error) {
	t, err := s.thread(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	o, err := t.Outline(ctx)
	return &struct{ Body skein.Outline }{o}, err
}

type nodesAnswer struct {
	Body struct {
		Items []thread.Node `json:"items" doc:"Those that are built, in their order."`
	}
}

func (s *Server) listNodes(ctx context.Context, in *struct {
	InThread
	Level int   `query:"level" minimum:"0" maximum:"40" doc:"0: lines of single messages, 1: of pairs, and so on."`
	From  int64 `query:"from" minimum:"0" doc:"The first message that the lines may begin with."`
	Count int64 `query:"count" default:"100" minimum:"1" maximum:"500"`
}) (*nodesAnswer, error) {
	t, err := s.thread(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	out := &nodesAnswer{}
	out.Body.Items, err = t.Nodes(ctx, in.Level, in.From, in.Count)
	if out.Body.Items == nil {
		out.Body.Items = []thread.Node{}
	}
	return out, err
}

func (s *Server) zoom(ctx context.Context, in *struct {
	InThread
	First int64 `query:"id" required:"true" minimum:"0" doc:"The line's first message."`
	N     int64 `query:"n" default:"1" minimum:"1" doc:"How many messages it stands for: a power of two."`
	Page  int   `query:"page" default:"1" minimum:"1" doc:"Of a single message that is long."`
}) (*struct{ Body skein.Zoomed }, error) {
	t, err := s.thread(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	z, err := t.Zoom(ctx, by(ctx).name, thread.Span{ID: in.First, N: in.N}, in.Page)
	return &struct{ Body skein.Zoomed }{z}, err
}

func (s *Server) read(ctx context.Context, in *struct {
	InThread
	First int64 `query:"id" required:"true" minimum:"0" doc:"The first message."`
	Count int64 `query:"count" default:"1" minimum:"1" maximum:"1000"`
}) (*struct{ Body skein.Reading }, error) {
	t, err := s.thread(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	r, err := t.Read(ctx, by(ctx).name, in.First, in.Count)
	return &struct{ Body skein.Reading }{r}, err
}

// Words is the part of a request that searches.
type Words struct {
	Query string `query:"q" required:"true" minLength:"1" maxLength:"1000" doc:"Words; a message may hold any of them."`
	Limit int    `query:"limit" default:"10" minimum:"1" maximum:"100" doc:"Hits."`
}

func (s *Server) search(ctx context.Context, in *struct {
	InThread
	Words
	Before   int  `query:"before" minimum:"0" maximum:"20" doc:"Lines before each hit."`
	After    int  `query:"after" minimum:"0" maximum:"20" doc:"Lines after each hit."`
	Inactive bool `query:"inactive" doc:"Undone messages too."`
}) (*struct{ Body skein.Results }, error) {
	t, err := s.thread(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	r, err := t.Search(ctx, by(ctx).name, skein.SearchQuery{Text: in.Query, Limit: in.Limit, Before: in.Before, After: in.After, Inactive: in.Inactive})
	return &struct{ Body skein.Results }{r}, err
}

// mostSearched is how many of the threads that were updated last are searched at
// once.
const mostSearched = 100

// FoundThread is a thread with what was found in it.
type FoundThread struct {
	Thread string        `json:"thread"`
	Title  string        `json:"title,omitempty"`
	Found  skein.Results `json:"found"`
}

type searchAllAnswer struct {
	Body struct {
		Items    []FoundThread `json:"items" doc:"Threads with hits, the one with the best first."`
		Searched int           `json:"searched" doc:"So many threads were looked through."`
		More     bool          `json:"more,omitempty" doc:"There are more threads, which were updated longer ago."`
	}
}

func (s *Server) searchAll(ctx context.Context, in *struct{ Words }) (*searchAllAnswer, error) {
	out := &searchAllAnswer{}
	out.Body.Items = []FoundThread{}
	p := by(ctx)
	for state, err := range s.cfg.Engine.Threads(ctx) {
		if err != nil {
			return nil, err
		}
		if !p.sees(state.ID) {
			continue
		}
		if out.Body.Searched == mostSearched {
			out.Body.More = true
			break
		}
		out.Body.Searched++
		t, err := s.thread(ctx, state.ID)
		if thread.CodeOf(err) == thread.NotFound {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		r, err := t.Search(ctx, p.name, skein.SearchQuery{Text: in.Query, Limit: in.Limit})
		if err != nil {
			return nil, err
		}
		if len(r.Hits) > 0 {
			out.Body.Items = append(out.Body.Items, FoundThread{state.ID, state.Title, r})
		}
	}
	slices.SortStableFunc(out.Body.Items, func(a, b FoundThread) int {
		switch x, y := a.Found.Hits[0].Score, b.Found.Hits[0].Score; {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	return out, nil
}
