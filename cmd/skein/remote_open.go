package main

import (
	"fmt"

	"github.com/skeinhq/skein/client"
	"github.com/skeinhq/skein/thread"
)

// meet settles by which name one speaks: with a token by its own, which no --me
// changes, and else by the name that was given here.
func (r *remote) meet() error {
	if !r.who.Token {
		r.who.Name = r.me()
		return nil
	}
	if given := r.flags.Me; given != "" && given != r.who.Name {
		_, err := fmt.Fprintf(r.errs, "skein: you speak as %s, the name of your token, and not as %s\n", safe(r.who.Name), safe(given))
		return err
	}
	return nil
}

// open sees that there is the thread, with the settings that were given.
func (r *remote) open() error {
	if r.thread == "" {
		id, err := lastUsed(r.ctx, r.server)
		if err != nil && thread.CodeOf(err) != thread.NotFound {
			return err
		}
		if r.thread = id; id == "" {
			r.thread = "main"
		}
	}
	settings, err := r.given()
	if err != nil {
		return err
	}
	_, err = r.server.Thread(r.ctx, r.thread)
	if thread.CodeOf(err) == thread.NotFound {
		_, err = r.server.Create(r.ctx, client.NewThread{ID: r.thread, Settings: settings})
		if thread.CodeOf(err) == thread.Conflict {
			err = nil // somebody else has just made it
		}
		return err
	}
	if err == nil && settings != nil {
		_, err = r.server.Change(r.ctx, r.thread, client.Change{Settings: settings})
	}
	return err
}

// given are the settings that flags name; what else is in force here is not the
// server's concern.
func (r *remote) given() (*client.Settings, error) {
	s, err := r.settings()
	if err != nil {
		return nil, err
	}
	var out client.Settings
	some := false
	for _, flag := range r.parsed.Model.Flags {
		if r.source(flag) != "flag" {
			continue
		}
		known := true
		switch flag.Name {
		case "agent":
			out.Agent = s.Agent
		case "model":
			out.Model = s.Model
		case "strategy":
			out.Strategy = s.Strategy
		case "zone":
			out.Zone = s.Zone
		case "tail":
			out.Tail = &client.Marks{Low: s.Tail.Low, High: s.Tail.High}
		case "outline":
			out.Outline = &client.Marks{Low: s.Outline.Low, High: s.Outline.High}
		default:
			known = false
		}
		some = some || known
	}
	if !some {
		return nil, nil
	}
	return &out, nil
}
