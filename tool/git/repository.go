package git

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// maxEntries is the most entries of a repository's folders that are looked through
// for links.
const maxEntries = 200_000

// repository is where a repository's files are: those of this working tree, and
// those that all working trees share.
type repository struct {
	own, common *os.Root
}

func (r repository) close() error {
	if r.own == r.common {
		return r.own.Close()
	}
	return errors.Join(r.own.Close(), r.common.Close())
}

// repository finds the repository of the workspace.
func (g *git) repository() (r repository, err error) {
	root, err := os.OpenRoot(g.dir)
	if err != nil {
		return r, err
	}
	defer root.Close()
	info, err := root.Lstat(".git")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, errors.New("the workspace is no git repository: it has no .git")
	case err != nil:
		return r, err
	case info.Mode().IsRegular():
		return g.workingTree(root)
	case !info.IsDir():
		return r, errors.New("the .git of the workspace is neither a folder nor a file; the git tool does not follow it")
	}
	if r.own, err = root.OpenRoot(".git"); err != nil {
		return r, err
	}
	r.common = r.own
	if err := r.check(); err != nil {
		return r, errors.Join(err, r.close())
	}
	return r, nil
}

// workingTree finds the repository that a file .git names, if the repository
// knows the workspace as one of its working trees: a file alone could name any.
func (g *git) workingTree(root *os.Root) (repository, error) {
	text, err := small(root, ".git")
	if err != nil {
		return repository{}, err
	}
	stranger := errors.New("the workspace's .git names a folder that does not know the workspace as its working tree (a submodule, perhaps); the git tool does not follow it")
	own, ok := strings.CutPrefix(text, "gitdir:")
	if !ok {
		return repository{}, stranger
	}
	own, err = real(g.dir, own)
	if err != nil {
		return repository{}, stranger
	}
	common := filepath.Dir(filepath.Dir(own))
	if filepath.Base(filepath.Dir(own)) != "worktrees" {
		return repository{}, stranger
	}
	r := repository{}
	if r.own, err = os.OpenRoot(own); err != nil {
		return r, err
	}
	if r.common, err = os.OpenRoot(common); err != nil {
		return r, errors.Join(err, r.own.Close())
	}
	if !names(r.own, "gitdir", own, filepath.Join(g.dir, ".git")) || !names(r.own, "commondir", own, common) {
		return r, errors.Join(stranger, r.close())
	}
	return r, nil
}

// names says whether a file of a folder names a path.
func names(root *os.Root, file, dir, want string) bool {
	text, err := small(root, file)
	if err != nil {
		return false
	}
	got, err := real(dir, text)
	return err == nil && got == want
}

// real is a path that a file of dir names, without links.
func real(dir, named string) (string, error) {
	named = filepath.FromSlash(strings.TrimSpace(named))
	if !filepath.IsAbs(named) {
		named = filepath.Join(dir, named)
	}
	return filepath.EvalSymlinks(named)
}

// check refuses a repository that would lead git out of the workspace.
func (r repository) check() error {
	if _, err := r.common.Lstat("objects/info/alternates"); err == nil {
		return errors.New("the repository borrows objects from another folder (objects/info/alternates); the git tool does not follow that")
	}
	left := maxEntries
	for _, each := range []struct {
		dir   string
		depth int
	}{{"refs", 64}, {"logs", 64}, {"reftable", 1}, {"objects", 1}, {"objects/pack", 1}, {"objects/info", 2}} {
		if err := r.noLinks(each.dir, each.depth, &left); err != nil {
			return err
		}
	}
	return nil
}

// noLinks refuses links in a folder and those in it.
func (r repository) noLinks(dir string, depth int, left *int) error {
	info, err := r.common.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s of the repository is no folder; the git tool does not follow it", quoted(dir))
	}
	f, err := r.common.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	for {
		some, err := f.ReadDir(1000)
		for _, e := range some {
			p := path.Join(dir, e.Name())
			switch *left--; {
			case *left < 0:
				return fmt.Errorf("the repository has more than %d files in %s; git pack-refs or git gc make them fewer", maxEntries, quoted(dir))
			case !e.IsDir() && !e.Type().IsRegular():
				return fmt.Errorf("%s of the repository is a link or no file; the git tool does not follow it", quoted(p))
			case e.IsDir() && depth > 1:
				if err := r.noLinks(p, depth-1, left); err != nil {
					return err
				}
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// maxSmall is the most bytes of a repository's small files.
const maxSmall = 1 << 20

// small reads a small file.
func small(root *os.Root, name string) (string, error) {
	f, _, err := regular(root, name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSmall+1))
	if err == nil && len(text) > maxSmall {
		err = fmt.Errorf("%s of the repository has more than %d bytes", quoted(name), maxSmall)
	}
	return string(text), err
}

// regular opens a regular file that is no link, without waiting for anybody.
func regular(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s of the repository is no regular file", quoted(name))
	}
	f, err := root.OpenFile(name, os.O_RDONLY|dontWait, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err = f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s of the repository is no regular file", quoted(name))
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}
