package store

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/skeinhq/skein/thread"
)

// Store is what keeps threads. Its methods may be called from many goroutines.
type Store interface {
	// Create makes an empty thread. The zero Root means the thread itself. It
	// fails with conflict where the id is taken in that space, by a thread that is
	// hidden too.
	Create(ctx context.Context, t NewThread) (thread.Thread, error)

	// Thread reads a thread's state; not-found where there is none. A deleted
	// thread is found, with Deleted set.
	Thread(ctx context.Context, space, id string) (thread.Thread, error)

	// Threads lists a space's threads, the last updated first.
	Threads(ctx context.Context, q ThreadsQuery) ([]thread.Thread, error)

	// Fork makes a thread that sees all of t's active past up to and with the
	// active message at index, by reference. It goes on at that message's seq + 1.
	// The settings document is copied.
	Fork(ctx context.Context, t *thread.Thread, index int64, id, title string) (thread.Thread, error)

	// SetMeta puts other metadata in the place of a thread's own; empty: none.
	SetMeta(ctx context.Context, key thread.Key, meta json.RawMessage) error

	// Delete hides a thread; Undelete shows it again; Purge removes for good what
	// was hidden before the given time and no fork still reaches, and says how
	// many threads that were.
	Delete(ctx context.Context, key thread.Key) error
	Undelete(ctx context.Context, key thread.Key) error
	Purge(ctx context.Context, before time.Time) (int, error)

	// Append writes entries that float or are said: messages, queued, approval,
	// title. It never conflicts with a turn. A message with QueueIfBusy becomes a
	// queued entry while a turn is open or others wait in the inbox.
	Append(ctx context.Context, key thread.Key, d Draft) (Written, error)

	// Commit writes what the owner of a turn may: any entries, nodes, documents.
	// It fails with conflict where an entry that does not float has followed
	// g.Tip, or where the lease's fence is not g.Fence (0: no lease is named, and
	// none may be held).
	Commit(ctx context.Context, key thread.Key, d Draft, g Guard) (Written, error)

	// PutNodes stores lines that were built, halves before what was made of them. The
	// first write of a node wins, and where it is another's, what was made of the one
	// that came too late is not stored; what joins of itself above them is made in
	// the same transaction; what is then ready above them becomes due. The result holds the nodes newly stored, joined
	// ones included. t says on which branches the spans lie.
	PutNodes(ctx context.Context, t *thread.Thread, nodes []thread.Node) ([]thread.Node, error)

	// PutDocs writes documents alone, guarded by nothing (live, usage of lines).
	PutDocs(ctx context.Context, key thread.Key, docs []thread.Doc) error

	// SwapDoc writes a document that was read as was, nil where there was none; d
	// without Data removes it. It fails with conflict, and writes nothing, where
	// somebody has changed it since: read it again, change that, and try again.
	SwapDoc(ctx context.Context, key thread.Key, d thread.Doc, was json.RawMessage) error

	// Entry reads one entry of t's log.
	Entry(ctx context.Context, t *thread.Thread, seq int64) (thread.Entry, error)

	// Entries reads t's log by seq, its origins' part included.
	Entries(ctx context.Context, t *thread.Thread, q EntriesQuery) iter.Seq2[thread.Entry, error]

	// Messages reads active messages by index, ascending: [from, to).
	Messages(ctx context.Context, t *thread.Thread, from, to int64) iter.Seq2[thread.Entry, error]

	// Nodes reads the nodes of those spans, in their order; those not built are
	// left out.
	Nodes(ctx context.Context, t *thread.Thread, spans []thread.Span) ([]thread.Node, error)

	// Due lists lines that are due and not built, oldest last message first, then
	// the lower level first. Only spans on t's active path are listed.
	Due(ctx context.Context, t *thread.Thread, limit int) ([]thread.Span, error)

	// DueThreads lists the threads of all spaces that have lines due.
	DueThreads(ctx context.Context, limit int) ([]thread.Key, error)

	// Doc reads a document; ok is false where there is none.
	Doc(ctx context.Context, key thread.Key, name string) (data json.RawMessage, ok bool, err error)

	// PutBlob keeps bytes, once per family of forks, under their SHA-256 (lower
	// case hex), which is returned. Blob reads them; not-found where there are none.
	// A store may refuse large ones with limit.
	PutBlob(ctx context.Context, key thread.Key, mediaType string, data []byte) (hash string, err error)
	Blob(ctx context.Context, key thread.Key, hash string) (mediaType string, data []byte, err error)

	// Search finds messages that hold any of the words, scored by BM25.
	Search(ctx context.Context, t *thread.Thread, q SearchQuery) (Found, error)

	// Acquire takes or renews the lease on the thread's turn for ttl by the store's
	// clock. Where somebody else holds it, it fails with conflict, and Details of
	// the error is that thread.Lease. A new owner gets a higher fence than any
	// before. Release gives it up; parked says that the turn waits for an approval.
	Acquire(ctx context.Context, key thread.Key, owner string, ttl time.Duration) (thread.Lease, error)
	Release(ctx context.Context, key thread.Key, fence int64, parked bool) error

	// PutToken keeps an access token; conflict where a live one of its space has its
	// name, or any its id or hash. Tokens lists a space's, the oldest first, revoked
	// ones too. Token gives the one with that hash, revoked or not; not-found where
	// there is none.
	PutToken(ctx context.Context, t Token) error
	Tokens(ctx context.Context, space string) ([]Token, error)
	Token(ctx context.Context, space, hash string) (Token, error)

	// UseToken notes that a token was used now, RevokeToken that it is good for
	// nothing from now on, by the store's clock; not-found where there is none. One
	// that was revoked before stays as it is.
	UseToken(ctx context.Context, space, id string) error
	RevokeToken(ctx context.Context, space, id string) error

	// Changed gives a value that differs from the one before where another process
	// has written to the store in between.
	Changed(ctx context.Context) (int64, error)

	// Check streams every violation it finds. A clean store yields nothing.
	Check(ctx context.Context) iter.Seq[error]

	// Close waits for what is being written. Later calls fail.
	Close() error
}

