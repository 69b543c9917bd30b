package main

import (
	"fmt"
	"strings"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

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
	if len(t.Allowed) == 1 && t.Allowed[0].Command == "" {
		s += "; allowed in this thread"
	} else if len(t.Allowed) > 0 {
		s += fmt.Sprintf("; allowed in this thread: %s", counted(len(t.Allowed), "command line", "command lines"))
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
