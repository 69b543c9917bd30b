package memory

import (
	"context"
	"slices"

	"github.com/skeinhq/skein/store"
)

// PutToken keeps an access token.
func (s *Store) PutToken(ctx context.Context, t store.Token) error {
	if err := store.CheckToken(t); err != nil {
		return err
	}
	return s.update(ctx, "token", func(*tx) error {
		taken := func(o store.Token) bool {
			return o.Space == t.Space && (o.ID == t.ID || o.Hash == t.Hash || o.Live() && o.Name == t.Name)
		}
		if slices.ContainsFunc(s.tokens, taken) {
			return store.TokenTaken(t.Name)
		}
		t.Created, t.Used, t.Revoked = store.Stamp(t.Created), store.Stamp(t.Used), store.Stamp(t.Revoked)
		s.tokens = append(s.tokens, copied(t))
		return nil
	})
}

// copied shares nothing with t.
func copied(t store.Token) store.Token {
	t.Scopes, t.Threads = slices.Clone(t.Scopes), slices.Clone(t.Threads)
	return t
}

// Tokens lists a space's access tokens.
func (s *Store) Tokens(ctx context.Context, space string) (out []store.Token, err error) {
	err = s.read(ctx, "tokens", func() error {
		for _, t := range s.tokens {
			if t.Space == space {
				out = append(out, copied(t))
			}
		}
		return nil
	})
	return out, err
}

// Token gives the access token with that hash.
func (s *Store) Token(ctx context.Context, space, hash string) (t store.Token, err error) {
	err = s.read(ctx, "token", func() error {
		i := slices.IndexFunc(s.tokens, func(o store.Token) bool { return o.Space == space && o.Hash == hash })
		if i < 0 {
			return store.NoToken()
		}
		t = copied(s.tokens[i])
		return nil
	})
	return t, err
}

// UseToken notes that a token was used.
func (s *Store) UseToken(ctx context.Context, space, id string) error {
	return s.changeToken(ctx, space, id, func(t *store.Token) { t.Used = store.Stamp(s.now()) })
}

// RevokeToken makes a token good for nothing.
func (s *Store) RevokeToken(ctx context.Context, space, id string) error {
	return s.changeToken(ctx, space, id, func(t *store.Token) {
		if t.Live() {
			t.Revoked = store.Stamp(s.now())
		}
	})
}

func (s *Store) changeToken(ctx context.Context, space, id string, change func(*store.Token)) error {
	return s.update(ctx, "token", func(*tx) error {
		i := slices.IndexFunc(s.tokens, func(o store.Token) bool { return o.Space == space && o.ID == id })
		if i < 0 {
			return store.NoToken()
		}
		change(&s.tokens[i])
		return nil
	})
}
