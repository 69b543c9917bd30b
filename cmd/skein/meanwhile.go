package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/skeinhq/skein/model"
)

// meanwhile gives the lines that are typed during an answer, until they end or
// there are too many of them.
func (c *chat) meanwhile(answering context.Context) <-chan typed {
	if c.typist == nil || answering.Err() != nil {
		return nil
	}
	size := 0
	for _, line := range c.held {
		if size += len(line.text); line.err != nil || size > maxTyped {
			return nil
		}
	}
	return c.typist.lines
}

// The commands that are for a turn that runs.
const (
	steerCommand = "/steer"
	stopCommand  = "/stop"
)

// interject takes a line that was typed during an answer: what is for the running
// turn at once, whatever was typed before it, all else after the answer. over says
// that the answer is to end: a turn that was stopped must not begin anew.
func (c *chat) interject(out *answer, line typed) (over bool, err error) {
	c.held = append(c.held, line)
	if line.err == nil && strings.HasSuffix(line.text, `\`) {
		return false, nil // it goes on
	}
	text, from := c.lastHeld()
	name, _, _ := strings.Cut(text, " ")
	if name != steerCommand && name != stopCommand {
		return false, nil
	}
	c.held = c.held[:from]
	if line.err != nil {
		c.held = append(c.held, typed{err: line.err})
	}
	if err := errors.Join(out.end(), c.untilBegun()); err != nil {
		return false, err
	}
	c.halted = name == stopCommand
	if _, err = c.command(text); err != nil {
		c.halted = false
	}
	return c.halted, c.tell(err)
}

// lastHeld gives the last of the texts that are held, and where its lines begin.
func (c *chat) lastHeld() (text string, from int) {
	from = len(c.held) - 1
	for from > 0 && strings.HasSuffix(c.held[from-1].text, `\`) {
		from--
	}
	return joined(c.held[from:]), from
}

// joined is the text that lines make, of which each but the last goes on.
func joined(lines []typed) string {
	var texts []string
	for _, line := range lines {
		texts = append(texts, strings.TrimSuffix(line.text, `\`))
	}
	return strings.TrimSpace(strings.Join(texts, "\n"))
}

// keepHeld says what was typed during an answer that was stopped, without having it
// answered: nobody wants another answer at once.
func (c *chat) keepHeld() error {
	if !c.halted || c.ctx.Err() != nil {
		return nil
	}
	c.halted = false
	var left []typed
	for len(c.held) > 0 {
		n := 1
		for n < len(c.held) && strings.HasSuffix(c.held[n-1].text, `\`) {
			n++
		}
		lines := c.held[:n]
		c.held = c.held[n:]
		text := joined(lines)
		if text == "" || strings.HasPrefix(text, "/") {
			left = append(left, lines...)
			continue
		}
		if _, err := c.thread.Say(c.ctx, c.me(), text); err != nil {
			return err
		}
		if end := lines[n-1].err; end != nil {
			left = append(left, typed{err: end})
		}
	}
	c.held = left
	return c.mindQueue()
}

// mindQueue tells that something waits for an answer that nobody makes.
func (c *chat) mindQueue() error {
	if c.typist == nil {
		return nil
	}
	waits, err := c.unanswered()
	if err != nil || !waits || c.pending {
		return err
	}
	c.pending = true
	return c.note(c.words.unanswered)
}

// mostToBegin is how long a turn may take to begin.
const mostToBegin = 2 * time.Second

// untilBegun waits until the turn that was asked for has begun.
func (c *chat) untilBegun() error {
	ctx, stop := context.WithTimeout(c.ctx, mostToBegin)
	defer stop()
	for {
		state, err := c.thread.State(c.ctx)
		if err != nil || state.Turn != 0 {
			return err
		}
		if model.Wait(ctx, lookForOwner/10) != nil {
			return c.ctx.Err() // the command says that no turn runs
		}
	}
}
