package tui

import (
	"encoding/json"
	"strings"

	"github.com/skeinhq/skein"
)

// Always says what is allowed where such a call is allowed always: of a tool that
// runs command lines that very line, of one for files every path, of others every
// call. What a call reaches, its question says before anything else.
func Always(a skein.Asked) string {
	var in struct{ Path, Command string }
	named := json.Unmarshal(a.Input, &in) == nil && !strings.HasPrefix(a.Question, a.Tool+": {")
	switch {
	case named && in.Command != "" && strings.HasPrefix(a.Question, a.Tool+": "+strings.Fields(in.Command + " .")[0]):
		return "that very command line in this thread"
	case named && in.Path != "":
		return a.Tool + " on every path in this thread"
	}
	return "every call of " + a.Tool + " in this thread"
}