// NewThread is what a thread is made from.
type NewThread struct {
	thread.Key
	Title string
	Meta  json.RawMessage
	Docs  []thread.Doc
}

// ThreadsQuery says which threads to list. The zero Limit means 100. Before and
// BeforeID are Updated and ID of the last one seen.
type ThreadsQuery struct {
	Space    string
	Limit    int
	Before   time.Time
	BeforeID string
	Deleted  bool // list the hidden ones instead
}

// Draft is what one write adds. Either all of it becomes durable or none.
//
// An entry whose client key is in the log already, the origins' part included,
// is not written again: the first one is the answer, if it says the same, else
// the draft fails with conflict. Since drafts are atomic, one all of whose keys
// are there was written before, whole: then nothing is, documents neither, and
// Written.Entries holds those with a key alone. What a key stands for is author,
// addressees, audience, role, parts and meta of a message, queued or not, and
// the body of anything else. Keys are checked before the guard.
//
// Message.Turn and Turn.Turn may be -1 after a begun entry of the same draft:
// they become its seq.
type Draft struct {
	Entries []New
	Docs    []thread.Doc
}

// New is an entry to be written. Its ID and Time are kept where set, else the
// store gives them; times that it gives never go back within a thread. An entry
// of more than 32 MB fails with limit.
type New struct {
	thread.Entry

	// Line is the message's own line where it is short enough to be one; empty
	// makes its line due. It is kept with the entry as a node by thread.ByVerbatim.
	Line string

	QueueIfBusy bool   // see Store.Append
	When        string // what Queued.When becomes where it is queued
	Inactive    bool   // a message that never gets an index (interrupted answers)
}

// Guard is what a commit rests on.
type Guard struct {
	Tip   int64
	Fence int64
}

// Written is what a write made: the entries as they stand in the log (for one
// whose key was there already, the first), and the state after it. Nodes are
// those made in the same transaction, verbatim and joined. Fresh is false where
// every entry was there already.
type Written struct {
	Thread  thread.Thread
	Entries []thread.Entry
	Nodes   []thread.Node
	Fresh   bool
}

// EntriesQuery says which entries to read. After and Before are exclusive; 0
// means no bound. The zero Limit means no limit. Kinds nil means all.
type EntriesQuery struct {
	After, Before int64
	Limit         int
	Newest        bool // newest first
	Kinds         []thread.Kind
	Inactive      bool // undone messages too; else messages are only the active ones
}

// SearchQuery asks for the messages that hold any of the words, which are terms
// as internal/word makes them. At most the newest Limit matches are scored (0: 10,000).
type SearchQuery struct {
	Words    []string
	Limit    int
	Inactive bool
}

// Found is what a search found, unordered. Capped says that there were more.
type Found struct {
	Matches []Match
	Capped  bool
}

// Match is one message and its score; a higher one is better.
type Match struct {
	Seq    int64
	Index  int64 // NoIndex where it is not active
	Role   thread.Role
	Author string
	Score  float64
}
