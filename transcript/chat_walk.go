package transcript

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// chatWalk goes through a body one field and one message at a time.
type chatWalk struct {
	ctx     context.Context // nil: none
	dec     *json.Decoder
	setting func(name string, value json.RawMessage) error
	message func(raw json.RawMessage) error
	torn    bool // the body ended inside the messages
}

// source walks through a reader's whole source. What is wrong with its syntax is
// broken: nothing says where the next message begins, so the walk ends there.
func (w *chatWalk) source(r *Reader) (broken, fatal error) {
	if err := r.rewind(); err != nil {
		return nil, err
	}
	src := &watched{src: r.src}
	in := bufio.NewReaderSize(src, 256<<10)
	if head, _ := in.Peek(len(utf8BOM)); bytes.Equal(head, utf8BOM) {
		_, _ = in.Discard(len(utf8BOM)) // they were there
	}
	w.dec = json.NewDecoder(in)
	broken, fatal = w.body()
	if src.err != nil {
		return nil, failed(src.err)
	}
	return broken, fatal
}

// watched remembers what its source failed with, which a JSON decoder would
// report like bad syntax.
type watched struct {
	src io.Reader
	err error
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.src.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}

func (w *chatWalk) body() (broken, fatal error) {
	begin, err := w.dec.Token()
	if err != nil {
		return err, nil
	}
	switch begin {
	case json.Delim('['):
		broken, fatal = w.messages()
	case json.Delim('{'):
		broken, fatal = w.fields()
	default:
		return fmt.Errorf("neither an object nor a list"), nil
	}
	return broken, fatal
}

func (w *chatWalk) fields() (broken, fatal error) {
	for w.dec.More() {
		name, err := w.dec.Token()
		if err != nil {
			return err, nil
		}
		if name == "messages" {
			broken, fatal = w.list()
		} else {
			broken, fatal = w.value(func(raw json.RawMessage) error { return w.setting(name.(string), raw) })
		}
		if broken != nil || fatal != nil {
			return broken, fatal
		}
	}
	_, err := w.dec.Token()
	return err, nil
}

func (w *chatWalk) list() (broken, fatal error) {
	begin, err := w.dec.Token()
	if err != nil {
		return err, nil
	}
	if begin != json.Delim('[') {
		return fmt.Errorf("its messages are no list"), nil
	}
	return w.messages()
}

func (w *chatWalk) messages() (broken, fatal error) {
	for w.dec.More() {
		if broken, fatal = w.value(w.message); broken != nil || fatal != nil {
			w.torn = true
			return broken, fatal
		}
	}
	_, err := w.dec.Token()
	return err, nil
}

// value reads one whole value, which is as much as is ever held, and mends
// broken UTF-8 in it.
func (w *chatWalk) value(do func(json.RawMessage) error) (broken, fatal error) {
	if w.ctx != nil && w.ctx.Err() != nil {
		return nil, w.ctx.Err()
	}
	var raw json.RawMessage
	if err := w.dec.Decode(&raw); err != nil {
		return err, nil
	}
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	return nil, do(raw)
}
