package main

import (
	"errors"
	"strings"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

// endings says in words why an answer ended where not as it should.
var endings = map[thread.Stop]string{
	thread.StopLength:  "cut off: the answer reached its greatest length",
	thread.StopRefusal: "the model refused",
}

// answer prints pieces: each answer under its author's name, each tool call and
// what it gave on a line of its own. As JSON it is one object a line: {author,
// text}, {author, call, input} or {author, result, tool, isError, text}.
type answer struct {
	*chat
	id     string
	open   bool // a line is begun
	author string
	stop   thread.Stop     // why it ended, where not as it should
	text   strings.Builder // of the line that is begun: as JSON all, else what is not written yet
}

func (a *answer) add(p skein.Piece) error {
	if a.flags.JSON {
		return a.addJSON(p)
	}
	switch {
	case p.Call != nil:
		return errors.Join(a.end(), a.printf(a.words.calls, safe(p.Author), safe(p.Call.Name), safe(thread.OneLine(string(p.Call.Input)))))
	case p.Result != nil:
		return errors.Join(a.end(), a.printf(a.words.gave, safe(p.Author), safe(p.To), safe(resultLine(p.Result))))
	case p.Retry != "":
		a.id = ""
		return errors.Join(a.end(), a.printf(a.words.again, safe(thread.OneLine(p.Retry))))
	case p.Stop != "":
		return errors.Join(a.end(), a.printf(a.words.ending, endings[p.Stop]))
	}
	if a.id != p.ID {
		if err := a.end(); err != nil {
			return err
		}
		a.id = p.ID
	}
	if !a.open && p.Text != "" {
		a.open = true
		if err := a.printf(a.words.says, safe(p.Author)); err != nil {
			return err
		}
	}
	a.text.WriteString(p.Text)
	return a.write(a.words.ready(a.text.String()))
}

// write writes the first n bytes of what is not written yet.
func (a *answer) write(n int) error {
	text := a.text.String()
	a.text.Reset()
	a.text.WriteString(text[n:])
	return a.printf("%s", safe(text[:n]))
}

func (a *answer) addJSON(p skein.Piece) error {
	switch {
	case p.Retry != "": // what came is void
		a.open = false
		a.text.Reset()
		return nil
	case p.Stop != "":
		a.stop = p.Stop
		return nil
	}
	if p.Call != nil || p.Result != nil || a.id != p.ID {
		if err := a.end(); err != nil {
			return err
		}
		a.id = p.ID
	}
	if p.Call != nil {
		return a.lineJSON(map[string]any{"author": p.Author, "call": p.Call.Name, "input": p.Call.Input})
	}
	if p.Result != nil {
		return a.lineJSON(map[string]any{"author": p.To, "result": p.Result.Call, "tool": p.Result.Name, "isError": p.Result.IsError, "text": cut(gaveText(p.Result), maxGaveText)})
	}
	a.open, a.author = true, p.Author
	a.text.WriteString(p.Text)
	return nil
}

// end ends the line that is begun.
func (a *answer) end() error {
	if !a.open {
		return nil
	}
	a.open = false
	if a.flags.JSON {
		line := map[string]any{"author": a.author, "text": a.text.String()}
		if a.stop != "" {
			line["stop"] = a.stop
		}
		a.text.Reset()
		a.stop = ""
		return a.lineJSON(line)
	}
	return errors.Join(a.write(a.text.Len()), a.printf("\n%s", a.words.ended))
}
