package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// event is what a program sent, and when.
type event struct {
	at   time.Duration
	data string
}

// cast is a recording, as asciinema's second format has it: a line about the
// terminal, then [seconds, "o", text] on a line each.
type cast struct {
	width, height int
	title         string
	events        []event
}

func (c *cast) write(w io.Writer) error {
	out := bufio.NewWriter(w)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	head := struct {
		Version int               `json:"version"`
		Width   int               `json:"width"`
		Height  int               `json:"height"`
		Title   string            `json:"title"`
		Env     map[string]string `json:"env"`
	}{2, c.width, c.height, c.title, map[string]string{"TERM": term}}
	if err := lines.Encode(head); err != nil {
		return err
	}
	for _, e := range c.events {
		at := json.RawMessage(fmt.Sprintf("%.3f", e.at.Seconds()))
		if err := lines.Encode([]any{at, "o", e.data}); err != nil {
			return err
		}
	}
	return out.Flush()
}
