package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/skeinhq/skein"
)

type toolsCmd struct {
	Agent string `arg:"" optional:"" help:"The agent; without one whoever answers in a new thread."`
}

func (toolsCmd) Help() string {
	return example("skein tools coder", "skein tools coder --json") +
		"\n\nEach tool's inputs are below it; what may be left out stands in brackets."
}

// Run lists the tools of an agent, what the permissions say of them, and what they
// take.
func (c toolsCmd) Run(a *app) error {
	return a.with(toList, func(e *skein.Engine) error {
		name := e.Answering(skein.Settings{Agent: c.Agent})
		if c.Agent == "" && a.flags.Agent != "" {
			name = a.flags.Agent
		}
		a.shop.concernsAgent(name)
		o, err := e.Offer(a.ctx, name)
		if err != nil {
			return err
		}
		if a.flags.JSON {
			return a.printJSON(o.Tools)
		}
		if len(o.Tools) == 0 {
			return a.printf("%s has no tools\n", safe(o.Agent))
		}
		for _, t := range o.Tools {
			if err := a.printf("%-24s %-9s %s\n", safe(t.Name), access(t), safe(permitted(t))); err != nil {
				return err
			}
			for _, in := range inputsOf(t.Schema) {
				if err := a.printf("    %-18s %-8s %s\n", safe(in.shown()), safe(in.Type), safe(in.About)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// toolInput is what a tool takes under one name.
type toolInput struct {
	Name, Type, About string
	needed            bool
}

func (in toolInput) shown() string {
	if in.needed {
		return in.Name
	}
	return "[" + in.Name + "]"
}

// typeWords are the types of a schema as people call them.
var typeWords = map[string]string{"string": "text", "integer": "number", "boolean": "yes/no", "array": "list", "object": "fields"}

// inputsOf reads a schema's properties in their order, those that are needed first.
// Of a schema that has none, or is of another shape, there are none.
func inputsOf(schema json.RawMessage) []toolInput {
	var s struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	var out []toolInput
	d := json.NewDecoder(bytes.NewReader(s.Properties))
	if _, err := d.Token(); err != nil {
		return nil
	}
	for d.More() {
		name, err := d.Token()
		var p struct {
			Type        any    `json:"type"`
			Description string `json:"description"`
			Enum        []any  `json:"enum"`
		}
		if err != nil || d.Decode(&p) != nil {
			return out
		}
		in := toolInput{Name: fmt.Sprint(name), Type: typeOf(p.Type), About: p.Description, needed: slices.Contains(s.Required, fmt.Sprint(name))}
		if len(p.Enum) > 0 {
			words := make([]string, len(p.Enum))
			for i, w := range p.Enum {
				words[i] = fmt.Sprint(w)
			}
			in.About = strings.TrimPrefix(in.About+": ", ": ") + strings.Join(words, ", ")
		}
		out = append(out, in)
	}
	slices.SortStableFunc(out, func(x, y toolInput) int {
		switch {
		case x.needed == y.needed:
			return 0
		case x.needed:
			return -1
		}
		return 1
	})
	return out
}

// typeOf names a type; where there are several the first that is not null.
func typeOf(t any) string {
	if several, ok := t.([]any); ok {
		i := slices.IndexFunc(several, func(x any) bool { return x != "null" })
		if i < 0 {
			return ""
		}
		t = several[i]
	}
	name, _ := t.(string)
	if word := typeWords[name]; word != "" {
		return word
	}
	return name
}
