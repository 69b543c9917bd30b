package server

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/skeinhq/skein/thread"
)

// Problem is a failure as RFC 9457 has it, with the fields of [thread.Error].
type Problem struct { //nolint:errname // it is the document, and by the way an error
	Type   string      `json:"type" doc:"Always about:blank: code says which kind of failure it is."`
	Title  string      `json:"title" doc:"The status in words."`
	Status int         `json:"status"`
	Detail string      `json:"detail" doc:"What went wrong, in one sentence."`
	Code   thread.Code `json:"code" doc:"Stable: invalid, configuration, provider, quota, limit, response, timeout, aborted, conflict, not-found, permission, storage."`
	Hint   string      `json:"hint,omitempty" doc:"What to do."`
	Op     string      `json:"op,omitempty" doc:"The operation that failed."`
	Thread string      `json:"thread,omitempty"`
	Errors []Fault     `json:"errors,omitempty" doc:"What of the request is wrong, and where."`
}

// Fault is one thing that is wrong with a request.
type Fault struct {
	Location string `json:"location" doc:"Such as body.text or query.limit."`
	Message  string `json:"message"`
}

// Error is the detail.
func (p *Problem) Error() string { return p.Detail }

// GetStatus gives the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType is that of problem documents.
func (p *Problem) ContentType(string) string { return problemType }

const problemType = "application/problem+json"

// statuses says which status a code has. Limit has another where a rate was too
// high.
var statuses = map[thread.Code]int{
	thread.Invalid:       http.StatusBadRequest,
	thread.Configuration: http.StatusUnprocessableEntity,
	thread.Provider:      http.StatusBadGateway,
	thread.Quota:         http.StatusBadGateway,
	thread.Response:      http.StatusBadGateway,
	thread.Limit:         http.StatusRequestEntityTooLarge,
	thread.Timeout:       http.StatusGatewayTimeout,
	thread.Aborted:       http.StatusConflict,
	thread.Conflict:      http.StatusConflict,
	thread.NotFound:      http.StatusNotFound,
	thread.Permission:    http.StatusForbidden,
	thread.Storage:       http.StatusServiceUnavailable,
}

// codes says which code a failure has that was found before any operation.
var codes = map[int]thread.Code{
	http.StatusUnauthorized:          thread.Permission,
	http.StatusForbidden:             thread.Permission,
	http.StatusMisdirectedRequest:    thread.Permission,
	http.StatusNotFound:              thread.NotFound,
	http.StatusRequestTimeout:        thread.Timeout,
	http.StatusRequestEntityTooLarge: thread.Limit,
	http.StatusTooManyRequests:       thread.Limit,
	http.StatusInternalServerError:   thread.Storage,
	http.StatusServiceUnavailable:    thread.Aborted,
}

// problem makes the document of a failure that the server finds itself.
func problem(status int, detail, hint string) *Problem {
	code, ok := codes[status]
	if !ok {
		code = thread.Invalid
	}
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail, Code: code, Hint: hint}
}

// problemOf makes the document of an error. What is no [thread.Error] is not told
// to clients: the log has it. ok is false for such a one.
func problemOf(err error) (p *Problem, ok bool) {
	if errors.As(err, &p) {
		return p, true
	}
	var tooLong *http.MaxBytesError
	if errors.As(err, &tooLong) {
		return problem(http.StatusRequestEntityTooLarge, "the body is too long", "send less at once"), true
	}
	var e *thread.Error
	if !errors.As(err, &e) {
		return problem(http.StatusInternalServerError, "something failed in the server", "its log says more"), false
	}
	status, known := statuses[e.Code]
	if !known {
		status = http.StatusInternalServerError
	}
	return &Problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status,
		Detail: e.Message, Code: e.Code, Hint: e.Hint, Op: e.Op, Thread: e.Thread,
	}, e.Code != thread.Storage
}

// huma makes a document for what it finds wrong with a request. Of errors that are
// not about the request nothing is told.
func init() {
	huma.NewError = func(status int, detail string, errs ...error) huma.StatusError {
		p := problem(status, detail, "")
		switch {
		case status == http.StatusRequestEntityTooLarge:
			p.Detail, p.Hint = "the body is too long", "send less at once"
		case status == http.StatusRequestTimeout:
			p.Detail, p.Hint = "the body did not come in time", "send it again"
		case detail == "cannot read request body":
			p = problem(http.StatusBadRequest, "the body did not come whole", "send it again")
		case detail == "validation failed":
			p.Detail, p.Hint = "the request is not as it should be", "errors says what is wrong; /openapi.json has the form"
		}
		for _, err := range errs {
			var d huma.ErrorDetailer
			if errors.As(err, &d) {
				p.Errors = append(p.Errors, Fault{d.ErrorDetail().Location, d.ErrorDetail().Message})
			}
		}
		return p
	}
}

// write answers a request with the problem.
func (p *Problem) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", problemType)
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // whoever asked may have left
}
