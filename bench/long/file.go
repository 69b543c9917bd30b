package long

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/skeinhq/skein"
)

// ID names the thread of n messages in its file.
func ID(n int64) string { return fmt.Sprintf("long-%d", n) }

// File gives a database that holds the thread ID(n) with those settings.
func File(ctx context.Context, n int64, s skein.Settings) (string, error) {
	return Cached(fmt.Sprintf("skein-%d-tail-%d-outline-%d.db", n, s.Tail.High, s.Outline.High), func(path string) error {
		return New(ctx, path, ID(n), n, Seed, s)
	})
}

// New makes a thread of n messages in the database at path.
func New(ctx context.Context, path, id string, n int64, seed uint64, s skein.Settings) error {
	return withEngine(ctx, path, func(e *skein.Engine) error {
		_, err := Make(ctx, e, id, n, seed, s)
		return err
	})
}

// Many gives a database that holds many threads, ManyID(0) and on, of n messages
// each.
func Many(ctx context.Context, threads int, n int64, s skein.Settings) (string, error) {
	return Cached(fmt.Sprintf("skein-%d-threads-%d.db", threads, n), func(path string) error {
		return withEngine(ctx, path, func(e *skein.Engine) error {
			for i := range threads {
				if _, err := Make(ctx, e, ManyID(i), n, Seed, s); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// ManyID names the threads of a file with many.
func ManyID(i int) string { return fmt.Sprintf("thread-%d", i) }

func withEngine(ctx context.Context, path string, work func(*skein.Engine) error) error {
	e, err := Open(ctx, path)
	if err != nil {
		return err
	}
	err = work(e)
	if closed := e.Close(); err == nil {
		err = closed
	}
	return err
}

// Cached gives a file of that name, made once and kept in SKEIN_BENCH_DIR or the
// user's cache folder. What is there is used as it is, so remove the folder after
// a change of what goes into it.
func Cached(name string, makeFile func(path string) error) (string, error) {
	dir, err := folder()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	making, err := os.MkdirTemp(dir, "making-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(making) }() // a folder left there harms nobody
	if err := makeFile(filepath.Join(making, name)); err != nil {
		return "", err
	}
	return path, os.Rename(filepath.Join(making, name), path)
}

func folder() (string, error) {
	dir := os.Getenv("SKEIN_BENCH_DIR")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(cache, "skein-bench")
	}
	return dir, os.MkdirAll(dir, 0o755)
}
