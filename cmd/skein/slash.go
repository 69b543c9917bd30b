package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

// slash is a command typed in a talk.
type slash struct {
	name, args, about string
	most              int // arguments at the most; -1: all the rest is one
	run               func(c *chat, args []string) error
}

// slashes are the commands of a talk. /exit and /help are handled where the
// table is read.
func slashes() []slash {
	return []slash{
		{"prompt", "[AGENT]", "show what the model would be sent", 1, func(c *chat, args []string) error {
			return c.showPrompt(c.thread, argument(args))
		}},
		{"outline", "", "show the outline", 0, func(c *chat, _ []string) error { return c.showOutline(c.thread) }},
		{"zoom", "ID N [PAGE]", "open a line", 3, func(c *chat, args []string) error {
			n, err := numbers(args, "/zoom ID N [PAGE]", 2, 1)
			if err != nil {
				return err
			}
			return c.showZoom(c.thread, thread.Span{ID: n[0], N: n[1]}, int(n[2]))
		}},
		{"read", "ID [COUNT]", "read messages whole", 2, func(c *chat, args []string) error {
			n, err := numbers(args, "/read ID [COUNT]", 1, 1)
			if err != nil {
				return err
			}
			return c.showRead(c.thread, n[0], n[1])
		}},
		{"search", "WORDS", "search everything said", -1, func(c *chat, args []string) error {
			return c.showSearch(c.thread, skein.SearchQuery{Text: argument(args)})
		}},
		{"approve", "[CALL] [always]", "allow a call that waits", 2, (*chat).approve},
		{"approve!", "[CALL]", "allow it, and every call of the tool in this thread; of a command that very line", 1, func(c *chat, args []string) error {
			return c.approve(append(args, always))
		}},
		{"deny", "[CALL] [REASON]", "deny a call that waits", -1, (*chat).deny},
		{"steer", "TEXT", "say something that the running turn hears", -1, (*chat).steer},
		{"stop", "", "stop the turn, whoever runs it", 0, (*chat).stop},
		{"tools", "", "list the tools and what the permissions say of them", 0, func(c *chat, _ []string) error { return c.showTools() }},
		{"skills", "", "list the skills, and which are loaded", 0, func(c *chat, _ []string) error { return c.showSkills() }},
		{"compact", "", "make the prompt smaller now", 0, func(c *chat, _ []string) error { return c.compact(c.thread) }},
		{"retry", "", "send again what no answer came to, or make the newest again", 0, func(c *chat, _ []string) error { return c.retry() }},
		{"model", "[NAME]", "show or change the model that answers here", 1, (*chat).changeModel},
		{"usage", "", "show what requests took", 0, func(c *chat, _ []string) error { return c.showUsage(c.thread) }},
		{"rewind", "ID", "undo every message after that one", 1, func(c *chat, args []string) error {
			n, err := numbers(args, "/rewind ID", 1)
			if err != nil {
				return err
			}
			return c.rewind(c.thread, n[0])
		}},
		{"fork", "NAME [ID]", "go on in a thread of its own", 2, (*chat).fork},
		{"reset", "", "start over; all stays readable", 0, func(c *chat, _ []string) error { return c.reset(c.thread) }},
		{"threads", "", "list the threads", 0, func(c *chat, _ []string) error { return c.showThreads(c.engine.Threads(c.ctx), 20) }},
	}
}

// command runs a typed command. left says that it was /exit.
func (c *chat) command(text string) (left bool, err error) {
	name, _, _ := strings.Cut(strings.TrimPrefix(text, "/"), " ")
	switch name {
	case "exit", "quit":
		return true, nil
	case "help":
		return false, c.help()
	}
	s, args, err := understood(text)
	if err != nil {
		return false, err
	}
	return false, s.run(c, args)
}

// understood gives the command that was typed, besides /exit and /help, and its
// arguments.
func understood(text string) (slash, []string, error) {
	name, rest, _ := strings.Cut(strings.TrimPrefix(text, "/"), " ")
	names := []string{"help", "exit"}
	for _, s := range slashes() {
		names = append(names, s.name)
		if s.name != name {
			continue
		}
		args := strings.Fields(rest)
		if s.most < 0 {
			args = []string{strings.TrimSpace(rest)}
		} else if len(args) > s.most {
			return slash{}, nil, misused(strings.TrimSpace("/" + s.name + " " + s.args))
		}
		return s, args, nil
	}
	hint := "/help lists the commands"
	if near := nearest(name, names); near != "" {
		hint = "did you mean /" + near + "?"
	}
	return slash{}, nil, &thread.Error{Code: thread.Invalid, Op: "chat", Message: fmt.Sprintf("there is no command /%s", name), Hint: hint}
}

func (c *chat) help() error {
	for _, s := range slashes() {
		if err := c.printf("%-22s %s\n", "/"+strings.TrimSpace(s.name+" "+s.args), s.about); err != nil {
			return err
		}
	}
	return c.printf("%-22s %s\n%-22s %s\n", "/help", "show this", "/exit", "leave")
}

// changeModel shows the model that answers in the thread, or makes it another
// from the next answer on.
func (c *chat) changeModel(args []string) error {
	if len(args) > 0 {
		if err := c.thread.Set(c.ctx, skein.Settings{Model: args[0]}); err != nil {
			return err
		}
	}
	p, err := c.thread.Prompt(c.ctx, "")
	if err != nil {
		return err
	}
	return c.printf("%s answers\n", safe(p.Request.Model))
}

func (c *chat) fork(args []string) error {
	if len(args) == 0 {
		return misused("/fork NAME [ID]")
	}
	state, err := c.thread.State(c.ctx)
	if err != nil {
		return err
	}
	at := []int64{state.Length - 1}
	if len(args) > 1 {
		if at, err = numbers(args[1:], "/fork NAME [ID]", 1); err != nil {
			return err
		}
	}
	t, err := c.forkThread(c.thread, at[0], args[0], "")
	if err != nil {
		return err
	}
	c.thread = t
	return nil
}

// argument gives the first argument, or nothing.
func argument(args []string) string {
	if len(args) > 0 {
		return args[0]
	}
	return ""
}

// numbers reads args as numbers: the first must are required, what is missing of
// the rest is taken from defaults.
func numbers(args []string, usage string, must int, defaults ...int64) ([]int64, error) {
	if len(args) < must {
		return nil, misused(usage)
	}
	var out []int64
	for _, a := range args {
		n, err := strconv.ParseInt(a, 10, 64)
		if err != nil {
			return nil, misused(usage)
		}
		out = append(out, n)
	}
	if missing := must + len(defaults) - len(out); missing > 0 {
		out = append(out, defaults[len(defaults)-missing:]...)
	}
	return out, nil
}

func misused(usage string) error {
	return &thread.Error{Code: thread.Invalid, Op: "chat", Message: "that is not how it is used", Hint: "write " + usage}
}

// nearest gives the name that is at most two edits away, or that typed is the
// start of; the first of the nearest.
func nearest(typed string, names []string) string {
	best, at := 3, ""
	for _, n := range names {
		d := edits(typed, n)
		if typed != "" && strings.HasPrefix(n, typed) {
			d = min(d, 1)
		}
		if d < best {
			best, at = d, n
		}
	}
	return at
}

// edits is the Levenshtein distance.
func edits(a, b string) int {
	x, y := []rune(a), []rune(b)
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(y)]
}
