package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/client"
	"github.com/skeinhq/skein/cmd/skein/tui"
	"github.com/skeinhq/skein/internal/prompt"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// orders are the commands of a talk with a server, by their names. They are used as
// those of a talk here; what is missing needs the server's own machine.
func orders() map[string]func(r *remote, args []string) error {
	return map[string]func(r *remote, args []string) error{
		"prompt":   (*remote).showPrompt,
		"outline":  (*remote).showOutline,
		"zoom":     (*remote).zoom,
		"read":     (*remote).read,
		"search":   (*remote).search,
		"approve":  (*remote).approve,
		"approve!": func(r *remote, args []string) error { return r.approve(append(args, always)) },
		"deny":     (*remote).deny,
		"steer":    (*remote).steer,
		"stop":     (*remote).stop,
		"retry":    (*remote).retry,
		"model":    (*remote).changeModel,
		"usage":    (*remote).usage,
		"rewind":   (*remote).rewind,
		"fork":     (*remote).fork,
		"reset":    (*remote).reset,
		"threads":  func(r *remote, _ []string) error { return r.showThreads(r.server.Threads(r.ctx), 20) },
	}
}

// command runs a typed command. left says that it was /exit.
func (r *remote) command(text string) (left bool, err error) {
	name, _, _ := strings.Cut(strings.TrimPrefix(text, "/"), " ")
	switch name {
	case "exit", "quit":
		return true, nil
	case "help":
		return false, r.help()
	}
	s, args, err := understood(text)
	if err != nil {
		return false, err
	}
	run, ok := orders()[s.name]
	if !ok {
		return false, &thread.Error{Code: thread.Invalid, Op: "chat", Message: fmt.Sprintf("there is no /%s with --server", s.name), Hint: "/help lists the commands"}
	}
	return false, run(r, args)
}

func (r *remote) help() error {
	known := orders()
	for _, s := range slashes() {
		if known[s.name] == nil {
			continue
		}
		if err := r.printf("%-22s %s\n", "/"+strings.TrimSpace(s.name+" "+s.args), s.about); err != nil {
			return err
		}
	}
	return r.printf("%-22s %s\n%-22s %s\n", "/help", "show this", "/exit", "leave")
}

// asHere reads what a server gave as the engine here gives it: they write the same
// JSON.
func asHere[T any](v any, err error) (out T, _ error) {
	if err != nil {
		return out, err
	}
	data, err := thread.Encode(v)
	if err == nil {
		err = json.Unmarshal(data, &out)
	}
	return out, err
}

// shownPrompt is a prompt as a server writes it.
type shownPrompt struct {
	Sections []prompt.Section `json:"sections"`
	Marks    []model.Mark     `json:"marks"`
	Tokens   int              `json:"tokens"`
	Ledger   prompt.Ledger    `json:"ledger"`
}

func (r *remote) showPrompt(args []string) error {
	data, err := r.server.Prompt(r.ctx, r.thread, argument(args), 0)
	if err != nil {
		return err
	}
	if r.flags.JSON {
		return r.printJSON(data)
	}
	shown, err := asHere[shownPrompt](data, nil)
	if err != nil {
		return err
	}
	p := &skein.Prompt{Sections: shown.Sections, Tokens: shown.Tokens, Ledger: shown.Ledger}
	p.Request.Marks = shown.Marks
	for _, s := range shown.Sections {
		p.Request.Messages = append(p.Request.Messages, s.Messages...)
	}
	return p.Print(r.out)
}

func (r *remote) showOutline([]string) error {
	o, err := asHere[skein.Outline](r.server.Outline(r.ctx, r.thread))
	if err != nil {
		return err
	}
	return r.printOutline(o, "")
}

func (r *remote) zoom(args []string) error {
	n, err := numbers(args, "/zoom ID N [PAGE]", 2, 1)
	if err != nil {
		return err
	}
	z, err := asHere[skein.Zoomed](r.server.Zoom(r.ctx, r.thread, thread.Span{ID: n[0], N: n[1]}, int(n[2])))
	if err != nil {
		return err
	}
	return r.show(z, z.String())
}

