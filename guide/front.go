package guide

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
)

// The most that a settings text may hold: a parser's memory grows with nesting.
const (
	maxYAML      = 64 << 10
	maxYAMLDepth = 16
)

// FrontMatter parts a Markdown file into the settings that stand between its
// first --- lines, which may be absent, and the rest. Ends of lines come out as
// single newlines. The settings are fit for a YAML parser as [CheckYAML] says.
func FrontMatter(data []byte) (head, body []byte, err error) {
	data = bytes.ReplaceAll(bytes.TrimPrefix(data, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
	rest, ok := bytes.CutPrefix(data, []byte("---\n"))
	if !ok {
		return nil, data, nil
	}
	if body, ok := bytes.CutPrefix(rest, []byte("---\n")); ok {
		return nil, body, nil
	}
	head, body, ok = bytes.Cut(rest, []byte("\n---\n"))
	if !ok {
		if head, ok = bytes.CutSuffix(rest, []byte("\n---")); !ok {
			return nil, nil, errors.New("the front matter that starts with --- does not end with ---")
		}
	}
	return head, body, CheckYAML(head)
}

// CheckYAML refuses a settings text that is too long or nested too deeply to be
// one, before a parser sees it.
func CheckYAML(data []byte) error {
	if len(data) > maxYAML {
		return fmt.Errorf("it has %d bytes, the most is %d", len(data), maxYAML)
	}
	depth := 0
	for line := range bytes.Lines(data) {
		opened := bytes.Count(line, []byte("[")) + bytes.Count(line, []byte("{")) - bytes.Count(line, []byte("]")) - bytes.Count(line, []byte("}"))
		indent := len(line) - len(bytes.TrimLeft(line, " -?"))
		if depth += max(opened, -depth); depth > maxYAMLDepth || indent > 4*maxYAMLDepth {
			return fmt.Errorf("it is nested more than %d deep", maxYAMLDepth)
		}
	}
	return nil
}

// Decode reads settings that [FrontMatter] gave, of which each must be known. Its
// errors name the file's line.
func Decode(head []byte, into any) error {
	if len(bytes.TrimSpace(head)) == 0 {
		return nil
	}
	// The line before the head is the one of the dashes.
	return decode(append([]byte("\n"), head...), into, yaml.Strict())
}

// DecodeYAML reads the settings of a whole file, within the bounds of [CheckYAML].
func DecodeYAML(data []byte, into any) error {
	if err := CheckYAML(data); err != nil {
		return err
	}
	return decode(data, into)
}

// decode reads YAML. The parser is known to panic on tags that do not fit their
// values; nobody's file takes more down than itself.
func decode(data []byte, into any, options ...yaml.DecodeOption) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("a value's tag does not fit it; take the ! away")
		}
	}()
	if err := yaml.UnmarshalWithOptions(data, into, options...); err != nil {
		line, _, _ := strings.Cut(err.Error(), "\n")
		return errors.New(line)
	}
	return nil
}
