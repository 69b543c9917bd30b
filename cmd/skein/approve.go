package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/cmd/skein/tui"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

// decision is what somebody decided about a call.
type decision struct {
	Thread   string `json:"thread"`
	Call     string `json:"call"`
	Tool     string `json:"tool"`
	State    string `json:"state"` // allowed, denied
	Scope    string `json:"scope,omitempty"`
	By       string `json:"by"`
	Reason   string `json:"reason,omitempty"`
	Question string `json:"question"`

	always string // what else is allowed
}

// String says it in a sentence without its end.
func (d decision) String() string {
	s := fmt.Sprintf("%s: %s", d.State, d.Question)
	if d.Scope == thread.ScopeThread {
		s += ", and " + d.always
	}
	if d.Reason != "" {
		s += " (" + d.Reason + ")"
	}
	return s
}

// verdict is how a call is decided about.
type verdict struct {
	state, scope, reason string
}

// decide decides about the call of that id, or the only one that waits.
func (a *app) decide(t *skein.Thread, call string, v verdict) (decision, error) {
	asked, err := t.Pending(a.ctx)
	if err != nil {
		return decision{}, err
	}
	d := decision{Thread: t.ID(), Call: call, State: v.state, Scope: v.scope, By: a.me(), Reason: v.reason}
	if call == "" && len(asked) == 1 {
		d.Call = asked[0].Call
	}
	if i := slices.IndexFunc(asked, func(w skein.Asked) bool { return w.Call == d.Call }); i >= 0 {
		d.Tool, d.Question, d.always = asked[i].Tool, asked[i].Question, tui.Always(asked[i])
	}
	switch {
	case v.state == thread.ApprovalDenied:
		err = t.Deny(a.ctx, d.By, d.Call, v.reason)
	case v.scope == thread.ScopeThread:
		err = t.ApproveAlways(a.ctx, d.By, d.Call)
	default:
		err = t.Approve(a.ctx, d.By, d.Call)
	}
	return d, err
}

// decided decides about a call and tells how it goes on.
func (a *app) decided(id, call string, v verdict) error {
	return a.inThread(toChange, id, func(_ *skein.Engine, t *skein.Thread) error {
		d, err := a.decide(t, call, v)
		if err != nil {
			return err
		}
		if a.flags.JSON {
			return a.printJSON(d)
		}
		return a.printf("%s; the chat that has the thread open goes on, else skein reply %s does\n", safe(d.String()), safe(id))
	})
}

type approveCmd struct {
	Thread string `arg:"" help:"The thread."`
	Call   string `arg:"" optional:"" help:"The call's id, where several wait."`
	Always bool   `help:"Allow every such call in this thread from now on."`
}

func (approveCmd) Help() string {
	return example("skein approve launch", "skein approve launch call-4-1 --always") +
		"\n\n--always is for every call of that tool in this thread, with whatever path or" +
		"\ninput; of a tool that runs commands only for that very command line. skein" +
		"\napprovals THREAD lists what was allowed so, and takes it back."
}

func (c approveCmd) Run(a *app) error {
	scope := thread.ScopeOnce
	if c.Always {
		scope = thread.ScopeThread
	}
	return a.decided(c.Thread, c.Call, verdict{state: thread.ApprovalAllowed, scope: scope})
}

type denyCmd struct {
	Thread string `arg:"" help:"The thread."`
	Call   string `arg:"" optional:"" help:"The call's id, where several wait."`
	Reason string `placeholder:"TEXT" help:"Why, for the model."`
}

func (denyCmd) Help() string {
	return example("skein deny launch", "skein deny launch call-4-1 --reason 'not on a Friday'")
}

func (c denyCmd) Run(a *app) error {
	return a.decided(c.Thread, c.Call, verdict{state: thread.ApprovalDenied, reason: strings.TrimSpace(c.Reason)})
}

type approvalsCmd struct {
	Thread   string `arg:"" optional:"" help:"The thread; without one all of them."`
	Command  string `arg:"" optional:"" help:"With --ask-again: only this command line."`
	AskAgain string `placeholder:"TOOL" help:"Take back what was allowed of the tool for the whole thread."`
}

