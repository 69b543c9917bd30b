package sqlite

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

const (
	mostBlob  = 1 << 29 // bytes of one blob
	blobChunk = 1 << 20 // bytes written or read at once, so that SQLite's memory stays small
)

// PutBlob keeps bytes, at most 512 MB.
func (s *Store) PutBlob(ctx context.Context, key thread.Key, mediaType string, data []byte) (string, error) {
	if len(data) > mostBlob {
		return "", &thread.Error{Code: thread.Limit, Op: "blob", Thread: key.ID, Message: "the file is larger than 512 MB", Hint: "keep it elsewhere, and say where"}
	}
	hash := store.Hash(data)
	if known, err := s.hasBlob(ctx, key, hash); err != nil || known {
		return hash, err
	}
	return hash, s.onThread(ctx, "blob", key, func(x *tx, h *store.Head) error {
		known := false
		_, err := x.c.one(`SELECT 1 FROM blobs WHERE space=? AND root=? AND hash=?`, []any{h.Space, h.Root, hash}, func(*sqlite3.Stmt) { known = true })
		if err != nil || known {
			return err
		}
		err = x.exec(`INSERT INTO blobs (space, root, hash, type, data) VALUES (?,?,?,?,zeroblob(?))`, h.Space, h.Root, hash, mediaType, len(data))
		if err != nil {
			return err
		}
		return writeBlob(x.c, x.c.LastInsertRowID(), data)
	})
}

// hasBlob says whether the thread's family keeps the bytes already: then nothing
// needs to be written.
func (s *Store) hasBlob(ctx context.Context, key thread.Key, hash string) (known bool, err error) {
	err = s.readers.snapshot(ctx, "blob", func(c *conn) error {
		h, err := readHead(c, "blob", key)
		if err != nil {
			return err
		}
		known, err = c.one(`SELECT 1 FROM blobs WHERE space=? AND root=? AND hash=?`, []any{h.Space, h.Root, hash}, func(*sqlite3.Stmt) {})
		return err
	})
	return known, err
}

func writeBlob(c *conn, row int64, data []byte) error {
	b, err := c.OpenBlob("main", "blobs", "data", row, true)
	if err != nil {
		return err
	}
	for len(data) > 0 && err == nil {
		n := min(len(data), blobChunk)
		_, err = b.Write(data[:n])
		data = data[n:]
	}
	return errors.Join(err, b.Close())
}

// Blob reads bytes.
func (s *Store) Blob(ctx context.Context, key thread.Key, hash string) (mediaType string, data []byte, err error) {
	err = s.readers.snapshot(ctx, "blob", func(c *conn) error {
		h, err := readHead(c, "blob", key)
		if err != nil {
			return err
		}
		var row int64
		found, err := c.one(`SELECT n, type FROM blobs WHERE space=? AND root=? AND hash=?`, []any{h.Space, h.Root, strings.ToLower(hash)}, func(r *sqlite3.Stmt) {
			row, mediaType = r.ColumnInt64(0), r.ColumnText(1)
		})
		if err != nil {
			return err
		}
		if !found {
			return store.NoBlob("blob", key.ID, hash)
		}
		data, err = readBlob(c, row)
		return err
	})
	return mediaType, data, err
}

func readBlob(c *conn, row int64) ([]byte, error) {
	b, err := c.OpenBlob("main", "blobs", "data", row, false)
	if err != nil {
		return nil, err
	}
	data := make([]byte, b.Size())
	for at := 0; at < len(data) && err == nil; at += blobChunk {
		_, err = io.ReadFull(b, data[at:min(len(data), at+blobChunk)])
	}
	return data, errors.Join(err, b.Close())
}
