package chat

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/skeinhq/skein/model"
)

// events reads server-sent events.
type events struct {
	lines *bufio.Reader
}

func newEvents(r io.Reader) *events { return &events{bufio.NewReaderSize(r, 64<<10)} }

// next gives the data of the next event that has any. It ends with io.EOF, and
// gives with it what no empty line has ended: some servers close without one.
func (e *events) next() ([]byte, error) {
	var data []byte
	for {
		line, err := e.line()
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			if data != nil {
				data = append(data, '\n')
			}
			data = append(data, bytes.TrimPrefix(value, []byte(" "))...)
			if len(data) > model.MaxEvent {
				return nil, model.ErrTooMuch
			}
		}
		if errors.Is(err, io.EOF) || len(line) == 0 && len(data) > 0 {
			return data, err
		}
	}
}

// line reads a line without its end.
func (e *events) line() ([]byte, error) {
	var whole []byte
	for {
		piece, err := e.lines.ReadSlice('\n')
		whole = append(whole, piece...)
		if len(whole) > model.MaxEvent {
			return nil, model.ErrTooMuch
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(whole, "\r\n"), err
		}
	}
}
