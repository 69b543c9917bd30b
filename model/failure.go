package model

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/skeinhq/skein/thread"
)

// Failure is what a provider told of a request that failed, as Details of the
// error.
type Failure struct {
	Status   int           `json:"status,omitempty"`   // of HTTP; 0: no answer came, or it broke off
	Type     string        `json:"type,omitempty"`     // the provider's own word
	Request  string        `json:"request,omitempty"`  // the provider's id of the request
	After    time.Duration `json:"after,omitempty"`    // how long it asks to wait
	Again    bool          `json:"again,omitempty"`    // the same request may do better later
	Wrong    string        `json:"wrong,omitempty"`    // key, model or address: the setting that is wrong
	Unheard  bool          `json:"unheard,omitempty"`  // the provider did not answer at all
	Overflow bool          `json:"overflow,omitempty"` // the prompt does not go into the model's window, or the body is too large
}

// FailureOf gives what a provider told, where err comes from one.
func FailureOf(err error) (Failure, bool) {
	var e *thread.Error
	if !errors.As(err, &e) {
		return Failure{}, false
	}
	f, ok := e.Details.(Failure)
	return f, ok
}

// Overflows says whether the provider refused a prompt for its size.
func Overflows(err error) bool {
	f, ok := FailureOf(err)
	return ok && f.Overflow
}

// refusal is how a status, or a word of the provider's, is understood.
type refusal struct {
	code    thread.Code
	again   bool
	message string // %s: the provider; %[2]s: the model
	hint    string
	wrong   string
}

// What may be wrong with the settings.
const (
	WrongKey     = "key"
	WrongModel   = "model"
	WrongAddress = "address"
)

// statuses say what the statuses of HTTP mean. What is not here is the
// provider's fault from 500 on, and below a request that it does not take.
var statuses = map[int]refusal{
	401: {thread.Configuration, false, "%s refused the key", "set another key", WrongKey},
	402: {thread.Quota, false, "%s wants to be paid", "see the account's billing, then try again", ""},
	403: {thread.Configuration, false, "%s does not let this key use %[2]s", "set another key, or choose another model", WrongKey},
	404: {thread.Configuration, false, "%s does not know the model %[2]s", "choose another model", WrongModel},
	408: {thread.Timeout, true, "%s took too long", "try again", ""},
	409: {thread.Provider, true, "%s could not answer just now", "try again", ""},
	413: {thread.Limit, false, "the prompt is too large for %s", "lower the marks of the tail", ""},
	429: {thread.Quota, true, "%s is asked too often", "wait a little, then try again", ""},
	504: {thread.Timeout, true, "%s took too long", "try again", ""},
	529: {thread.Provider, true, "%s is overloaded", "try again in a while", ""},
}

var (
	atFault  = refusal{thread.Provider, true, "%s failed", "try again in a while", ""}
	rejected = refusal{thread.Provider, false, "%s did not take the request", "", ""}
	overflow = refusal{thread.Limit, false, "the prompt is too large for %[2]s", "lower the marks of the tail", ""}
	noMoney  = refusal{thread.Quota, false, "the account at %s has nothing left", "see the account's billing, then try again", ""}
)

// words are what providers say, in the type, the code or the message of an
// error, where the status alone says too little. The first that is found
// counts.
var words = []struct {
	word string
	is   refusal
}{
	{"insufficient_quota", noMoney},
	{"billing", noMoney},
	{"credit balance", noMoney},
	{"insufficient credits", noMoney},
	{"spend_limit", noMoney},
	{"spend limit", noMoney},
	{"usage limits", noMoney},
	{"exceeded your current quota", noMoney},
	{"context_length_exceeded", overflow},
	{"prompt is too long", overflow},
	{"context length", overflow},
	{"context window", overflow},
	{"context limit", overflow},
	{"context size", overflow},
	{"string_above_max_length", overflow},
	{"request_too_large", statuses[413]},
	{"model_not_found", statuses[404]},
	{"not a valid model", statuses[404]},
	{"not_found_error", statuses[404]},
	{"invalid_api_key", statuses[401]},
	{"authentication_error", statuses[401]},
	{"permission_error", statuses[403]},
	{"rate_limit", statuses[429]},
	{"overloaded", statuses[529]},
	{"timeout_error", statuses[504]},
	{"server_error", atFault},
	{"api_error", atFault},
}

