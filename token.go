package skein

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skeinhq/skein/internal/agent"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// Token lets whoever knows its secret work with threads over a network: Name (the
// author of what is said with it), Scopes, Threads (ids; nil: all).
type Token = store.Token

// The scopes of a token: what may be done with it.
const (
	ScopeRead    = "read"    // read, search and watch
	ScopeWrite   = "write"   // make threads, say, stop, rewind, fork, reset, name
	ScopeApprove = "approve" // allow and deny calls
	ScopeAdmin   = "admin"   // everything, also deleting, prompts and figures
)

// Scopes are all there are.
func Scopes() []string { return []string{ScopeRead, ScopeWrite, ScopeApprove, ScopeAdmin} }

// secretPrefix lets a secret that lies about be known for one.
const secretPrefix = "skein_"

// secretDigits is how many digits of base 62 hold 32 bytes.
const secretDigits = 43

// usedEvery is how old the note of a token's last use may be.
const usedEvery = time.Minute

// CreateToken makes an access token of that name. The secret is given this once:
// only its hash is kept. No threads means all of them, those to come too.
//
// Errors: invalid (a bad name, no scopes or an unknown one), conflict (a token
// that is not revoked has that name), storage.
func (e *Engine) CreateToken(ctx context.Context, name string, scopes, threads []string) (secret string, t Token, err error) {
	if err := checkToken(name, scopes, threads); err != nil {
		return "", Token{}, err
	}
	random := make([]byte, 32)
	if _, err := rand.Read(random); err != nil {
		return "", Token{}, err
	}
	digits := new(big.Int).SetBytes(random).Text(62)
	secret = secretPrefix + strings.Repeat("0", secretDigits-len(digits)) + digits
	t = Token{
		ID: store.NewID(), Space: e.cfg.Space, Name: name, Hash: hashOf(secret),
		Scopes: slices.Clone(scopes), Created: store.Stamp(e.cfg.Now()),
	}
	if len(threads) > 0 {
		t.Threads = slices.Clone(threads)
	}
	if err := e.store.PutToken(ctx, t); err != nil {
		return "", Token{}, err
	}
	return secret, t, nil
}

func checkToken(name string, scopes, threads []string) error {
	for _, n := range append([]string{name}, threads...) {
		if err := agent.CheckName(n); err != nil {
			return err
		}
	}
	known := Scopes()
	for _, s := range scopes {
		if !slices.Contains(known, s) {
			return &thread.Error{Code: thread.Invalid, Op: "token", Message: fmt.Sprintf("%q is not a scope", s), Hint: "known: " + strings.Join(known, ", ")}
		}
	}
	if len(scopes) == 0 {
		return &thread.Error{Code: thread.Invalid, Op: "token", Message: "a token without scopes opens nothing", Hint: "give some of " + strings.Join(known, ", ")}
	}
	return nil
}

// hashOf is what is kept of a secret. It has 256 random bits, so it needs neither
// salt nor a slow hash.
func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// Tokens lists the access tokens, the oldest first, revoked ones too.
func (e *Engine) Tokens(ctx context.Context) ([]Token, error) {
	return e.store.Tokens(ctx, e.cfg.Space)
}

// RevokeToken makes the token of that id or name good for nothing from now on; of
// several that had the name it is the one that is not revoked. Errors: not-found.
func (e *Engine) RevokeToken(ctx context.Context, name string) error {
	all, err := e.Tokens(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(t Token) bool { return t.ID == name || t.Name == name && t.Live() })
	if i < 0 {
		return store.NoToken()
	}
	return e.store.RevokeToken(ctx, e.cfg.Space, all[i].ID)
}

// Authenticate gives the token of a secret. Errors: permission (there is none, or
// it was revoked), storage.
func (e *Engine) Authenticate(ctx context.Context, secret string) (Token, error) {
	refused := &thread.Error{Code: thread.Permission, Op: "token", Message: "the token is not valid", Hint: "make one with skein token create"}
	if len(secret) != len(secretPrefix)+secretDigits || !strings.HasPrefix(secret, secretPrefix) {
		return Token{}, refused
	}
	hash := hashOf(secret)
	t, err := e.store.Token(ctx, e.cfg.Space, hash)
	switch {
	case thread.CodeOf(err) == thread.NotFound:
		return Token{}, refused
	case err != nil:
		return Token{}, err
	case subtle.ConstantTimeCompare([]byte(hash), []byte(t.Hash)) != 1 || !t.Live():
		return Token{}, refused
	}
	return t, e.noteUse(ctx, t)
}

// noteUse writes that a token was used, at most once in usedEvery: a token is
// shown at every request, and each note is a commit.
func (e *Engine) noteUse(ctx context.Context, t Token) error {
	if e.cfg.ReadOnly || !e.uses.due(t.ID, e.cfg.Now()) {
		return nil
	}
	return e.store.UseToken(ctx, e.cfg.Space, t.ID)
}

// uses says when the use of which token was noted last.
type uses struct {
	mu   sync.Mutex
	last map[string]time.Time // by token id
}

func (u *uses) due(id string, now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if last, ok := u.last[id]; ok && now.Sub(last) < usedEvery {
		return false
	}
	if u.last == nil {
		u.last = map[string]time.Time{}
	}
	u.last[id] = now
	return true
}

// Allows says whether a token may do what that scope is for in that thread; an
// empty thread means all of them.
func Allows(t Token, scope, id string) bool {
	return may(t, scope) && (t.Threads == nil || slices.Contains(t.Threads, id))
}

func may(t Token, scope string) bool {
	return slices.Contains(t.Scopes, scope) || slices.Contains(t.Scopes, ScopeAdmin)
}
