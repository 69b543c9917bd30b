package line

import (
	"regexp"
	"strings"

	"github.com/skeinhq/skein/thread"
)

// entryHead is how a line of an answer begins, with the marks of lists and of
// bold text that models like to add.
var entryHead = regexp.MustCompile("^[\\s>*`\\-]*(\\d{1,18}\\+\\d{1,18})[*`]*\\s*[|:][*`]*[ \\t]*")

// copiedHead is an id+n| within a line.
var copiedHead = regexp.MustCompile(`(^|\s)(\d{1,18}\+\d{1,18})\|\s*`)

// readAnswer finds the lines of the entries that were asked for. Of a line given
// twice the first counts; lines for other entries, and what stands before the
// first or after a blank line, are no lines. A line that goes on below itself is
// put together.
func readAnswer(answer string, asked map[thread.Span]bool) map[thread.Span]string {
	lines := map[thread.Span]string{}
	var at thread.Span
	open := false
	for l := range strings.Lines(valid(answer)) {
		l = strings.TrimRight(l, " \t\r\n")
		if m := entryHead.FindStringSubmatch(l); m != nil {
			span, err := thread.ParseSpan(m[1])
			_, twice := lines[span]
			open = err == nil && asked[span] && !twice
			if open {
				at = span
				lines[at] = l[len(m[0]):]
			}
			continue
		}
		if strings.TrimSpace(l) == "" || strings.HasPrefix(strings.TrimSpace(l), "```") {
			open = false
		}
		if open {
			lines[at] += " " + strings.TrimSpace(l)
		}
	}
	return lines
}

// stripHeads takes copied id+n| heads out of a line.
func stripHeads(text string) string {
	for {
		stripped := copiedHead.ReplaceAllStringFunc(text, func(m string) string {
			g := copiedHead.FindStringSubmatch(m)
			if _, err := thread.ParseSpan(g[2]); err != nil {
				return m
			}
			return g[1]
		})
		if stripped == text {
			return text
		}
		text = stripped
	}
}

// cleaned is a model's line as it is kept: without heads that it copied, on one
// line, and for a leaf after who spoke to whom.
func (it *item) cleaned(text string) string {
	text = printable(strings.TrimSpace(stripHeads(text)))
	text = strings.TrimSpace(text)
	if text == "" || !it.isLeaf() {
		return text
	}
	us := utterances(it.message)
	for _, u := range us {
		if u.head != "" && strings.HasPrefix(text, strings.TrimSpace(u.head)) {
			return text
		}
	}
	who, _ := speakers(us[0].head)
	if who != "" {
		text = strings.TrimSpace(strings.TrimPrefix(text, who+":"))
	}
	if text == "" {
		return ""
	}
	return us[0].head + text
}
