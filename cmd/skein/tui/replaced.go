package tui

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"
)

// maxReplaced is the most bytes of a file that are looked at to show what a call
// would put in its place.
const maxReplaced = 256 << 10

// replaces shows what a call of write_file would change in the file that is there
// now. It gives nothing where there is none, or where that cannot be shown: then the
// content alone is.
func replaces(workspace fs.FS, input json.RawMessage) (rows []inputRow, ok bool) {
	var in struct{ Path, Content string }
	if workspace == nil || json.Unmarshal(input, &in) != nil {
		return nil, false
	}
	was, whole, err := readSome(workspace, path.Clean(in.Path))
	if err != nil {
		return nil, false
	}
	rows = signed("", in.Path)
	what, change := "replaces "+counted(int64(countLines(was)), "line", "lines"), changes(was, in.Content)
	switch {
	case !whole:
		what, change = "replaces a file of more than "+bytesText(maxReplaced), signed("+ ", in.Content)
	case !utf8.ValidString(was):
		what, change = "replaces a file that is no text", signed("+ ", in.Content)
	}
	return append(append(rows, inputRow{"", what}), change...), true
}

// readSome reads a regular file, if it is not too large to be shown.
func readSome(workspace fs.FS, name string) (text string, whole bool, err error) {
	info, err := fs.Stat(workspace, name)
	if err != nil {
		return "", false, err
	}
	if !info.Mode().IsRegular() {
		return "", false, errors.New("no regular file") // a pipe would be waited for
	}
	f, err := workspace.Open(name)
	if err != nil {
		return "", false, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxReplaced+1))
	return string(data), len(data) <= maxReplaced, errors.Join(err, f.Close())
}

// countLines counts the lines of a text.
func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
