package server

import (
	"container/list"
	"context"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// attachment is a blob of a message. Its bytes were put before, with the same
// token, or stand in a message of the thread that its holder may see.
type attachment struct {
	Hash string `json:"hash" pattern:"^[0-9a-f]{64}$" doc:"SHA-256 of the bytes, in lower-case hex."`
	Name string `json:"name,omitempty" maxLength:"255" doc:"The file's name."`
}

// uploads remember who has shown which bytes: knowing a hash alone opens nothing.
// The oldest are forgotten; then the bytes must be put again.
type uploads struct {
	mu    sync.Mutex
	seen  map[upOf]*list.Element
	order list.List // of upOf, the newest in front
}

type upOf struct{ person, thread, hash string }

const mostUploads = 20_000

func (u *uploads) add(o upOf) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.seen == nil {
		u.seen = map[upOf]*list.Element{}
	}
	if e, ok := u.seen[o]; ok {
		u.order.MoveToFront(e)
		return
	}
	u.seen[o] = u.order.PushFront(o)
	if u.order.Len() > mostUploads {
		last := u.order.Back()
		u.order.Remove(last)
		delete(u.seen, last.Value.(upOf))
	}
}

func (u *uploads) has(o upOf) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	_, ok := u.seen[o]
	return ok
}

// BlobPath is the part of a request that names bytes beside a thread.
type BlobPath struct {
	InThread
	SHA256 string `path:"sha256" pattern:"^[0-9a-f]{64}$" doc:"SHA-256 of the bytes, in lower-case hex."`
}

func (s *Server) putBlob(ctx context.Context, in *struct {
	BlobPath
	Name        string `query:"name" maxLength:"255" doc:"The file's name."`
	ContentType string `header:"Content-Type" maxLength:"255"`
	RawBody     []byte
}) (*struct{ Body thread.Part }, error) {
	t, err := s.thread(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if store.Hash(in.RawBody) != in.SHA256 {
		return nil, &thread.Error{Code: thread.Invalid, Op: "blob", Thread: in.ID, Message: "the bytes have another SHA-256 than the path", Hint: "the path ends in the hash of what is sent"}
	}
	kind, _, err := mime.ParseMediaType(in.ContentType)
	if err != nil {
		kind = "application/octet-stream"
	}
	part, err := t.PutBlob(ctx, in.Name, kind, slices.Clone(in.RawBody))
	if err != nil {
		return nil, err
	}
	s.uploads.add(upOf{by(ctx).key(), in.ID, in.SHA256})
	return &struct{ Body thread.Part }{part}, nil
}

// attach makes the part of a message that stands for bytes.
func (s *Server) attach(ctx context.Context, t *skein.Thread, a attachment) (thread.Part, error) {
	p := by(ctx)
	if !s.uploads.has(upOf{p.key(), t.ID(), a.Hash}) {
		if _, err := holding(ctx, t, p.name, a.Hash, 0); err != nil {
			return thread.Part{}, err
		}
	}
	kind, data, err := t.Blob(ctx, a.Hash)
	if err != nil {
		return thread.Part{}, err
	}
	return thread.Part{Type: thread.BlobPart, Name: a.Name, Hash: a.Hash, MediaType: kind, Size: int64(len(data))}, nil
}

// mostLooked is how many messages are looked through for a blob whose message is
// not named.
const mostLooked = 20_000

// holding gives the part of a message that holds the bytes and that the viewer may
// see: of the message at seq or, where that is 0, of the newest there is.
func holding(ctx context.Context, t *skein.Thread, viewer, hash string, seq int64) (*thread.Part, error) {
	none := &thread.Error{Code: thread.NotFound, Op: "blob", Thread: t.ID(), Message: "no message that you may see holds these bytes", Hint: "name the message with ?seq="}
	if seq != 0 {
		e, _, err := t.Entry(ctx, seq)
		if err != nil {
			return nil, none
		}
		if p := held(&e, viewer, hash); p != nil {
			return p, nil
		}
		return nil, none
	}
	q := store.EntriesQuery{Newest: true, Inactive: true, Limit: mostLooked, Kinds: []thread.Kind{thread.MessageKind, thread.QueuedKind}}
	for e, err := range t.Entries(ctx, q) {
		if err != nil {
			return nil, err
		}
		if p := held(&e, viewer, hash); p != nil {
			return p, nil
		}
	}
	return nil, none
}

func held(e *thread.Entry, viewer, hash string) *thread.Part {
	m := e.Message
	if e.Queued != nil {
		m = e.Queued.Message
	}
	if m == nil || !m.VisibleTo(viewer) {
		return nil
	}
	return blobAmong(m.Parts, hash)
}

// blobAmong finds a blob among parts and those of results.
func blobAmong(parts []thread.Part, hash string) *thread.Part {
	for i := range parts {
		if p := &parts[i]; p.Type == thread.BlobPart && p.Hash == hash {
			return p
		}
		if p := blobAmong(parts[i].Parts, hash); p != nil {
			return p
		}
	}
	return nil
}

// shown are the types that a browser may be told of: none of them is a program.
var shown = []string{"image/png", "image/jpeg", "image/gif", "image/webp", "audio/mpeg", "audio/ogg", "audio/wav", "video/mp4", "video/webm"}

// safeType is what a browser is told that bytes are.
func safeType(kind string) string {
	kind = strings.ToLower(kind)
	switch {
	case slices.Contains(shown, kind):
		return kind
	case kind == "text/plain":
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}

func (s *Server) getBlob(ctx context.Context, in *struct {
	BlobPath
	Conditional
	Seq int64 `query:"seq" minimum:"0" doc:"The message that holds them: it is found sooner. Default: the newest 20,000 are looked through."`
}) (*huma.StreamResponse, error) {
	t, err := s.thread(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	part, err := holding(ctx, t, by(ctx).name, in.SHA256, in.Seq)
	if err != nil {
		return nil, err
	}
	return raw(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("ETag", `"`+in.SHA256+`"`)
		h.Set("Cache-Control", "private, no-cache")
		if in.holds(`"` + in.SHA256 + `"`) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		leave, ok := s.fly(w, r, part.Size)
		if !ok {
			return
		}
		defer leave()
		kind, data, err := t.Blob(r.Context(), in.SHA256)
		if err != nil {
			h.Del("ETag")
			s.fail(w, r, err)
			return
		}
		if part.MediaType != "" {
			kind = part.MediaType
		}
		h.Set("Content-Type", safeType(kind))
		h.Set("Content-Length", strconv.Itoa(len(data)))
		h.Set("Content-Disposition", disposition(part.Name))
		s.depart(w, data)
	}), nil
}

// disposition has a browser save a file under its name, or under none where that
// cannot be written.
func disposition(name string) string {
	if d := mime.FormatMediaType("attachment", map[string]string{"filename": name}); name != "" && d != "" {
		return d
	}
	return "attachment"
}
