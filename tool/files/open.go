package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxFile is the largest file that is read as a whole: to be changed, or searched.
const maxFile = 16 << 20

// open opens a regular file for reading. What else there is, is named; it is not
// opened, since opening a device or a pipe may do something or wait for somebody.
func (w *Workspace) open(p string) (*os.File, fs.FileInfo, error) {
	name := filepath.FromSlash(p)
	info, err := w.root.Stat(name)
	if err != nil {
		return nil, nil, w.trouble(p, err)
	}
	if err := regular(p, info); err != nil {
		return nil, nil, err
	}
	f, err := w.root.OpenFile(name, os.O_RDONLY|dontWait, 0)
	if err != nil {
		return nil, nil, w.trouble(p, err)
	}
	// Another file may have come in its place meanwhile.
	if info, err = f.Stat(); err == nil {
		err = regular(p, info)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// kinds are what is no regular file.
var kinds = []struct {
	mode fs.FileMode
	name string
}{
	{fs.ModeDir, "a folder"},
	{fs.ModeNamedPipe, "a named pipe"},
	{fs.ModeSocket, "a socket"},
	{fs.ModeDevice, "a device"},
	{fs.ModeSymlink, "a link"},
}

func regular(p string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	if info.IsDir() {
		return fmt.Errorf("%s is a folder; list_files shows what is in it", shown(p))
	}
	return fmt.Errorf("%s is %s, and only regular files can be opened", shown(p), kindOf(info.Mode()))
}

func kindOf(mode fs.FileMode) string {
	for _, k := range kinds {
		if mode&k.mode != 0 {
			return k.name
		}
	}
	return "no regular file"
}

// whole reads a file that is to be changed.
func (w *Workspace) whole(p string) (content []byte, info fs.FileInfo, err error) {
	f, info, err := w.open(p)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	content, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, nil, w.trouble(p, err)
	}
	if len(content) > maxFile {
		return nil, nil, fmt.Errorf("%s has %s, and files of more than %s cannot be changed here", shown(p), bytesOf(info.Size()), bytesOf(maxFile))
	}
	return content, info, nil
}

// bytesOf writes a number of bytes, and how much that is.
func bytesOf(n int64) string {
	text := fmt.Sprintf("%d bytes", n)
	for _, unit := range []struct {
		name string
		size float64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if float64(n) >= unit.size {
			return fmt.Sprintf("%s (%s %s)", text, strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/unit.size), ".0"), unit.name)
		}
	}
	return text
}
