package tui

import (
	"regexp"
	"strings"
)

// maxNesting is how deep quotes and lists are drawn as such. The renderer's work
// grows out of all bounds with depth, above all once the indent reaches the
// screen's width; what is deeper is shown as it was written.
const maxNesting = 12

// nested finds what opens a quote or a list at the start of a line.
var nested = regexp.MustCompile(`^[ \t]*(>|[-+*][ \t]|[0-9]{1,9}[.)][ \t])`)

// deep says whether a text is nested too deeply to be drawn in that width.
func deep(text string, width int) bool {
	limit := min(maxNesting, max(1, width/6))
	for line := range strings.Lines(text) {
		level := 0
		for rest := line; level <= limit; level++ {
			opened := nested.FindString(rest)
			if opened == "" {
				level += (len(rest) - len(strings.TrimLeft(rest, " "))) / 2
				break
			}
			level += (len(opened) - len(strings.TrimLeft(opened, " "))) / 4
			rest = rest[len(opened):]
		}
		if level > limit {
			return true
		}
	}
	return false
}
