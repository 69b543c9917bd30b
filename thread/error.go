package thread

import (
	"errors"
	"strings"
)

// Code says which kind of failure an [Error] is. Codes are stable: they may be
// compared, stored and sent over a wire.
type Code string

// The codes. Invalid, NotFound and Configuration are the caller's to mend; a
// command ends with exit code 2 on them.
const (
	Invalid       Code = "invalid"       // an argument is malformed or out of range
	Configuration Code = "configuration" // settings, agents or strategies contradict themselves
	Provider      Code = "provider"      // the model's provider failed
	Quota         Code = "quota"         // the provider refused for quota or money
	Limit         Code = "limit"         // a limit of the turn, the prompt or the machine was reached
	Response      Code = "response"      // the model answered something unusable
	Timeout       Code = "timeout"       // a deadline passed
	Aborted       Code = "aborted"       // somebody stopped it
	Conflict      Code = "conflict"      // the log has moved on, or somebody else owns the turn
	NotFound      Code = "not-found"     // no such thread, entry, line or blob
	Permission    Code = "permission"    // not allowed
	Storage       Code = "storage"       // the store failed
)

// Error is the one error type of Skein: what went wrong, in which operation, on
// which thread, and what to do about it.
type Error struct {
	Code    Code   `json:"code"`
	Op      string `json:"op,omitempty"`      // the operation, such as "say"
	Thread  string `json:"thread,omitempty"`  // the thread's id, where there is one
	Message string `json:"message"`           // one sentence, for people
	Hint    string `json:"hint,omitempty"`    // what to do, for people
	Details any    `json:"details,omitempty"` // figures for programs
	Err     error  `json:"-"`                 // the cause
}

// Error gives the message, then the cause, then the hint.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Message)
	if e.Err != nil {
		if e.Message != "" {
			b.WriteString(": ")
		}
		b.WriteString(e.Err.Error())
	}
	if e.Hint != "" {
		b.WriteString(" (")
		b.WriteString(e.Hint)
		b.WriteString(")")
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrUnknownOutcome is wrapped by a storage error whose commit may or may not
// have become durable. Whoever retries it must use a client key.
var ErrUnknownOutcome = errors.New("it is not known whether the commit became durable")

// CodeOf gives the code of the first [Error] in err's chain, or "" where there
// is none.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
