package server

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

// InThread is the part of a request that names a thread.
type InThread struct {
	ID string `path:"id" maxLength:"256" doc:"The thread's id."`
}

// thread opens the thread that a request names.
func (s *Server) thread(ctx context.Context, id string) (*skein.Thread, error) {
	return s.cfg.Engine.Thread(ctx, id)
}

// answer of a thread's state.
type threadAnswer struct{ Body thread.Thread }

// newThread is the body that makes a thread.
type newThread struct {
	ID       string          `json:"id,omitempty" maxLength:"64" doc:"Letters, digits, dots, dashes and underscores; default: a UUID."`
	Title    string          `json:"title,omitempty" maxLength:"1000"`
	Meta     json.RawMessage `json:"meta,omitempty" doc:"Any JSON, at most 64 KB."`
	Settings *Settings       `json:"settings,omitempty" doc:"They stay."`
}

func (s *Server) createThread(ctx context.Context, in *struct{ Body newThread }) (*threadAnswer, error) {
	b := in.Body
	if b.ID == "" {
		b.ID = uuid.Must(uuid.NewV7()).String()
	}
	if !by(ctx).sees(b.ID) {
		return nil, forbidden(write)
	}
	if err := checkThreadMeta(b.Meta); err != nil {
		return nil, err
	}
	t, err := s.cfg.Engine.Create(ctx, b.ID, b.Title, b.Settings.given())
	if err != nil {
		return nil, err
	}
	if len(b.Meta) > 0 {
		if err := t.SetMeta(ctx, b.Meta); err != nil {
			return nil, err
		}
	}
	return state(ctx, t)
}

func state(ctx context.Context, t *skein.Thread) (*threadAnswer, error) {
	st, err := t.State(ctx)
	return &threadAnswer{st}, err
}

func (s *Server) getThread(ctx context.Context, in *InThread) (*threadAnswer, error) {
	t, err := s.thread(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return state(ctx, t)
}

// threadChange is the body that changes a thread; what is absent stays.
type threadChange struct {
	Title    *string         `json:"title,omitempty" maxLength:"1000"`
	Meta     json.RawMessage `json:"meta,omitempty" doc:"In the place of what is there; null: none."`
	Settings *Settings       `json:"settings,omitempty" doc:"What is set in it is put over what is there."`
}

func (s *Server) changeThread(ctx context.Context, in *struct {
	InThread
	Body threadChange
}) (*threadAnswer, error) {
	t, err := s.thread(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if err := checkThreadMeta(in.Body.Meta); err != nil {
		return nil, err
	}
	if in.Body.Settings != nil {
		if err := t.Set(ctx, in.Body.Settings.given()); err != nil {
			return nil, err
		}
	}
	if m := in.Body.Meta; len(m) > 0 {
		if string(m) == "null" {
			m = nil
		}
		if err := t.SetMeta(ctx, m); err != nil {
			return nil, err
		}
	}
	if in.Body.Title != nil {
		if err := t.Title(ctx, *in.Body.Title, by(ctx).name); err != nil {
			return nil, err
		}
	}
	return state(ctx, t)
}

func (s *Server) deleteThread(ctx context.Context, in *InThread) (*struct{}, error) {
	t, err := s.thread(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return nil, t.Delete(ctx)
}

// listAnswer is a page of threads.
type listAnswer struct {
	Body struct {
		Items []thread.Thread `json:"items"`
		Next  string          `json:"next,omitempty" doc:"Where to go on; absent at the end."`
	}
}

func (s *Server) listThreads(ctx context.Context, in *struct {
	Limit  int    `query:"limit" default:"50" minimum:"1" maximum:"200"`
	Cursor string `query:"cursor" maxLength:"600" doc:"The next of the page before."`
}) (*listAnswer, error) {
	last, err := readCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	out := &listAnswer{}
	out.Body.Items = []thread.Thread{}
	p := by(ctx)
	if p.token != nil && p.token.Threads != nil {
		out.Body.Items, err = s.named(ctx, p.token.Threads)
		return out, err
	}
	page, err := s.cfg.Engine.ThreadsAfter(ctx, last, in.Limit+1)
	if err != nil {
		return nil, err
	}
	if len(page) > in.Limit {
		page = page[:in.Limit]
		out.Body.Next = cursorAfter(page[len(page)-1])
	}
	out.Body.Items = append(out.Body.Items, page...)
	return out, nil
}

// named gives the threads of a token that is good for some alone, all at once.
func (s *Server) named(ctx context.Context, ids []string) ([]thread.Thread, error) {
	out := []thread.Thread{}
	for _, id := range ids {
		t, err := s.thread(ctx, id)
		if thread.CodeOf(err) == thread.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		st, err := t.State(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, st)
	}
	slices.SortFunc(out, func(a, b thread.Thread) int { return b.Updated.Compare(a.Updated) })
	return out, nil
}

// A cursor is the last thread seen.
func cursorAfter(t thread.Thread) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(t.Updated.UnixMilli(), 10) + " " + t.ID))
}

func readCursor(c string) (t thread.Thread, err error) {
	if c == "" {
		return t, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(c)
	ms, id, ok := strings.Cut(string(text), " ")
	at, err2 := strconv.ParseInt(ms, 10, 64)
	if err != nil || err2 != nil || !ok {
		return t, &thread.Error{Code: thread.Invalid, Op: "cursor", Message: "the cursor is not one of this list", Hint: "begin again without it"}
	}
	t.Updated, t.ID = time.UnixMilli(at).UTC(), id
	return t, nil
}

func (s *Server) fork(ctx context.Context, in *struct {
	InThread
	Body struct {
		Seq   int64  `json:"seq,omitempty" minimum:"0" doc:"The last message that the fork sees; default: the newest."`
		ID    string `json:"id,omitempty" maxLength:"64" doc:"The fork's id; default: a UUID."`
		Title string `json:"title,omitempty" maxLength:"1000"`
	}
}) (*threadAnswer, error) {
	b := in.Body
	if b.ID == "" {
		b.ID = uuid.Must(uuid.NewV7()).String()
	}
	if !by(ctx).sees(b.ID) {
		return nil, forbidden(write)
	}
	t, err := s.thread(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	index, err := indexOf(ctx, t, b.Seq)
	if err != nil {
		return nil, err
	}
	f, err := t.Fork(ctx, index, b.ID, b.Title)
	if err != nil {
		return nil, err
	}
	return state(ctx, f)
}

// indexOf gives the index of the active message at seq; 0 means the newest.
func indexOf(ctx context.Context, t *skein.Thread, seq int64) (int64, error) {
	if seq == 0 {
		st, err := t.State(ctx)
		return st.Length - 1, err
	}
	e, undone, err := t.Entry(ctx, seq)
	if err != nil {
		return 0, err
	}
	if undone || !e.IsMessage() {
		return 0, &thread.Error{Code: thread.NotFound, Op: "message", Thread: t.ID(), Message: "entry " + strconv.FormatInt(seq, 10) + " is no active message", Hint: "list the entries to see which are"}
	}
	return e.Index, nil
}