func (approvalsCmd) Help() string {
	return example("skein approvals", "skein approvals launch --json",
		"skein approvals launch --ask-again write_file", "skein approvals launch --ask-again shell 'make test'")
}

// waitingCall is a call that waits, and where.
type waitingCall struct {
	Thread string `json:"thread"`
	skein.Asked
}

// Run lists what waits, a line each, and of one thread also what was allowed for all
// of it; or takes back some of that.
func (c approvalsCmd) Run(a *app) error {
	switch {
	case c.AskAgain != "" && c.Thread == "":
		return &thread.Error{Code: thread.Invalid, Op: "approvals", Message: "no thread is named", Hint: "skein approvals THREAD --ask-again " + c.AskAgain}
	case c.AskAgain != "":
		return a.askAgain(c.Thread, c.AskAgain, c.Command)
	case c.Command != "":
		return &thread.Error{Code: thread.Invalid, Op: "approvals", Message: "a command line is only for --ask-again", Hint: "--ask-again shell takes back what was allowed of the shell"}
	}
	return a.with(toRead, func(e *skein.Engine) error {
		all, err := a.waitingCalls(e, c.Thread)
		if err != nil {
			return err
		}
		allowed := tool.Allowed{}
		if c.Thread != "" {
			t, err := e.Thread(a.ctx, c.Thread)
			if err != nil {
				return err
			}
			if allowed, err = t.Allowed(a.ctx); err != nil {
				return err
			}
		}
		if a.flags.JSON && c.Thread != "" {
			return a.printJSON(map[string]any{"waiting": all, "allowed": append(tool.Allowed{}, allowed...)})
		}
		if a.flags.JSON {
			return a.printJSON(all)
		}
		if len(all) == 0 {
			if err := a.printf("nothing waits for an approval\n"); err != nil {
				return err
			}
		}
		for _, w := range all {
			if err := a.printf("%-20s %-14s %s: %s\n", safe(w.Thread), safe(w.Call), safe(w.Agent), safe(questionOf(w.Asked))); err != nil {
				return err
			}
		}
		for _, x := range allowed {
			if err := a.printf("allowed in this thread: %s\n", safe(allowedCall(x))); err != nil {
				return err
			}
		}
		return nil
	})
}

// allowedCall says what of a tool was allowed.
func allowedCall(x tool.AllowedCall) string {
	if x.Command == "" {
		return x.Tool + ", every call"
	}
	return x.Tool + ": " + thread.OneLine(x.Command)
}

// askAgain takes back what was allowed.
func (a *app) askAgain(id, name, command string) error {
	return a.inThread(toChange, id, func(_ *skein.Engine, t *skein.Thread) error {
		if err := t.AskAgain(a.ctx, name, command); err != nil {
			return err
		}
		if a.flags.JSON {
			return a.printJSON(map[string]string{"thread": id, "tool": name, "command": command})
		}
		return a.printf("%s is asked about again in %s\n", safe(allowedOr(name, command)), safe(id))
	})
}

func allowedOr(name, command string) string {
	if command == "" {
		return name
	}
	return name + ": " + command
}

// waitingCalls gives what waits in a thread, or in all of them.
func (a *app) waitingCalls(e *skein.Engine, id string) ([]waitingCall, error) {
	ids := []string{id}
	if id == "" {
		ids = nil
		for t, err := range e.Threads(a.ctx) {
			if err != nil {
				return nil, err
			}
			if t.Turn != 0 {
				ids = append(ids, t.ID)
			}
		}
	}
	all := []waitingCall{}
	for _, id := range ids {
		t, err := e.Thread(a.ctx, id)
		if err != nil {
			return nil, err
		}
		asked, err := t.Pending(a.ctx)
		if err != nil {
			return nil, err
		}
		for _, w := range asked {
			all = append(all, waitingCall{id, w})
		}
	}
	return all, nil
}

// questionOf is what a call would do, and why that is asked about.
func questionOf(w skein.Asked) string {
	if w.Reason == "" {
		return w.Question
	}
	return w.Question + " (" + w.Reason + ")"
}
