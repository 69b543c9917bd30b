package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"time"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// Stream asks once and yields the answer as it comes.
func (m *Model) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Event, error] {
	return m.secrets.Guard(ctx, m.name, m.stream(ctx, r))
}

func (m *Model) stream(ctx context.Context, r *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		answered, err := m.send(ctx, r)
		if err != nil {
			yield(model.Event{}, err)
			return
		}
		defer answered.Body.Close()
		if answered.StatusCode != http.StatusOK {
			yield(model.Event{}, m.refused(ctx, r, answered))
			return
		}
		a := answer{provider: m.name, model: r.Model, number: r.Number}
		stream := newEvents(answered.Body)
		for {
			data, end := stream.next()
			if end != nil && !errors.Is(end, io.EOF) {
				yield(model.Event{}, model.BrokenOff(ctx, m.name, end))
				return
			}
			if string(data) == "[DONE]" {
				a.ended = true
				break
			}
			events, err := m.take(r, &a, data)
			if err != nil && errors.Is(end, io.EOF) {
				err = model.BrokenOff(ctx, m.name, io.ErrUnexpectedEOF) // in the middle of an event
			}
			if err != nil {
				yield(model.Event{}, err)
				return
			}
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
			if errors.Is(end, io.EOF) {
				break
			}
		}
		if !a.ended {
			yield(model.Event{}, model.BrokenOff(ctx, m.name, io.ErrUnexpectedEOF))
			return
		}
		e, err := a.done()
		if err != nil {
			yield(model.Event{}, model.Unusable(m.name, "answered with a tool call that cannot be read", err))
			return
		}
		yield(e, nil)
	}
}

// take reads one event. A server that fails in the middle says so in one, or as
// the reason of the end.
func (m *Model) take(r *model.Request, a *answer, data []byte) ([]model.Event, error) {
	if len(data) == 0 {
		return nil, nil
	}
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, model.Unusable(m.name, "answered something that cannot be read", err)
	}
	events := a.take(&c)
	if len(c.Error) > 0 && string(c.Error) != "null" || a.finish == "error" {
		var f model.Failure
		message := understand(c.Error, &f)
		return nil, model.Refused(m.name, r.Model, f, message)
	}
	return events, nil
}

// send sends the request and gives the answer, whatever its status.
func (m *Model) send(ctx context.Context, r *model.Request) (*http.Response, error) {
	b, err := m.body(ctx, r)
	if err != nil {
		return nil, err
	}
	data, err := thread.Encode(b)
	if err != nil {
		return nil, &thread.Error{Code: thread.Configuration, Op: "model", Message: "the request cannot be written", Err: err}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.address, bytes.NewReader(data))
	if err != nil {
		return nil, &thread.Error{Code: thread.Configuration, Op: "model", Message: "the address of " + m.name + " is none", Err: err}
	}
	for name, values := range m.headers {
		request.Header[http.CanonicalHeaderKey(name)] = values
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "text/event-stream")
	if m.key != "" {
		request.Header.Set("Authorization", "Bearer "+m.key)
	}
	answered, err := m.client.Do(request)
	if err != nil {
		return nil, model.Unreachable(ctx, m.name, model.WithoutAddress(err))
	}
	return answered, nil
}

// refused makes an error of an answer that is none.
func (m *Model) refused(ctx context.Context, r *model.Request, answered *http.Response) error {
	data, err := io.ReadAll(answered.Body)
	if err != nil && ctx.Err() != nil {
		return model.BrokenOff(ctx, m.name, err)
	}
	h := answered.Header
	f := model.Failure{Status: answered.StatusCode, Request: h.Get("X-Request-Id"), After: model.After(h.Get("Retry-After-Ms"), h.Get("Retry-After"), time.Now())}
	message := understand(data, &f)
	f.Status = answered.StatusCode
	if message == "" {
		message = http.StatusText(answered.StatusCode)
	}
	return m.place.Refused(m.name, r.Model, f, message)
}
