package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

const (
	betaHeader = "Anthropic-Beta"

	// bindingBeta lets a request say what happens to thinking that does not fit.
	bindingBeta = "thinking-binding-controls-2026-08-01"
)

// Stream asks once and yields the answer as it comes.
func (m *Model) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Event, error] {
	return m.secrets.Guard(ctx, m.name, m.stream(ctx, r))
}

func (m *Model) stream(ctx context.Context, r *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		b, bound, err := m.body(ctx, r)
		if err != nil {
			yield(model.Event{}, err)
			return
		}
		data, err := thread.Encode(b)
		if err != nil {
			yield(model.Event{}, &thread.Error{Code: thread.Configuration, Op: "model", Message: "the request cannot be written", Err: err})
			return
		}
		stream := m.messages.NewStreaming(ctx, sdk.MessageNewParams{}, m.options(data, bound)...)
		if err := stream.Err(); err != nil {
			yield(model.Event{}, m.failed(ctx, r, err, model.Unreachable))
			return
		}
		defer stream.Close()
		a := answer{provider: m.name, model: r.Model}
		for stream.Next() {
			for _, e := range a.take(stream.Current()) {
				if !yield(e, nil) {
					return
				}
			}
			if a.ended {
				break
			}
		}
		if err := stream.Err(); err != nil && !a.ended {
			yield(model.Event{}, m.failed(ctx, r, err, model.BrokenOff))
			return
		}
		yield(m.done(ctx, &a))
	}
}

func (m *Model) options(data []byte, bound bool) []option.RequestOption {
	out := []option.RequestOption{option.WithRequestBody("application/json", data)}
	beta := m.beta
	if bound {
		beta = append([]string{bindingBeta}, beta...)
	}
	if len(beta) > 0 {
		out = append(out, option.WithHeader(betaHeader, strings.Join(beta, ",")))
	}
	return out
}

// done ends the answer.
func (m *Model) done(ctx context.Context, a *answer) (model.Event, error) {
	if !a.ended {
		return model.Event{}, model.BrokenOff(ctx, m.name, io.ErrUnexpectedEOF)
	}
	e, err := a.done()
	if err != nil {
		return model.Event{}, model.Unusable(m.name, "answered with a tool call that cannot be read", err)
	}
	if rules, err := m.rules.Rules(a.model); err == nil && a.longWrites > 0 {
		e.Usage.Cost = rules.Cost(e.Usage) + float64(a.longWrites)*(2*rules.Prices.Input-rules.Prices.CacheWrite)/1e6
	}
	return e, nil
}

// failed makes an error of the SDK one of ours. Where the provider has not
// spoken, unheard makes it.
func (m *Model) failed(ctx context.Context, r *model.Request, err error, unheard func(context.Context, string, error) *thread.Error) error {
	var refused *sdk.Error
	var garbled *json.SyntaxError
	switch {
	case ctx.Err() == nil && errors.As(err, &garbled):
		return model.Unusable(m.name, "answered something that cannot be read", err)
	case ctx.Err() != nil || !errors.As(err, &refused):
		return unheard(ctx, m.name, model.WithoutAddress(err))
	}
	f := model.Failure{Status: refused.StatusCode, Type: string(refused.Type()), Request: refused.RequestID}
	if code := string(refused.ErrorCode()); code != "" {
		f.Type += " " + code
	}
	if f.Status < 300 {
		f.Status = 0 // it came in the middle of an answer
	}
	if refused.Response != nil {
		h := refused.Response.Header
		f.After = model.After(h.Get("Retry-After-Ms"), h.Get("Retry-After"), time.Now())
	}
	said := refused.Message
	if said == "" {
		said = http.StatusText(refused.StatusCode)
	}
	return m.place.Refused(m.name, r.Model, f, said)
}
