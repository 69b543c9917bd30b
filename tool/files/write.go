package files

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

const writeDescription = `Writes a whole file of the workspace, and makes the folders that it needs. A file that exists must have been read before, and is replaced only if it has not changed since. To change a part of a file use edit_file.`

type writeInput struct {
	Path    string `json:"path" jsonschema:"the file, from the workspace"`
	Content string `json:"content" jsonschema:"all that is to be in it"`
}

func (w *Workspace) write(ctx context.Context, in writeInput) (string, error) {
	if len(in.Content) > maxFile {
		return "", fmt.Errorf("the content has %s, and at most %s can be written", bytesOf(int64(len(in.Content))), bytesOf(maxFile))
	}
	p, err := w.at(in.Path)
	if err == nil {
		err = w.mayChange(p)
	}
	if err != nil {
		return "", err
	}
	content := []byte(in.Content)
	w.writing.Lock()
	defer w.writing.Unlock()
	_, err = w.root.Lstat(filepath.FromSlash(p))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = w.create(p, content)
	case err != nil:
		err = w.trouble(p, err)
	default:
		err = w.overwrite(ctx, p, content)
	}
	if err != nil {
		return "", err
	}
	w.reads(ctx, p, sha256.Sum256(content))
	return fmt.Sprintf("[%s is written: %s, %d lines]", shown(p), bytesOf(int64(len(content))), countLines(in.Content)), nil
}

func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// overwrite puts content in the place of a file that the caller has read.
func (w *Workspace) overwrite(ctx context.Context, p string, content []byte) error {
	was, info, err := w.whole(p)
	if err != nil {
		return err
	}
	if err := w.current(ctx, p, was); err != nil {
		return err
	}
	return w.replace(p, was, content, info.Mode())
}

// current says whether the caller has read a file with this content.
func (w *Workspace) current(ctx context.Context, p string, content []byte) error {
	read, ok := w.hasRead(ctx, p)
	switch {
	case !ok:
		return fmt.Errorf("%s exists and was not read yet; read it with read_file, then change it", shown(p))
	case read != sha256.Sum256(content):
		return changed(p)
	}
	return nil
}

func changed(p string) error {
	return fmt.Errorf("%s has changed since it was read; read it again with read_file, then change it", shown(p))
}

// create makes a file that does not exist, and its folders.
func (w *Workspace) create(p string, content []byte) error {
	if err := w.root.MkdirAll(filepath.FromSlash(path.Dir(p)), 0o777); err != nil {
		return w.trouble(p, err)
	}
	temp, err := w.beside(p, content, nil)
	if err != nil {
		return err
	}
	return errors.Join(w.place(temp, p), w.remove(temp))
}

// place gives a finished file its name unless another has it.
func (w *Workspace) place(temp, p string) error {
	err := w.root.Link(temp, filepath.FromSlash(p))
	if err != nil && !errors.Is(err, fs.ErrExist) {
		// Not every file system has hard links.
		if _, gone := w.root.Lstat(filepath.FromSlash(p)); errors.Is(gone, fs.ErrNotExist) {
			err = w.root.Rename(temp, filepath.FromSlash(p))
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return changed(p)
	}
	if err != nil {
		return w.trouble(p, err)
	}
	return nil
}

// remove removes a temporary file, if it is still there.
func (w *Workspace) remove(temp string) error {
	if err := w.root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the temporary file %s could not be removed: %w", shown(filepath.ToSlash(temp)), err)
	}
	return nil
}

// replace puts content in the place of was, which the file still holds right
// before that.
func (w *Workspace) replace(p string, was, content []byte, mode fs.FileMode) error {
	if mode.Perm()&0o200 == 0 {
		return fmt.Errorf("%s is read-only for its owner, and stays as it is", shown(p))
	}
	temp, err := w.beside(p, content, func(f *os.File) error { return f.Chmod(mode.Perm()) })
	if err != nil {
		return err
	}
	now, _, err := w.whole(p)
	if err == nil && string(now) != string(was) {
		err = changed(p)
	}
	if err == nil {
		if err = w.root.Rename(temp, filepath.FromSlash(p)); err != nil {
			err = w.trouble(p, err)
		}
	}
	return errors.Join(err, w.remove(temp))
}

// beside writes a temporary file into the folder of p, whole and on the disk, and
// gives its name. finish may do something to it; nil: nothing.
func (w *Workspace) beside(p string, content []byte, finish func(*os.File) error) (string, error) {
	temp := filepath.FromSlash(path.Join(path.Dir(p), ".skein-"+rand.Text()+".tmp"))
	f, err := w.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return "", w.trouble(p, err)
	}
	_, err = f.Write(content)
	if err == nil && finish != nil {
		err = finish(f)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(w.trouble(p, err), w.remove(temp))
	}
	return temp, nil
}
