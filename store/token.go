package store

import (
	"regexp"
	"time"

	"github.com/skeinhq/skein/thread"
)

// Token lets whoever knows its secret work with a space's threads. The secret is
// nowhere: Hash is the SHA-256 of it, in lower-case hex.
type Token struct {
	ID      string    `json:"id"`
	Space   string    `json:"space,omitempty"`
	Name    string    `json:"name"` // the author of what is said with it; one live token of a space has it
	Hash    string    `json:"-"`
	Scopes  []string  `json:"scopes"`
	Threads []string  `json:"threads,omitempty"` // the ids it is good for; nil: all of the space
	Created time.Time `json:"created"`
	Used    time.Time `json:"used,omitzero"`    // about when it was used last
	Revoked time.Time `json:"revoked,omitzero"` // good for nothing since
}

// Live says whether the token has not been revoked.
func (t *Token) Live() bool { return t.Revoked.IsZero() }

var hashShape = regexp.MustCompile(`^[0-9a-f]{64}$`)

// CheckToken refuses a token that cannot be kept.
func CheckToken(t Token) error {
	switch {
	case t.ID == "" || t.Name == "":
		return fail(thread.Invalid, "token", "", "", "a token needs an id and a name")
	case !hashShape.MatchString(t.Hash):
		return fail(thread.Invalid, "token", "", "keep the SHA-256 of its secret, in lower-case hex", "a token's hash is not one")
	}
	return nil
}

// TokenTaken is the error for a token whose name, id or hash another one has.
func TokenTaken(name string) error {
	return fail(thread.Conflict, "token", "", "choose another name, or revoke that one", "there is a token named %q", name)
}

// NoToken is the error for a token that is not there.
func NoToken() error {
	return fail(thread.NotFound, "token", "", "list the tokens to see what there is", "there is no such token")
}
