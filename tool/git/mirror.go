package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/skeinhq/skein/internal/process"
)

// maxIndex is the most bytes of an index.
const maxIndex = 1 << 30

// mirror is a git folder of ours that stands for the repository's: what says
// which commits and files there are is the repository's, what says how to treat
// them is ours.
type mirror struct {
	git *git
	dir string
	env []string
}

// mirror makes a mirror of the workspace's repository.
func (g *git) mirror(ctx context.Context) (*mirror, error) {
	repo, err := g.repository()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "skein-git-")
	if err != nil {
		return nil, errors.Join(err, repo.close())
	}
	m := &mirror{git: g, dir: dir}
	err = errors.Join(m.fill(ctx, repo), repo.close())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the git repository cannot be read: %w", err), m.remove())
	}
	return m, nil
}

func (m *mirror) remove() error { return os.RemoveAll(m.dir) }

// copied are the small files that are copied, if they are there: those of the
// working tree, and those that all share.
var copied = struct{ own, common []string }{
	own:    []string{"HEAD", "ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "info/sparse-checkout"},
	common: []string{"shallow", "info/exclude"},
}

// linked are the places that may be large and that git only reads.
var linked = []string{"refs", "packed-refs", "logs", "reftable"}

func (m *mirror) fill(ctx context.Context, repo repository) error {
	for _, dir := range []string{"objects", "info"} {
		if err := os.Mkdir(filepath.Join(m.dir, dir), 0o700); err != nil {
			return err
		}
	}
	if _, err := repo.own.Lstat("HEAD"); err != nil {
		return errors.New("it has no HEAD")
	}
	for _, name := range copied.own {
		if err := m.copy(repo.own, name); err != nil {
			return err
		}
	}
	for _, name := range copied.common {
		if err := m.copy(repo.common, name); err != nil {
			return err
		}
	}
	if err := m.index(repo.own); err != nil {
		return err
	}
	for _, name := range linked {
		if err := m.link(repo.common, name); err != nil {
			return err
		}
	}
	objects := filepath.Join(repo.common.Name(), "objects")
	m.env = m.environ(objects)
	return m.configure(ctx, repo)
}

// copy copies a small file that may be there.
func (m *mirror) copy(from *os.Root, name string) error {
	text, err := small(from, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(m.dir, filepath.FromSlash(name)), []byte(text), 0o600)
}

// link links a file or folder that may be there and is no link itself.
func (m *mirror) link(from *os.Root, name string) error {
	info, err := from.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is neither a file nor a folder", name)
	}
	return os.Symlink(filepath.Join(from.Name(), name), filepath.Join(m.dir, name))
}

// index copies the index, and the one that it may rest on. The copy keeps its
// time: git takes a file that is older than the index for unchanged.
func (m *mirror) index(from *os.Root) error {
	names, err := fs.Glob(from.FS(), "sharedindex.*")
	if err != nil {
		return err
	}
	for _, name := range append(names, "index") {
		if err := m.copyIndex(from, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (m *mirror) copyIndex(from *os.Root, name string) error {
	in, info, err := regular(from, name)
	if err != nil {
		return err
	}
	defer in.Close()
	to := filepath.Join(m.dir, name)
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(in, maxIndex+1))
	if err == nil && n > maxIndex {
		err = fmt.Errorf("%s has more than %d bytes", name, maxIndex)
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

// environ is all of git's environment.
func (m *mirror) environ(objects string) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + m.dir, "XDG_CONFIG_HOME=" + m.dir,
		"LC_ALL=C.UTF-8", "TERM=dumb",
		"GIT_DIR=" + m.dir, "GIT_WORK_TREE=" + m.git.dir, "GIT_CEILING_DIRECTORIES=" + filepath.Dir(m.git.dir),
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + listed(objects),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_SYSTEM=" + os.DevNull, "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_ATTR_NOSYSTEM=1",
		"GIT_OPTIONAL_LOCKS=0", "GIT_LITERAL_PATHSPECS=1",
		"GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_PAGER=cat", "GIT_EDITOR=false",
	}
	if root := os.Getenv("SYSTEMROOT"); runtime.GOOS == "windows" && root != "" {
		env = append(env, "SYSTEMROOT="+root)
	}
	return env
}

// listed is a path as one of a list in an environment variable of git, in which
// signs that part a list may stand within quotes.
func listed(p string) string {
	if !strings.ContainsAny(p, "\"\\\n:") || runtime.GOOS == "windows" {
		return p
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(p) + `"`
}

// command is a call of git on the mirror and the workspace's files.
func (m *mirror) command(args ...string) process.Command {
	return process.Command{Path: m.git.path, Args: append([]string{"--no-pager"}, args...), Dir: m.git.dir, Env: m.env, Time: Time, Keep: keep}
}

// without is a call in which the paths are patterns of git's own: those to show and
// those to leave out.
func (m *mirror) without(args ...string) process.Command {
	c := m.command(args...)
	c.Env = append(slices.Clone(c.Env), "GIT_LITERAL_PATHSPECS=0")
	return c
}
