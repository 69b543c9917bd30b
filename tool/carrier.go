package tool

import (
	"regexp"
	"strings"
)

// leads are the shell's own words that may stand before a command.
var leads = set("! { } if then elif else while until do coproc function")

// named are those of them after which a name may come.
var named = set("coproc function")

// carriers are programs that run the command that follows them, with the number of
// words that come before it and are no options. What one may take as -c is a
// command line.
var carriers = carried(map[int]string{
	0: "builtin command exec time nohup env nice ionice sudo doas pkexec xargs parallel stdbuf unbuffer setsid setpriv prlimit " +
		"strace ltrace valgrind busybox toybox unshare nsenter systemd-run numactl caffeinate rlwrap noglob nocorrect script " +
		"sh bash rbash dash ash zsh ksh mksh fish",
	1: "timeout chroot taskset chrt flock su runuser",
})

// lines are programs that take what follows them as a command line.
var lines = set("eval trap watch")

// finders are the options of find after which a command comes.
var finders = set("-exec -execdir -ok -okdir")

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?\+?=`)

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

func carried(by map[int]string) map[string]int {
	out := map[string]int{}
	for n, words := range by {
		for w := range set(words) {
			out[w] = n
		}
	}
	return out
}

// command adds the commands that the words of one stand for: without what is before
// its name, and those that it runs.
func (r *reader) command(words []word) {
	c := carrying{reader: r, words: words, seen: make([]bool, len(words)), read: make([]bool, len(words))}
	for c.open = []int{0}; len(c.open) > 0 && r.left >= 0; {
		i := c.open[len(c.open)-1]
		c.open = c.open[:len(c.open)-1]
		if i < len(words) && !c.seen[i] {
			c.seen[i] = true
			c.from(i)
		}
	}
}

// carrying is the way through the words of a command to those that it runs.
type carrying struct {
	*reader
	words []word
	seen  []bool // where a command may begin, and was looked at
	read  []bool // what was read as a command line
	lines bool   // the words were read as a command line together
	open  []int  // where a command may begin
}

// from looks at a place where a command may begin.
func (c *carrying) from(i int) {
	w := c.words[i]
	switch {
	case leads[w.text] && named[w.text]:
		c.open = append(c.open, i+1, i+2)
		return
	case leads[w.text] || assignment.MatchString(w.text):
		c.open = append(c.open, i+1)
		return
	}
	c.unsure = c.unsure || w.open
	rest := c.joined(i + 1)
	c.add(strings.TrimSpace(w.text + " " + rest))
	name := w.text[strings.LastIndexByte(w.text, '/')+1:]
	if name != w.text && name != "" {
		c.add(strings.TrimSpace(name + " " + rest))
	}
	if n, is := carriers[name]; is {
		c.carry(i+1, n)
	}
	if lines[name] && !c.lines {
		c.lines = true
		c.found.read(rest, c.nested+1)
		c.carry(i+1, 0)
	}
	if (name == "for" || name == "select") && i+2 < len(c.words) && c.words[i+2].text == "do" {
		c.open = append(c.open, i+3)
	}
	if name == "find" {
		for j := i + 1; j < len(c.words); j++ {
			if finders[c.words[j].text] {
				c.open = append(c.open, j+1)
			}
		}
	}
}

func (c *carrying) joined(i int) string {
	var out strings.Builder
	for _, w := range c.words[min(i, len(c.words)):] {
		if out.Len() > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(w.text)
	}
	return out.String()
}

// carry goes over the options of a carrier to the command after them, before which
// stand so many other words. A word behind an option may belong to it, or be the
// command: both are taken.
func (c *carrying) carry(i, before int) {
	option, line, either, ended := false, false, false, false
	for ; i < len(c.words); i++ {
		text := c.words[i].text
		switch {
		case ended && !assignment.MatchString(text):
		case text == "--":
			ended, option = true, false
			continue
		case strings.HasPrefix(text, "-"):
			short := !strings.HasPrefix(text, "--")
			line = line || short && strings.ContainsAny(text, "cS") || text == "--command" || text == "--split-string"
			option = !strings.Contains(text, "=") || short
			c.attached(i)
			continue
		case assignment.MatchString(text):
			option = false
			continue
		}
		if before == 0 || either {
			c.open = append(c.open, i)
		}
		if line {
			c.line(i, text)
		}
		switch {
		case option:
			option, either = false, true
		case before > 0:
			before--
		default:
			return
		}
	}
}

// attached reads the command line that stands in the same word as its option.
func (c *carrying) attached(i int) {
	text := c.words[i].text
	if _, value, ok := strings.Cut(text, "="); ok && strings.HasPrefix(text, "--") {
		c.line(i, value)
		return
	}
	if at := strings.IndexAny(text, "cS"); at > 0 && at+1 < len(text) && !strings.HasPrefix(text, "--") {
		c.line(i, text[at+1:])
	}
}

// line reads a word, or a part of it, as a command line.
func (c *carrying) line(i int, text string) {
	if !c.read[i] {
		c.read[i] = true
		c.found.read(text, c.nested+1)
	}
}