func (r *remote) read(args []string) error {
	n, err := numbers(args, "/read ID [COUNT]", 1, 1)
	if err != nil {
		return err
	}
	messages, next, err := r.server.Read(r.ctx, r.thread, n[0], n[1])
	out, err := asHere[skein.Reading](map[string]any{"messages": messages, "next": next}, err)
	if err != nil {
		return err
	}
	return r.show(out, out.String())
}

func (r *remote) search(args []string) error {
	found, err := asHere[skein.Results](r.server.Search(r.ctx, r.thread, client.SearchQuery{Text: argument(args)}))
	if err != nil {
		return err
	}
	return r.show(found, found.String())
}

func (r *remote) usage([]string) error {
	u, err := asHere[skein.Usage](r.server.Usage(r.ctx, r.thread))
	if err != nil {
		return err
	}
	return r.printUsage(u)
}

// approve allows a call: [CALL] [always].
func (r *remote) approve(args []string) error {
	scope := thread.ScopeOnce
	if n := len(args); n > 0 && args[n-1] == always {
		scope = thread.ScopeThread
		args = args[:n-1]
	}
	if len(args) > 1 {
		return misused("/approve [CALL] [always]")
	}
	w := r.waiting(argument(args))
	if err := r.server.Approve(r.ctx, r.thread, w.Call, scope); err != nil {
		return err
	}
	return r.decided(w, decision{State: thread.ApprovalAllowed, Scope: scope})
}

// deny denies a call: what is typed is a reason, after the call's id where that is
// named.
func (r *remote) deny(args []string) error {
	call, reason, _ := strings.Cut(argument(args), " ")
	if !slices.ContainsFunc(r.view.Docs.Agent.Waiting, func(w view.Asked) bool { return w.Call == call }) {
		call, reason = "", argument(args)
	}
	w, reason := r.waiting(call), strings.TrimSpace(reason)
	if err := r.server.Deny(r.ctx, r.thread, w.Call, reason); err != nil {
		return err
	}
	return r.decided(w, decision{State: thread.ApprovalDenied, Reason: reason})
}

// waiting gives the call of that id, or the only one that waits. Of one that does not
// wait only the id is known; the server says what is wrong with it.
func (r *remote) waiting(call string) view.Asked {
	all := r.view.Docs.Agent.Waiting
	if call == "" && len(all) == 1 {
		return all[0]
	}
	for _, w := range all {
		if w.Call == call {
			return w
		}
	}
	if call == "" {
		call = "-" // none is named, and it is not clear which is meant
	}
	return view.Asked{Call: call}
}

// decided tells of a decision, after which the turn goes on.
func (r *remote) decided(w view.Asked, d decision) error {
	d.Thread, d.Call, d.Tool, d.Question, d.By, d.always = r.thread, w.Call, w.Tool, w.Question, r.who.Name, tui.Always(skein.Asked(w))
	r.settled[w.Call] = true
	u := client.Update{View: r.view}
	r.seen(&u)
	r.view = u.View
	delete(r.tell.asked, w.Call)
	r.expect(r.newest())
	if r.flags.JSON {
		return r.lineJSON(map[string]any{"decided": d})
	}
	return r.printf("%s\n", safe(d.String()))
}

// hint tells how the calls that wait are decided about.
func (r *remote) hint(all []view.Asked) error {
	if r.flags.JSON {
		return nil
	}
	call, what := "", tui.Always(skein.Asked(all[0]))
	if len(all) > 1 {
		call = " CALL"
	}
	for _, w := range all {
		if what != tui.Always(skein.Asked(w)) {
			what = "such calls always in this thread"
		}
	}
	return r.printf(r.words.decide, call, safe(what))
}

// newest is the seq of the newest message.
func (r *remote) newest() int64 {
	if n := len(r.view.Entries); n > 0 {
		return r.view.Entries[n-1].Seq
	}
	return 1
}

