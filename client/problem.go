package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/skeinhq/skein/thread"
)

// mostProblem is the most bytes that are read of an answer that is a failure.
const mostProblem = 1 << 20

// document is a problem as RFC 9457 has it, with the server's own fields.
type document struct {
	Title  string      `json:"title"`
	Detail string      `json:"detail"`
	Code   thread.Code `json:"code"`
	Hint   string      `json:"hint"`
	Op     string      `json:"op"`
	Thread string      `json:"thread"`
	Errors []struct {
		Location string `json:"location"`
		Message  string `json:"message"`
	} `json:"errors"`
}

// codes says what a status means where its body does not: something on the way may
// have answered.
var codes = map[int]thread.Code{
	http.StatusUnauthorized:          thread.Permission,
	http.StatusForbidden:             thread.Permission,
	http.StatusMisdirectedRequest:    thread.Permission,
	http.StatusNotFound:              thread.NotFound,
	http.StatusRequestTimeout:        thread.Timeout,
	http.StatusConflict:              thread.Conflict,
	http.StatusRequestEntityTooLarge: thread.Limit,
	http.StatusTooManyRequests:       thread.Limit,
	http.StatusInternalServerError:   thread.Storage,
	http.StatusGatewayTimeout:        thread.Timeout,
}

func codeOf(status int) thread.Code {
	switch code, ok := codes[status]; {
	case ok:
		return code
	case status >= http.StatusInternalServerError:
		return thread.Aborted
	}
	return thread.Invalid
}

// Status is the HTTP status of a failure, in its Details.
type Status struct {
	Status int `json:"status"`
}

// problem reads the failure that a response tells of.
func problem(resp *http.Response) *thread.Error {
	var doc document
	data, err := io.ReadAll(io.LimitReader(resp.Body, mostProblem))
	if err == nil {
		err = json.Unmarshal(data, &doc)
	}
	e := &thread.Error{Code: doc.Code, Op: doc.Op, Thread: doc.Thread, Message: doc.Detail, Hint: doc.Hint, Details: Status{resp.StatusCode}}
	for _, f := range doc.Errors {
		e.Message += fmt.Sprintf("; %s: %s", f.Location, f.Message)
	}
	if e.Code == "" {
		e.Code = codeOf(resp.StatusCode)
	}
	if e.Message == "" {
		e.Message, e.Err = "the server answered "+resp.Status, err
	}
	return e
}

// unreachable is the failure of a request that got no answer.
func (c *Client) unreachable(ctx context.Context, err error) *thread.Error {
	if ctx.Err() != nil {
		return &thread.Error{Code: thread.Aborted, Op: "client", Message: "the request was given up", Err: context.Cause(ctx)}
	}
	return &thread.Error{Code: thread.Aborted, Op: "client", Message: c.base.String() + " gave no answer", Hint: "see whether the server runs", Err: err}
}

// final says whether trying again is in vain until somebody changes something.
func final(err *thread.Error) bool {
	switch err.Code {
	case thread.Permission, thread.NotFound, thread.Invalid, thread.Configuration:
		return true
	}
	return false
}
