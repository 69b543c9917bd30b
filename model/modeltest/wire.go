package modeltest

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// errTrouble ends a stream where its reply's trouble comes.
var errTrouble = errors.New("the trouble of the reply has come")

// later says whether a trouble needs an answer that has begun.
func (t Trouble) later() bool { return t == Cut || t == Truncated || t == Garbage }

// wire is the way back of one answer: it keeps the pace and knows when the
// trouble comes. After its first error it writes nothing.
type wire struct {
	w     http.ResponseWriter
	flush *http.ResponseController
	ctx   context.Context
	reply Reply
	pace  float64 // tokens a second; 0: at once
	sent  int     // pieces
	err   error
}

func newWire(w http.ResponseWriter, r *http.Request, reply Reply, pace float64) *wire {
	if reply.Pace > 0 {
		pace = reply.Pace
	}
	return &wire{w: w, flush: http.NewResponseController(w), ctx: r.Context(), reply: reply, pace: pace}
}

// whole writes an answer that is no stream.
func (x *wire) whole(body []byte) {
	x.w.Header().Set("Content-Type", "application/json")
	switch x.reply.Trouble {
	case Cut:
		_, _ = x.w.Write(body[:len(body)/2])
		_ = x.flush.Flush()
		panic(http.ErrAbortHandler) // the way to break a connection
	case Truncated:
		body = body[:len(body)/2]
	case Garbage:
		body = []byte("<html>this is no JSON</html>")
	}
	_, _ = x.w.Write(append(body, '\n')) // whoever asked may have gone
}

// begin sends the headers of a stream.
func (x *wire) begin() {
	x.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	x.w.Header().Set("Cache-Control", "no-cache")
	x.w.WriteHeader(http.StatusOK)
	x.err = x.flush.Flush()
}

// raw writes text as it is.
func (x *wire) raw(text string) {
	if x.err != nil {
		return
	}
	if _, x.err = x.w.Write([]byte(text)); x.err == nil {
		x.err = x.flush.Flush()
	}
}

// event writes an event with a name.
func (x *wire) event(name string, data fields) {
	x.raw("event: " + name + "\ndata: " + string(encode(data)) + "\n\n")
}

// data writes an event without a name.
func (x *wire) data(data fields) { x.raw("data: " + string(encode(data)) + "\n\n") }

// piece waits until the next piece of an answer may go out. It says whether it
// does: not after an error, and not where the trouble comes instead.
func (x *wire) piece(text string) bool {
	if x.err == nil && x.sent == x.reply.After {
		x.err = model.Wait(x.ctx, time.Duration(x.reply.Pause))
		if x.err == nil && x.reply.Trouble != "" {
			x.err = errTrouble
		}
	}
	if x.err == nil && x.pace > 0 {
		x.err = model.Wait(x.ctx, time.Duration(float64(thread.Weight(text))/x.pace*float64(time.Second)))
	}
	x.sent++
	return x.err == nil
}
