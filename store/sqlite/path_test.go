//go:build unix

package sqlite_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/store/sqlite"
	"github.com/skeinhq/skein/thread"
)

func listed(t testing.TB, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

func TestWhatIsNoFileIsRefusedUntouched(t *testing.T) {
	dir := t.TempDir()
	pipe, folder, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "folder"), filepath.Join(dir, "link")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	backup := filepath.Join(t.TempDir(), "backup.db")
	fillWith(t, backup, 1)
	before := fmt.Sprint(listed(t, dir))
	for path, what := range map[string]string{pipe: "it is a pipe", folder: "it is a folder", link: "it is a pipe", os.DevNull: "it is a device"} {
		for _, readOnly := range []bool{false, true} {
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{ReadOnly: readOnly})
			if err == nil {
				s.Close()
			}
			refused(t, err, thread.Storage, what)
		}
		refused(t, sqlite.Restore(t.Context(), path, fresh(t), sqlite.RestoreOptions{}), thread.Storage, what)
		refused(t, sqlite.Restore(t.Context(), backup, path, sqlite.RestoreOptions{Overwrite: true}), thread.Storage, what)
	}
	if after := fmt.Sprint(listed(t, dir)); after != before {
		t.Errorf("the folder held %s, then %s", before, after)
	}
	for _, side := range []string{os.DevNull + "-shm", os.DevNull + "-wal"} {
		if _, err := os.Lstat(side); err == nil {
			os.Remove(side)
			t.Errorf("%s was made", side)
		}
	}
}