// steer says something that the running turn hears.
func (r *remote) steer(args []string) error {
	text := argument(args)
	if text == "" {
		return misused("/steer TEXT")
	}
	if r.view.Docs.Agent.Turn == 0 {
		return &thread.Error{Code: thread.Invalid, Op: "steer", Message: "no turn runs that could hear it", Hint: "say it without /steer"}
	}
	r.say(client.Message{Text: text, When: thread.WhenNow})
	if err := r.send(); err != nil || len(r.outbox) > 0 {
		return err
	}
	return r.note("the running turn hears it before its next step\n")
}

// stop stops the turn.
func (r *remote) stop([]string) error {
	open := r.view.Docs.Agent.Turn != 0
	if open {
		if err := r.server.Stop(r.ctx, r.thread); err != nil {
			return err
		}
	}
	return r.note(stopWords(open) + "\n")
}

// retry has answered what no answer came to, or the newest answer made again.
func (r *remote) retry([]string) error {
	at := r.view.Entries
	n := len(at)
	for n > 0 && at[n-1].Message != nil && at[n-1].Message.Role != thread.User {
		n--
	}
	if n == 0 {
		return &thread.Error{Code: thread.Invalid, Op: "retry", Thread: r.thread, Message: "there is nothing to answer"}
	}
	if n < len(at) && r.view.Docs.Agent.Turn == 0 {
		if _, err := r.server.Rewind(r.ctx, r.thread, at[n-1].Seq); err != nil {
			return err
		}
	}
	if err := r.server.Reply(r.ctx, r.thread); err != nil {
		return err
	}
	r.expect(r.newest())
	return nil
}

// changeModel shows the model that answers in the thread, or makes it another from
// the next answer on.
func (r *remote) changeModel(args []string) error {
	name := r.view.Docs.Agent.Model
	if len(args) > 0 {
		name = args[0]
		if _, err := r.server.Change(r.ctx, r.thread, client.Change{Settings: &client.Settings{Model: name}}); err != nil {
			return err
		}
	}
	return r.printf("%s answers\n", safe(name))
}

func (r *remote) rewind(args []string) error {
	n, err := numbers(args, "/rewind ID", 1)
	if err != nil {
		return err
	}
	seq, err := r.seqOf(n[0])
	if err != nil {
		return err
	}
	return r.changed(r.server.Rewind(r.ctx, r.thread, seq))
}

func (r *remote) reset([]string) error { return r.changed(r.server.Reset(r.ctx, r.thread)) }

// seqOf gives where in the log a message is.
func (r *remote) seqOf(index int64) (int64, error) {
	messages, _, err := r.server.Read(r.ctx, r.thread, index, 1)
	if err != nil {
		return 0, err
	}
	if len(messages) == 0 {
		return 0, &thread.Error{Code: thread.NotFound, Op: "chat", Thread: r.thread, Message: fmt.Sprintf("No message %d.", index)}
	}
	return messages[0].Seq, nil
}

// fork goes on in a thread of its own.
func (r *remote) fork(args []string) error {
	const usage = "/fork NAME [ID]"
	if len(args) == 0 {
		return misused(usage)
	}
	f := client.NewFork{ID: args[0]}
	if len(args) > 1 {
		n, err := numbers(args[1:], usage, 1)
		if err != nil {
			return err
		}
		if f.Seq, err = r.seqOf(n[0]); err != nil {
			return err
		}
	}
	t, err := r.server.Fork(r.ctx, r.thread, f)
	if err := r.changed(t, err); err != nil {
		return err
	}
	r.follow(t.ID)
	return nil
}

// changed says how a thread stands after a change.
func (r *remote) changed(t thread.Thread, err error) error {
	if err != nil {
		return err
	}
	r.expects = expected{}
	if r.flags.JSON {
		return r.printJSON(t)
	}
	return r.printf("%s: %s%s\n", safe(t.ID), counted(t.Length, "message", "messages"), titled(&t))
}
