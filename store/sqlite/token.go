package sqlite

import (
	"context"
	"encoding/json"

	"github.com/ncruces/go-sqlite3"

	"github.com/skeinhq/skein/store"
)

const tokenColumns = `id, space, name, hash, scopes, threads, created, used, revoked`

// PutToken keeps an access token.
func (s *Store) PutToken(ctx context.Context, t store.Token) error {
	if err := store.CheckToken(t); err != nil {
		return err
	}
	scopes, err := json.Marshal(t.Scopes)
	if err != nil {
		return err
	}
	var threads any
	if t.Threads != nil {
		ids, err := json.Marshal(t.Threads)
		if err != nil {
			return err
		}
		threads = rawText(ids)
	}
	return s.update(ctx, "token", "", func(x *tx) error {
		taken, err := x.c.one(`SELECT 1 FROM tokens WHERE space=?1 AND (id=?2 OR hash=?3 OR name=?4 AND revoked=0) LIMIT 1`,
			[]any{t.Space, t.ID, t.Hash, t.Name}, func(*sqlite3.Stmt) {})
		if err != nil {
			return err
		}
		if taken {
			return store.TokenTaken(t.Name)
		}
		return x.exec(`INSERT INTO tokens (id, space, name, hash, scopes, threads, created, used, revoked) VALUES (?,?,?,?,?,?,?,?,?)`,
			t.ID, t.Space, t.Name, t.Hash, rawText(scopes), threads, t.Created, t.Used, t.Revoked)
	})
}

// Tokens lists a space's access tokens.
func (s *Store) Tokens(ctx context.Context, space string) (out []store.Token, err error) {
	err = s.readers.with(ctx, "tokens", func(c *conn) error {
		return c.query(`SELECT `+tokenColumns+` FROM tokens WHERE space=? ORDER BY n`, []any{space}, func(r *sqlite3.Stmt) error {
			t, err := scanToken(r)
			out = append(out, t)
			return err
		})
	})
	return out, err
}

// Token gives the access token with that hash.
func (s *Store) Token(ctx context.Context, space, hash string) (t store.Token, err error) {
	err = s.readers.with(ctx, "token", func(c *conn) error {
		var unreadable error
		found, err := c.one(`SELECT `+tokenColumns+` FROM tokens WHERE space=? AND hash=?`, []any{space, hash}, func(r *sqlite3.Stmt) {
			t, unreadable = scanToken(r)
		})
		switch {
		case err != nil:
			return err
		case !found:
			return store.NoToken()
		}
		return unreadable
	})
	return t, err
}

func scanToken(r *sqlite3.Stmt) (store.Token, error) {
	t := store.Token{
		ID: r.ColumnText(0), Space: r.ColumnText(1), Name: r.ColumnText(2), Hash: r.ColumnText(3),
		Created: timeOf(r.ColumnInt64(6)), Used: timeOf(r.ColumnInt64(7)), Revoked: timeOf(r.ColumnInt64(8)),
	}
	err := json.Unmarshal(r.ColumnRawText(4), &t.Scopes)
	if raw := r.ColumnRawText(5); err == nil && raw != nil {
		err = json.Unmarshal(raw, &t.Threads)
	}
	if err != nil {
		return store.Token{}, damaged("", err)
	}
	return t, nil
}

// UseToken notes that a token was used.
func (s *Store) UseToken(ctx context.Context, space, id string) error {
	return s.changeToken(ctx, `UPDATE tokens SET used=? WHERE space=? AND id=?`, space, id)
}

// RevokeToken makes a token good for nothing.
func (s *Store) RevokeToken(ctx context.Context, space, id string) error {
	return s.changeToken(ctx, `UPDATE tokens SET revoked=CASE revoked WHEN 0 THEN ? ELSE revoked END WHERE space=? AND id=?`, space, id)
}

// changeToken runs an update of one token whose first value is the time.
func (s *Store) changeToken(ctx context.Context, sql, space, id string) error {
	return s.update(ctx, "token", "", func(x *tx) error {
		if err := x.exec(sql, store.Stamp(s.now()), space, id); err != nil {
			return err
		}
		if x.c.Changes() == 0 {
			return store.NoToken()
		}
		return nil
	})
}
