package thread

import (
	"encoding/json"
	"sort"
	"time"
)

// Key is where a thread lives: its space (tenant), the oldest thread of its
// fork family, and its own id. All that one transaction touches lies under one
// (Space, Root).
type Key struct {
	Space string `json:"space,omitempty"`
	Root  string `json:"root"`
	ID    string `json:"id"`
}

// Thread is the state of a thread as of one moment: what a reader needs to find
// anything in it, and a writer to go on. Its size does not depend on the
// thread's length.
type Thread struct {
	Key
	Title   string          `json:"title,omitempty"`
	Meta    json.RawMessage `json:"meta,omitempty"`
	Created time.Time       `json:"created"`
	Updated time.Time       `json:"updated"`
	Deleted time.Time       `json:"deleted,omitzero"` // hidden since; removed for good after a week
	Epoch   string          `json:"epoch"`            // this incarnation of the log

	Tip    int64 `json:"tip"`    // seq of the last entry
	Fixed  int64 `json:"fixed"`  // seq of the last entry that does not float (Kind.Floats)
	Last   int64 `json:"last"`   // seq of the newest active message, 0 if none
	Length int64 `json:"length"` // active messages; the next one's index
	Branch int64 `json:"branch"` // the branch that new messages go to

	// Segments says where the active messages lie, by ascending First. Lineage
	// says where the entries lie, by ascending Upto; the last is the thread
	// itself and has no end. A thread that was never rewound, reset or forked has
	// one of each.
	Segments []Segment `json:"segments"`
	Lineage  []Origin  `json:"lineage"`

	Cut  int64 `json:"cut"`  // seq of the cut in force, 0 if none
	Cuts int64 `json:"cuts"` // number of the last cut ever made

	Turn   int64   `json:"turn"`            // seq of the open turn's first entry, 0 if none runs or is parked
	Inbox  []int64 `json:"inbox,omitempty"` // seqs of the queued entries that no message has taken
	Parked bool    `json:"parked,omitempty"`

	Backlog int64 `json:"backlog"` // lines that are due and not built
	Indexed int64 `json:"indexed"` // entries up to this seq are in the search index

	Lease Lease `json:"lease,omitzero"`
}

// Segment says that from index First on, up to the next segment's First, the
// active messages lie in the thread Origin on its branch Branch.
type Segment struct {
	First  int64  `json:"first"`
	Origin string `json:"origin"`
	Branch int64  `json:"branch"`
}

// Origin says that entries up to seq Upto, from the one before's on, lie in the
// thread of that id. Upto is 0 for the thread itself.
type Origin struct {
	Thread string `json:"thread"`
	Upto   int64  `json:"upto,omitempty"`
}

// Lease says who may write the thread's turn. Fence grows with each owner.
type Lease struct {
	Owner string    `json:"owner,omitempty"`
	Fence int64     `json:"fence,omitempty"`
	Until time.Time `json:"until,omitzero"`
}

// Held says whether somebody owns the turn at that time.
func (l Lease) Held(now time.Time) bool { return l.Owner != "" && now.Before(l.Until) }

// SegmentAt gives the segment that holds the index, and the index after the
// segment's last, which for the newest segment is the thread's length.
func (t *Thread) SegmentAt(index int64) (s Segment, end int64) {
	i := sort.Search(len(t.Segments), func(i int) bool { return t.Segments[i].First > index })
	end = t.Length
	if i < len(t.Segments) {
		end = t.Segments[i].First
	}
	return t.Segments[i-1], end
}

// OriginAt gives the thread that holds the entry of that seq.
func (t *Thread) OriginAt(seq int64) string {
	i := sort.Search(len(t.Lineage), func(i int) bool {
		return t.Lineage[i].Upto == 0 || t.Lineage[i].Upto >= seq
	})
	return t.Lineage[i].Thread
}

// Active says whether the message at (origin, branch, index) is active.
func (t *Thread) Active(origin string, branch, index int64) bool {
	if index < 0 || index >= t.Length {
		return false
	}
	s, _ := t.SegmentAt(index)
	return s.Origin == origin && s.Branch == branch
}

// Rewound gives the segments of a thread that keeps its first n active messages
// and goes on in (origin, branch).
func (t *Thread) Rewound(n int64, origin string, branch int64) []Segment {
	var out []Segment
	for _, s := range t.Segments {
		if s.First < n {
			out = append(out, s)
		}
	}
	return append(out, Segment{First: n, Origin: origin, Branch: branch})
}

// LineageUpto gives the lineage of a fork, of that id, that sees the entries up
// to seq.
func (t *Thread) LineageUpto(seq int64, id string) []Origin {
	var out []Origin
	for _, o := range t.Lineage {
		if o.Upto != 0 && o.Upto < seq {
			out = append(out, o)
			continue
		}
		out = append(out, Origin{Thread: o.Thread, Upto: seq})
		break
	}
	return append(out, Origin{Thread: id})
}
