package guide

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ReadText reads a file of text that has at most that many bytes. What is no plain
// file, such as a pipe or a device, is refused before it is opened.
func ReadText(fsys fs.FS, name string, most int64) (string, error) {
	// Opening what is no plain file may never return.
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is not a plain file")
	}
	f, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	switch {
	case int64(len(data)) > most:
		return "", tooLarge(most)
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return "", errors.New("it is not text")
	}
	return text, nil
}

func tooLarge(most int64) error {
	return fmt.Errorf("it is larger than %d KB", most>>10)
}

// oneLine makes a text that stands on one line and shows all that it holds: white
// space and control characters become single spaces, marks that cannot be seen
// are left out, except the joiners that scripts and emoji need.
func oneLine(s string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r):
			return ' '
		case unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d':
			return -1
		}
		return r
	}, s)), " ")
}
