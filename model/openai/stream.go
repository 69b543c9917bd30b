package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// Stream asks once and yields the answer as it comes.
func (m *Model) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Event, error] {
	return m.secrets.Guard(ctx, m.name, m.stream(ctx, r))
}

func (m *Model) stream(ctx context.Context, r *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		b, err := m.body(ctx, r)
		if err != nil {
			yield(model.Event{}, err)
			return
		}
		data, err := thread.Encode(b)
		if err != nil {
			yield(model.Event{}, &thread.Error{Code: thread.Configuration, Op: "model", Message: "the request cannot be written", Err: err})
			return
		}
		stream := m.responses.NewStreaming(ctx, responses.ResponseNewParams{}, option.WithRequestBody("application/json", data))
		if err := stream.Err(); err != nil {
			yield(model.Event{}, m.failed(ctx, r, err, model.Unreachable))
			return
		}
		defer stream.Close()
		a := answer{provider: m.name, model: r.Model}
		for !a.ended() && stream.Next() {
			e := stream.Current()
			events, err := a.take(&e)
			if err != nil {
				yield(model.Event{}, model.Unusable(m.name, "answered with a tool call that cannot be read", err))
				return
			}
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
		}
		if err := stream.Err(); err != nil && !a.ended() {
			yield(model.Event{}, m.failed(ctx, r, err, model.BrokenOff))
			return
		}
		yield(m.done(ctx, r, &a))
	}
}

// done ends the answer.
func (m *Model) done(ctx context.Context, r *model.Request, a *answer) (model.Event, error) {
	switch {
	case a.failure != nil:
		return model.Event{}, model.Refused(m.name, r.Model, model.Failure{Type: string(a.failure.Code)}, a.failure.Message)
	case a.final == nil:
		return model.Event{}, model.BrokenOff(ctx, m.name, io.ErrUnexpectedEOF)
	}
	return a.done(), nil
}

// failed makes an error of the SDK one of ours. Where the provider has not
// spoken, unheard makes it.
func (m *Model) failed(ctx context.Context, r *model.Request, err error, unheard func(context.Context, string, error) *thread.Error) error {
	var (
		refused *responses.Error
		told    *ssestream.StreamError
		garbled *json.SyntaxError
	)
	switch {
	case ctx.Err() != nil:
		return unheard(ctx, m.name, model.WithoutAddress(err))
	case errors.As(err, &refused):
		return m.refused(r, refused)
	case errors.As(err, &told):
		return m.told(r, told.Event.Data)
	case errors.As(err, &garbled):
		return model.Unusable(m.name, "answered something that cannot be read", err)
	}
	return unheard(ctx, m.name, model.WithoutAddress(err))
}

func (m *Model) refused(r *model.Request, refused *responses.Error) error {
	f := model.Failure{Status: refused.StatusCode, Type: strings.TrimSpace(refused.Type + " " + refused.Code)}
	said := refused.Message
	if refused.Response != nil {
		h := refused.Response.Header
		f.Request = h.Get("X-Request-Id")
		f.After = model.After(h.Get("Retry-After-Ms"), h.Get("Retry-After"), time.Now())
	}
	if said == "" {
		said = http.StatusText(refused.StatusCode)
	}
	return m.place.Refused(m.name, r.Model, f, said)
}

// told reads an error that came as an event of the stream.
func (m *Model) told(r *model.Request, data []byte) error {
	var event struct {
		Error struct {
			Type    string `json:"type"`
			Code    any    `json:"code"` // a word or a number
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(data, &event); err != nil {
		return model.Unusable(m.name, "answered something that cannot be read", err)
	}
	f := model.Failure{Type: event.Error.Type}
	if code, ok := event.Error.Code.(string); ok {
		f.Type = strings.TrimSpace(f.Type + " " + code)
	}
	return model.Refused(m.name, r.Model, f, event.Error.Message)
}
