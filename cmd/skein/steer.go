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
	return c.decideHere(argument(args), v)
}

// deny denies a call: what is typed is a reason, after the call's id where that is
// named.
func (c *chat) deny(args []string) error {
	asked, err := c.thread.Pending(c.ctx)
	if err != nil {
		return err
	}
	call, reason, _ := strings.Cut(argument(args), " ")
	if !slices.ContainsFunc(asked, func(w skein.Asked) bool { return w.Call == call }) {
		call, reason = "", argument(args)
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
	text := argument(args)
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
