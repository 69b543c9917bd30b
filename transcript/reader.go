package transcript

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/skeinhq/skein/thread"
)

// Options says how to name and keep what a transcript holds. The zero value is
// usable.
type Options struct {
	User  string // author of the user's messages where the source names none; default "user"
	Agent string // author of the assistant's; default "assistant"

	// Blob keeps an attachment and gives the part that stands for it. Where it is
	// nil, attachments stay raw parts, bytes and all. Its error ends the reading.
	Blob func(mediaType, name string, data []byte) (thread.Part, error)
}

// Item is one entry to append.
type Item struct {
	// Entry is a message with its key, and with its time where the source has one.
	Entry thread.Entry

	// Late and Made say what to do where Entry's key is taken by other content,
	// which can be of results only. Late is set for a result that the source has: an
	// earlier import, when the source was shorter, closed its call with an error
	// result; then Late is to be appended instead, a note under a key of its own.
	// Made says that Entry is such an error result: the call has a result already,
	// and nothing is to be appended.
	Late *thread.Entry
	Made bool
}

// format is one kind of transcript.
type format struct {
	name   string // in keys and in [Origin]; never changes
	title  string // for people
	detect func(head []byte) bool
	read   func(ctx context.Context, r *Reader, p *pairer) error
}

// formats is the table of all formats, asked in order.
var formats = []format{pi, chat}

// headBytes is how much of a source its format is known from.
const headBytes = 1 << 20

// Reader reads one transcript.
type Reader struct {
	ctx    context.Context
	src    io.ReadSeeker
	opts   Options
	format format
	report Report
}

// Read finds out which format src is in. It fails with invalid where it is none
// that Skein reads, and with storage where src cannot be read. The context ends
// the reading of the items too.
func Read(ctx context.Context, src io.ReadSeeker, opts Options) (*Reader, error) {
	if opts.User == "" {
		opts.User = "user"
	}
	if opts.Agent == "" {
		opts.Agent = "assistant"
	}
	if _, err := src.Seek(0, io.SeekStart); err != nil {
		return nil, failed(err)
	}
	head := make([]byte, headBytes)
	n, err := io.ReadFull(src, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, failed(err)
	}
	head = bytes.TrimPrefix(head[:n], utf8BOM)
	for _, f := range formats {
		if f.detect(head) {
			return &Reader{ctx: ctx, src: src, opts: opts, format: f, report: Report{Format: f.name}}, nil
		}
	}
	return nil, &thread.Error{Code: thread.Invalid, Op: "import", Message: "The transcript is in no format that Skein reads.", Hint: "it reads " + titles()}
}

func titles() string {
	var names []string
	for _, f := range formats {
		names = append(names, f.title)
	}
	return strings.Join(names, ", ")
}

// Format is the name of the source's format.
func (r *Reader) Format() string { return r.format.name }

// Items reads the source from its start. An error ends it: the context's, the
// source's or the one of [Options.Blob]. The report is begun anew.
func (r *Reader) Items() iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		r.report = Report{Format: r.format.name}
		p := &pairer{reader: r, emit: func(it Item) error {
			if !yield(it, nil) {
				return errStopped
			}
			return nil
		}}
		err := r.format.read(r.ctx, r, p)
		if err == nil {
			err = p.flush()
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(Item{}, err)
		}
	}
}

// Report says what became of the records read so far; it is complete once Items
// has ended.
func (r *Reader) Report() Report { return r.report.clone() }

// errStopped says that the consumer of the items has had enough.
var errStopped = errors.New("stopped")

var utf8BOM = []byte("\xef\xbb\xbf")

// rewind goes back to the source's start.
func (r *Reader) rewind() error {
	if _, err := r.src.Seek(0, io.SeekStart); err != nil {
		return failed(err)
	}
	return nil
}

func failed(err error) error {
	return &thread.Error{Code: thread.Storage, Op: "import", Message: "The transcript could not be read", Err: err}
}
