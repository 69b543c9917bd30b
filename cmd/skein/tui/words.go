package tui

import (
	"regexp"
	"strings"

	"github.com/skeinhq/skein/thread"
)

// misfit is how Go says that a value does not fit.
var misfit = regexp.MustCompile(`(?:json: )?cannot unmarshal (\S+)(?: \S+)? into Go (?:struct field (?:[^\s.]*\.)*(\S+)|value) of type \S+`)

// Words says on one line what went wrong, without what only says how Go found out.
func Words(err error) string {
	text := thread.OneLine(err.Error())
	for _, tail := range []string{": context canceled", ": context deadline exceeded"} {
		text = strings.ReplaceAll(text, tail, "")
	}
	return misfit.ReplaceAllStringFunc(text, func(s string) string {
		m := misfit.FindStringSubmatch(s)
		if m[2] == "" {
			return "the value cannot be a " + m[1]
		}
		return m[2] + " cannot be a " + m[1]
	})
}
