package skein

import (
	"context"
	"io"

	"github.com/skeinhq/skein/internal/agent"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/transcript"
)

// ImportReport says what became of a transcript: what was read of it, and how
// many of its messages are new to the thread.
type ImportReport struct {
	transcript.Report
	Added   int `json:"added"`
	Differs int `json:"differs,omitempty"` // in the thread already with other content, which stays
}

// importBatch is how many messages are written at once.
const importBatch = 256

// Import adds a transcript of another program to the thread, and cuts as it
// goes, so that the thread's prompt is small at once. Importing the same file
// again adds only what is new.
//
// Errors: invalid (no known format), conflict (a turn runs), storage. What was
// added before an error stays.
func (t *Thread) Import(ctx context.Context, src io.ReadSeeker, options transcript.Options) (ImportReport, error) {
	if options.Blob == nil {
		options.Blob = func(mediaType, name string, data []byte) (thread.Part, error) {
			return t.PutBlob(ctx, name, mediaType, data)
		}
	}
	r, err := transcript.Read(ctx, src, options)
	if err != nil {
		return ImportReport{}, err
	}
	report := ImportReport{}
	err = t.own(ctx, refuse, func(ctx context.Context, log *agent.Log) error {
		in := &importer{thread: t, log: log}
		for item, err := range r.Items() {
			if err != nil {
				return err
			}
			if err := in.add(ctx, item); err != nil {
				return err
			}
		}
		err := in.flush(ctx)
		report.Added, report.Differs = in.added, in.differs
		return err
	})
	report.Report = r.Report()
	return report, err
}

// importer writes items in batches.
type importer struct {
	thread  *Thread
	log     *agent.Log
	items   []transcript.Item
	added   int
	differs int
}

func (in *importer) add(ctx context.Context, item transcript.Item) error {
	in.items = append(in.items, item)
	if len(in.items) < importBatch {
		return nil
	}
	return in.flush(ctx)
}

// flush writes the batch, builds its lines and cuts. A batch in which a key is
// taken by other content is written item by item, since each may have an
// answer to that.
func (in *importer) flush(ctx context.Context) error {
	items := in.items
	in.items = nil
	if len(items) == 0 {
		return nil
	}
	draft := store.Draft{}
	for _, item := range items {
		draft.Entries = append(draft.Entries, agent.Compose(item.Entry))
	}
	err := in.append(ctx, draft)
	if thread.CodeOf(err) == thread.Conflict {
		err = in.oneByOne(ctx, items)
	}
	if err != nil {
		return err
	}
	c, err := in.thread.engine.castOf(ctx, in.log.Thread.Key)
	if err != nil {
		return err
	}
	if err := in.thread.engine.lines.Fill(ctx, &in.log.Thread, in.log.Thread.Length); err != nil {
		return err
	}
	return in.thread.engine.cut(ctx, in.log, c.marks)
}

func (in *importer) oneByOne(ctx context.Context, items []transcript.Item) error {
	for _, item := range items {
		err := in.append(ctx, store.Draft{Entries: []store.New{agent.Compose(item.Entry)}})
		if thread.CodeOf(err) == thread.Conflict {
			switch {
			case item.Made:
				err = nil
			case item.Late != nil:
				err = in.append(ctx, store.Draft{Entries: []store.New{agent.Compose(*item.Late)}})
			default:
				in.differs++
				err = nil
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (in *importer) append(ctx context.Context, d store.Draft) error {
	before := in.log.Thread.Tip
	w, err := in.log.Store.Append(ctx, in.log.Thread.Key, d)
	if err != nil {
		return err
	}
	in.log.Thread = w.Thread
	for _, e := range w.Entries {
		if e.Seq > before {
			in.added++
		}
	}
	in.thread.engine.committed(w, nil)
	return nil
}
