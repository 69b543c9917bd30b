package model

import (
	"errors"
	"fmt"

	"github.com/skeinhq/skein/thread"
)

// The bounds of what is taken from a provider.
const (
	MaxEvent     = 32 << 20  // bytes of one event of a stream
	MaxText      = 32 << 20  // bytes of an answer's text, its thinking with it
	MaxAnswer    = 256 << 20 // bytes of a whole answer as it is sent, its calls with it
	MaxComplaint = 1 << 20   // bytes of a refusal
)

// ErrTooMuch says that an answer is larger than is taken.
var ErrTooMuch = errors.New("it is larger than is taken")

// RedirectError says that a server names another address: it is not asked there.
type RedirectError struct {
	Status   int
	From, To string // hosts; To may be unknown
}

func (r *RedirectError) Error() string { return r.From + " redirects" }

func (r *RedirectError) error(provider string) *thread.Error {
	where := "to another address"
	if r.To != "" {
		where = "to " + r.To
	}
	return &thread.Error{
		Code: thread.Configuration, Op: "model", Message: fmt.Sprintf("the server of %s, %s, redirects %s", provider, r.From, where),
		Hint: "redirects are not followed: the base URL should be the final address", Details: Failure{Status: r.Status, Wrong: WrongAddress},
	}
}
