package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/muesli/cancelreader"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

// maxTyped is the most bytes of what is typed at once.
const maxTyped = skein.MaxText + 1

// typed is a line as it was typed; err says that there are no more.
type typed struct {
	text string
	err  error
}

// typist reads lines beside everything else. Nobody reads further ahead than the
// one line that is not taken yet.
type typist struct {
	lines chan typed
	over  chan struct{}
	done  chan struct{}
	in    cancelreader.CancelReader // nil where reading cannot be broken off
}

// listen begins to read lines. A line ends at a newline.
func listen(in io.Reader) *typist {
	t := &typist{lines: make(chan typed), over: make(chan struct{}), done: make(chan struct{})}
	if r, err := cancelreader.NewReader(in); err == nil {
		t.in, in = r, r
	} // else it is a file, of which reading never waits
	go t.read(bufio.NewReaderSize(in, 64<<10))
	return t
}

func (t *typist) read(r *bufio.Reader) {
	defer close(t.done)
	for {
		text, err := readLine(r)
		select {
		case t.lines <- typed{text, err}:
		case <-t.over:
			return
		}
		if err != nil {
			return
		}
	}
}

// close stops reading and waits until nobody does. Only what cannot be broken off,
// as reading from another program's pipe on some systems, is left behind: it ends
// with the process.
func (t *typist) close() error {
	close(t.over)
	if t.in == nil || t.in.Cancel() {
		<-t.done
	}
	if t.in == nil {
		return nil
	}
	return t.in.Close()
}

// readLine reads a line without its end, and no more of it than may be said.
func readLine(r *bufio.Reader) (string, error) {
	var b strings.Builder
	for {
		part, err := r.ReadSlice('\n')
		if b.Len()+len(part) > maxTyped {
			return "", tooMuchTyped()
		}
		b.Write(part)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return strings.TrimSuffix(strings.TrimSuffix(b.String(), "\n"), "\r"), err
	}
}

func tooMuchTyped() error {
	return &thread.Error{Code: thread.Invalid, Op: "chat", Message: fmt.Sprintf("a line has more than %d bytes", skein.MaxText), Hint: "say less at once"}
}