func TestAnEmptyFileIsNoDatabaseYet(t *testing.T) {
	path, empty := fresh(t), fresh(t)
	for _, p := range []string{path, empty} {
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err := sqlite.Open(t.Context(), path, sqlite.Options{ReadOnly: true})
	refused(t, err, thread.NotFound, "is empty")
	s := open(t, path, sqlite.Options{})
	create(t, s, "a")
	// It must not be taken for a backup: that would restore nothing over everything.
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	refused(t, sqlite.Restore(t.Context(), empty, path, sqlite.RestoreOptions{Overwrite: true}), thread.NotFound, "is empty")
	if _, err := open(t, path, sqlite.Options{}).Thread(t.Context(), "", "a"); err != nil {
		t.Fatal(err)
	}
}

func TestNothingIsPutBesideWhatIsNoDatabase(t *testing.T) {
	path := fresh(t)
	if err := os.WriteFile(path, []byte(strings.Repeat("This is no database. ", 500)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, readOnly := range []bool{false, true} {
		_, err := sqlite.Open(t.Context(), path, sqlite.Options{ReadOnly: readOnly})
		refused(t, err, thread.Storage, "not a database")
	}
	if names := listed(t, filepath.Dir(path)); len(names) != 1 {
		t.Errorf("there is %v now", names)
	}
}

func TestReadingLeavesNothingForOthersToRead(t *testing.T) {
	for _, mode := range []fs.FileMode{0o600, 0o640} {
		t.Run(mode.String(), func(t *testing.T) {
			path := fresh(t)
			fillWith(t, path, 20)
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
			private := func(when string) {
				t.Helper()
				for _, name := range []string{path, path + "-wal", path + "-shm"} {
					if info, err := os.Stat(name); err != nil || info.Mode().Perm()&^mode != 0 {
						t.Errorf("%s: %s has mode %v, %v", when, filepath.Base(name), info.Mode(), err)
					}
				}
			}
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{ReadOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			state(t, s, "a")
			private("read")
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			for _, side := range []string{"-wal", "-shm"} { // as an earlier reader may have left them
				if err := os.WriteFile(path+side, nil, 0o644); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(path+side, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			state(t, open(t, path, sqlite.Options{ReadOnly: true}), "a")
			private("read again")
			create(t, open(t, path, sqlite.Options{}), "b")
			private("written")
		})
	}
}

func TestABackupThatCannotBePutThereNamesTheFolder(t *testing.T) {
	s := open(t, fresh(t), sqlite.Options{})
	create(t, s, "a")
	dir := filepath.Join(t.TempDir(), "absent")
	err := s.Backup(t.Context(), filepath.Join(dir, "backup.db"))
	refused(t, err, thread.NotFound, "make the folder "+dir)
	if os.Getuid() == 0 {
		return // nothing is closed to this user
	}
	if err := os.Mkdir(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	err = s.Backup(t.Context(), filepath.Join(dir, "backup.db"))
	refused(t, err, thread.Permission, "make the folder "+dir+" writable")
}

func TestADiskThatTakesNoMoreIsFull(t *testing.T) {
	for name, failure := range map[string]error{"space": syscall.ENOSPC, "quota": syscall.EDQUOT, "one file": syscall.EFBIG, "SQLite's": sqlite3.FULL} {
		t.Run(name, func(t *testing.T) {
			d, vfs := newDisk(t)
			s := open(t, fresh(t), sqlite.Options{VFS: vfs})
			key := create(t, s, "a")
			d.fail("write", failure)
			_, err := s.Append(t.Context(), key, store.Draft{Entries: []store.New{said(0)}})
			full(t, err)
			d.fail("write", nil)
			if _, err := s.Append(t.Context(), key, store.Draft{Entries: []store.New{said(0)}}); err != nil {
				t.Fatal(err)
			}
			clean(t, s)
		})
	}
}

// full fails the test unless err says that the disk is full, once, and that
// nothing is in doubt.
func full(t testing.TB, err error) {
	t.Helper()
	refused(t, err, thread.Storage, "the disk is full")
	for _, word := range []string{"full", "I/O error"} {
		if strings.Count(err.Error(), word) > 1 || word == "I/O error" && strings.Contains(err.Error(), word) {
			t.Errorf("too much is said: %v", err)
		}
	}
	if strings.Contains(err.Error(), thread.ErrUnknownOutcome.Error()) {
		t.Errorf("a full disk leaves no doubt: %v", err)
	}
}

// limited is set in the process whose files may not grow.
const limited = "SKEIN_TEST_LIMITED"

func TestLimitedProcess(t *testing.T) {
	path := os.Getenv(limited)
	if path == "" {
		t.Skip("runs only as the second process of another test")
	}
	s := open(t, path, sqlite.Options{})
	key := create(t, s, "a")
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1 << 20, Max: 1 << 20}); err != nil {
		t.Skip(err)
	}
	var err error
	for i := 0; err == nil; i++ {
		_, err = s.Append(t.Context(), key, store.Draft{Entries: []store.New{said(i)}})
	}
	full(t, err)
}

func TestAFileThatMayNotGrowIsToldAsAFullDisk(t *testing.T) {
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLimitedProcess$", "-test.v")
	c.Env = append(os.Environ(), limited+"="+fresh(t))
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// Paths may be relative, to the folder the process is in.
func TestBackupAndRestoreTakeRelativePaths(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx := context.Background()
	s, err := sqlite.Open(ctx, "t.db", sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(ctx, store.NewThread{Key: thread.Key{ID: "kept"}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(ctx, "copy.db"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, o := range []sqlite.RestoreOptions{{}, {Overwrite: true}} {
		if err := sqlite.Restore(ctx, "copy.db", "again.db", o); err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
	}
	s, err = sqlite.Open(ctx, "again.db", sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Thread(ctx, "", "kept"); err != nil {
		t.Error(err)
	}
}

func TestWhatIsMadeBesideADatabaseBelongsToItsOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root opens other users' databases as one who is not their owner")
	}
	const owner = 65534
	for _, readOnly := range []bool{true, false} {
		path := fresh(t)
		fillWith(t, path, 1)
		if err := os.Chown(path, owner, owner); err != nil {
			t.Skip(err)
		}
		state(t, open(t, path, sqlite.Options{ReadOnly: readOnly}), "a")
		for _, name := range []string{path + "-wal", path + "-shm"} {
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			if has := info.Sys().(*syscall.Stat_t); has.Uid != owner || has.Gid != owner || info.Mode().Perm() != 0o600 {
				t.Errorf("%s belongs to %d:%d, with mode %v", filepath.Base(name), has.Uid, has.Gid, info.Mode())
			}
		}
	}
}

// What a killed backup or restore left beside a database is removed by a later
// one, once it is surely stale.
func TestWhatKilledCopiesLeftIsRemoved(t *testing.T) {
	dir := t.TempDir()
	old, fresh := filepath.Join(dir, ".skein-1"), filepath.Join(dir, ".skein-2")
	for _, d := range []string{old, fresh} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	yesterday := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(old, yesterday, yesterday); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(context.Background(), filepath.Join(dir, "t.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Backup(context.Background(), filepath.Join(dir, "copy.db")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); !os.IsNotExist(err) {
		t.Errorf("the old one is still there: %v", err)
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Errorf("the fresh one is gone: %v", err)
	}
}
