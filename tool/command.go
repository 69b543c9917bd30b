package tool

import (
	"regexp"
	"strings"
)

// shellMarks are the characters by which one command line is several, or writes
// to a file, or holds what only the shell knows.
const shellMarks = ";&|<>()$`\n\r"

// allowable is a command line as an allow rule sees it. White space that a quote
// or backslash may make part of a word stays as it is. ok is false where a
// control character makes it something that no rule can have meant.
func allowable(command string) (line string, ok bool) {
	line = strings.Trim(command, " \t\r\n")
	for _, c := range line {
		if (c < ' ' || c == 0x7f) && !strings.ContainsRune("\t\r\n", c) {
			return "", false
		}
	}
	if strings.ContainsAny(line, `'"\`) {
		return line, true
	}
	return blanks.ReplaceAllString(line, " "), true
}

var (
	blanks = regexp.MustCompile(`[ \t]+`)
	white  = regexp.MustCompile(`[ \t\r\n]+`)

	// before is what may stand before a command's name in a piece of a line.
	before = regexp.MustCompile(`^(?:(?:[!{]|if|then|elif|else|while|until|do|time|exec|command|builtin|[A-Za-z_][A-Za-z0-9_]*=\S*) )+`)

	unquoted = strings.NewReplacer(`"`, "", `'`, "", `\`, "")
)

// commandsIn gives what a deny or ask rule sees of a command line, in two ways.
// One takes it by its signs: the whole, each part between shell marks, be they
// quoted or not, and each of these without quotes and without what may stand before
// a command. The other reads it as a shell does ([commandsRead]). A text may come
// more than once.
//
// unsure says that a command's name is not written out in the line, or that the
// line is too tangled to tell: it may be any command.
func commandsIn(line string) (texts []string, unsure bool) {
	read := commandsRead(line)
	texts = read.texts
	add := func(s string) {
		s = strings.TrimSpace(white.ReplaceAllString(s, " "))
		if s == "" {
			return
		}
		texts = append(texts, s)
		if bare := before.ReplaceAllString(strings.TrimSpace(unquoted.Replace(s)), ""); bare != s {
			texts = append(texts, bare)
		}
	}
	// A line that goes on after a backslash is one line.
	line = strings.ReplaceAll(line, "\\\n", "")
	add(line)
	parts := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(shellMarks, r) })
	if len(parts) == 1 && parts[0] == line {
		return texts, read.unsure
	}
	for _, p := range parts {
		add(p)
	}
	return texts, read.unsure
}
