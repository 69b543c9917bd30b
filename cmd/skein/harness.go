package main

import (
	"slices"
	"strings"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

// always is the word that allows every such call.
const always = "always"

// approve allows a call: [CALL] [always].
func (c *chat) approve(args []string) error {
	v := verdict{state: thread.ApprovalAllowed, scope: thread.ScopeOnce}
	if n := len(args); n > 0 && args[n-1] == always {
		v.scope = thread.ScopeThread
		args = args[:n-1]
	}
	if len(args) > 1 {
		return misused("/approve [CALL] [always]")
	}
	return c.decideHere(argument(args, 0), v)
}

// deny denies a call: what is typed is a reason, after the call's id where that is
// named.
func (c *chat) deny(args []string) error {
	asked, err := c.thread.Pending(c.ctx)
	if err != nil {
		return err
	}
	call, reason, _ := strings.Cut(argument(args, 0), " ")
	if !slices.ContainsFunc(asked, func(w skein.Asked) bool { return w.Call == call }) {
		call, reason = "", argument(args, 0)
	}
	return c.decideHere(call, verdict{state: thread.ApprovalDenied, reason: strings.TrimSpace(reason)})
}

func (c *chat) decideHere(call string, v verdict) error {
	d, err := c.decide(c.thread, call, v)
	if err != nil {
		return err
	}
	c.goesOn = true
	if c.flags.JSON {
		return c.lineJSON(map[string]any{"decided": d})
	}
	return c.printf("%s\n", safe(d.String()))
}

// steer says something that the running turn hears.
func (c *chat) steer(args []string) error {
	text := argument(args, 0)
	if text == "" {
		return misused("/steer TEXT")
	}
	state, err := c.thread.State(c.ctx)
	if err != nil {
		return err
	}
	if state.Turn == 0 {
		return &thread.Error{Code: thread.Invalid, Op: "steer", Message: "no turn runs that could hear it", Hint: "say it without /steer"}
	}
	if _, err := c.thread.Say(c.ctx, c.me(), text, skein.Now()); err != nil {
		return err
	}
	c.goesOn = true // where a call waits for an approval it runs only when somebody lets it
	return c.note("the running turn hears it before its next step\n")
}

// stop stops the turn, whoever runs it.
func (c *chat) stop(_ []string) error {
	open, err := c.stopTurn(c.thread)
	if err != nil {
		return err
	}
	return c.note(stopWords(open) + "\n")
}

// showTools lists what the agent that answers may use.
func (c *chat) showTools() error {
	o, err := c.thread.Offer(c.ctx)
	if err != nil {
		return err
	}
	if c.flags.JSON {
		return c.printJSON(o.Tools)
	}
	if len(o.Tools) == 0 {
		return c.printf("%s has no tools\n", safe(o.Agent))
	}
	for _, t := range o.Tools {
		if err := c.printf("%-24s %-9s %s\n", safe(t.Name), access(t), safe(permitted(t))); err != nil {
			return err
		}
	}
	return nil
}

func access(t skein.OfferedTool) string {
	if t.ReadOnly {
		return "reads"
	}
	return "changes"
}

// permitted says what the permissions say of a tool.
func permitted(t skein.OfferedTool) string {
	s := string(t.Decision)
	if len(t.Others) > 0 {
		s += "; by path or command: " + strings.Join(t.Others, ", ")
	}
	if t.Locked != "" {
		s += "; locked until the skill " + t.Locked + " is loaded"
	}
	return s
}

// showSkills lists the skills that the agent that answers may load.
func (c *chat) showSkills() error {
	o, err := c.thread.Offer(c.ctx)
	if err != nil {
		return err
	}
	if c.flags.JSON {
		return c.printJSON(o.Skills)
	}
	if len(o.Skills) == 0 {
		return c.printf("%s has no skills\n", safe(o.Agent))
	}
	for _, s := range o.Skills {
		state := "not loaded"
		if s.Loaded {
			state = "loaded"
		}
		if err := c.printf("%-24s %-11s %s\n", safe(s.Name), state, safe(thread.OneLine(s.Description))); err != nil {
			return err
		}
	}
	return nil
}

// checkTranscript refuses what cannot be where nothing is kept.
func (a *app) checkTranscript() error {
	if !a.flags.NoTranscript {
		return nil
	}
	bad := func(message string) error {
		return &thread.Error{Code: thread.Invalid, Op: "transcript", Message: message, Hint: "leave out --no-transcript"}
	}
	command, rest, _ := strings.Cut(a.parsed.Command(), " ")
	switch {
	case command != "chat":
		return bad("without a transcript there is nothing to " + command)
	case rest != "":
		return bad("without a transcript no thread can be gone on with")
	}
	return nil
}
