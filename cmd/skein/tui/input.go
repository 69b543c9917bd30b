package tui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// inputRow is a line of a call's input, as a card shows it.
type inputRow struct {
	sign string // before it, and before what of it is wrapped
	text string // plain
}

// views show the inputs of tools whose work is easier to judge than their JSON is.
// They read an input as the tool does. Where one does not fit, ok is false.
var views = map[string]func(input json.RawMessage) (rows []inputRow, ok bool){
	"edit_file": func(input json.RawMessage) ([]inputRow, bool) {
		var in struct{ Path, Old, New string }
		if json.Unmarshal(input, &in) != nil || in.Path == "" {
			return nil, false
		}
		rows := append(signed("", in.Path), changes(in.Old, in.New)...)
		return append(rows, others(input, "path", "old", "new")...), true
	},
	"write_file": func(input json.RawMessage) ([]inputRow, bool) {
		var in struct{ Path, Content string }
		if json.Unmarshal(input, &in) != nil || in.Path == "" {
			return nil, false
		}
		rows := append(signed("", in.Path), signed("+ ", in.Content)...)
		return append(rows, others(input, "path", "content")...), true
	},
	"shell": func(input json.RawMessage) ([]inputRow, bool) {
		var in struct{ Command string }
		if json.Unmarshal(input, &in) != nil || in.Command == "" {
			return nil, false
		}
		rows := signed("> ", in.Command) // as a shell shows them
		rows[0].sign = "$ "
		return append(rows, others(input, "command")...), true
	},
}

// inputRows shows an input. special says that the tool has a view of its own.
func inputRows(tool string, input json.RawMessage) (rows []inputRow, special bool) {
	if view, ok := views[tool]; ok {
		if rows, ok := view(input); ok {
			return rows, true
		}
	}
	var b bytes.Buffer
	if json.Indent(&b, input, "", "  ") != nil {
		return signed("", string(input)), false
	}
	return signed("", b.String()), false
}

// signed gives the lines of a text under a sign.
func signed(sign, text string) (rows []inputRow) {
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		rows = append(rows, inputRow{sign, plain(line)})
	}
	return rows
}

// changes shows what an edit takes out and puts in, without the lines that both
// begin or end with, but for one on each side.
func changes(was, now string) []inputRow {
	a, b := strings.Split(strings.TrimSuffix(was, "\n"), "\n"), strings.Split(strings.TrimSuffix(now, "\n"), "\n")
	if now == "" {
		b = nil
	}
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var rows []inputRow
	add := func(sign string, lines []string) {
		for _, line := range lines {
			rows = append(rows, inputRow{sign, plain(line)})
		}
	}
	add("  ", a[max(0, head-1):head])
	add("- ", a[head:len(a)-tail])
	add("+ ", b[head:len(b)-tail])
	add("  ", a[len(a)-tail:min(len(a), len(a)-tail+1)])
	return rows
}

// others shows the fields of an input that its view does not: nothing that is
// asked for stays hidden.
func others(input json.RawMessage, shown ...string) (rows []inputRow) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return nil
	}
	var names []string
	for name := range fields {
		if !slices.Contains(shown, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		rows = append(rows, signed("", fmt.Sprintf("%s: %s", name, fields[name]))...)
	}
	return rows
}

// plain makes a line show as what it is: whatever does not print is written as
// its code, joiners and marks of direction too, for somebody decides by it.
func plain(line string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(line, "\uFFFD") {
		if r != '\t' && !unicode.IsPrint(r) {
			fmt.Fprintf(&b, "<U+%04X>", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