// Refused makes the error of a request that a provider has refused, before or
// in the middle of its answer: f says what it told, message is its own sentence.
func Refused(provider, model string, f Failure, message string) *thread.Error {
	is := understand(f, strings.ToLower(f.Type+" "+message))
	f.Again = is.again
	f.Wrong = is.wrong
	f.Overflow = is.code == thread.Limit
	e := &thread.Error{Code: is.code, Op: "model", Message: filled(is.message, provider, model), Hint: is.hint, Details: f}
	if message = thread.OneLine(message); message != "" {
		e.Err = errors.New(message)
	}
	if f.Again && f.After > 0 {
		e.Hint = fmt.Sprintf("try again in %s", f.After.Round(time.Second))
		if f.After >= longest {
			e.Hint = "try again in a day or later: the provider asks for so long a wait"
		}
	}
	return e
}

func filled(format, provider, model string) string {
	return strings.NewReplacer("%s", provider, "%[2]s", model).Replace(format)
}

// understand looks for the provider's words first: a status stands for many
// things, and in the middle of an answer there is none.
func understand(f Failure, told string) refusal {
	for _, w := range words {
		if strings.Contains(told, w.word) {
			return w.is
		}
	}
	if is, ok := statuses[f.Status]; ok {
		return is
	}
	if f.Status >= 500 || f.Status < 400 {
		return atFault
	}
	return rejected
}

// Unreachable makes the error of a request that no answer came to, or whose
// answer broke off: aborted where the context was ended, timeout where its time
// was up, else provider.
func Unreachable(ctx context.Context, provider string, err error) *thread.Error {
	var timeout interface{ Timeout() bool }
	var away *RedirectError
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return &thread.Error{Code: thread.Aborted, Op: "model", Message: "the answer was stopped", Err: context.Cause(ctx)}
	case ctx.Err() != nil, errors.As(err, &timeout) && timeout.Timeout():
		return &thread.Error{Code: thread.Timeout, Op: "model", Message: provider + " took too long", Hint: "try again", Err: err, Details: Failure{Again: ctx.Err() == nil}}
	}
	if errors.As(err, &away) {
		return away.error(provider)
	}
	if errors.Is(err, ErrTooMuch) || errors.Is(err, bufio.ErrTooLong) {
		return &thread.Error{Code: thread.Response, Op: "model", Message: provider + " answered with more than is taken", Err: ErrTooMuch, Details: Failure{}}
	}
	return &thread.Error{
		Code: thread.Provider, Op: "model", Message: provider + " cannot be reached",
		Hint: "see whether there is a network, then try again", Err: err, Details: Failure{Again: true, Unheard: true},
	}
}

// BrokenOff makes the error of an answer that ended before it said so.
func BrokenOff(ctx context.Context, provider string, err error) *thread.Error {
	e := Unreachable(ctx, provider, err)
	if e.Code == thread.Provider {
		e.Message, e.Hint, e.Details = "the answer of "+provider+" broke off", "try again", Failure{Again: true}
	}
	return e
}

// Unusable makes the error of an answer that makes no sense.
func Unusable(provider, what string, err error) *thread.Error {
	return &thread.Error{Code: thread.Response, Op: "model", Message: provider + " " + what, Hint: "try again", Err: err, Details: Failure{Again: true}}
}

// After reads the headers Retry-After-Ms and Retry-After: milliseconds, and
// seconds or a date of HTTP. What asks for more than a day asks for a day.
func After(milliseconds, seconds string, now time.Time) time.Duration {
	if d, ok := wait(milliseconds, time.Millisecond); ok {
		return d
	}
	if d, ok := wait(seconds, time.Second); ok {
		return d
	}
	if at, err := time.Parse("Mon, 02 Jan 2006 15:04:05 GMT", seconds); err == nil {
		return min(max(0, at.Sub(now)), longest)
	}
	return 0
}

// longest is the longest wait that is told apart from any other: whoever asks
// for more has no time to give.
const longest = 24 * time.Hour

// wait reads a number of units. What is too large for one is the longest wait.
func wait(number string, unit time.Duration) (time.Duration, bool) {
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || !(n > 0) {
		return 0, false
	}
	return time.Duration(min(n*float64(unit), float64(longest))), true
}

// NameAt gives the name that a model has at its provider: without the
// provider's own name and a slash before it.
func NameAt(provider, model string) string {
	bare, _ := strings.CutPrefix(model, provider+"/")
	return cmp.Or(bare, model)
}
