package transcript

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/skeinhq/skein/thread"
)

func piUser(x *piReader, rec *piRecord, m object) (string, error) {
	parts, err := x.content(rec, m.raw("content"), piSource{})
	rec.finish(m, thread.Message{Author: x.opts.User, Role: thread.User, Parts: parts})
	return "", err
}

// piStops are the reasons why the model stopped.
var piStops = map[string]thread.Stop{
	"stop":    thread.StopEnd,
	"toolUse": thread.StopCalls,
	"length":  thread.StopLength,
	"error":   thread.StopError,
	"aborted": thread.StopAborted,
}

func piAssistant(x *piReader, rec *piRecord, m object) (string, error) {
	from := piSource{provider: m.text("provider"), model: m.text("model")}
	msg := thread.Message{Author: x.opts.Agent, Role: thread.Assistant, Model: from.model}
	if stop, ok := piStops[piText(m, "stopReason")]; ok {
		msg.Stop = stop
		delete(m, "stopReason")
	}
	var u struct {
		Input, Output, CacheRead, CacheWrite, Reasoning int64
		Cost                                            struct{ Total float64 }
	}
	if take(m, "usage", &u) {
		msg.Usage = &thread.Usage{
			Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite,
			Output: u.Output, Reasoning: u.Reasoning, Cost: u.Cost.Total,
		}
	}
	rec.draft.origin.Error = m.text("errorMessage")
	var err error
	msg.Parts, err = x.content(rec, m.raw("content"), from)
	if from.provider != "" && len(thinking(msg.Parts)) == 0 {
		m["provider"] = quote(from.provider) // no part says it
	}
	rec.finish(m, msg)
	return "", err
}

func piToolResult(x *piReader, rec *piRecord, m object) (string, error) {
	result := thread.Part{Type: thread.ResultPart, Call: m.text("toolCallId"), Name: m.text("toolName")}
	take(m, "isError", &result.IsError)
	var err error
	result.Parts, err = x.content(rec, m.raw("content"), piSource{})
	rec.finish(m, thread.Message{
		Author: result.Name, To: []string{x.opts.Agent}, Role: thread.Tool, Parts: []thread.Part{result},
	})
	return "", err
}

// piBash is a command that the user ran. One that was kept from the model has
// the user as its only audience.
func piBash(x *piReader, rec *piRecord, m object) (string, error) {
	var text strings.Builder
	fmt.Fprintf(&text, "$ %s", m.text("command"))
	if out := strings.TrimRight(m.text("output"), "\n"); out != "" {
		fmt.Fprintf(&text, "\n%s", out)
	}
	var code int
	if take(m, "exitCode", &code) && code != 0 {
		fmt.Fprintf(&text, "\n(exit code %d)", code)
	}
	var cancelled, truncated, private bool
	if take(m, "cancelled", &cancelled) && cancelled {
		text.WriteString("\n(cancelled)")
	}
	if take(m, "truncated", &truncated) && truncated {
		text.WriteString("\n(output cut")
		if path := m.text("fullOutputPath"); path != "" {
			text.WriteString("; all of it: " + path)
		}
		text.WriteString(")")
	}
	msg := thread.Message{Author: x.opts.User, Role: thread.User, Parts: []thread.Part{thread.Text(text.String())}}
	if take(m, "excludeFromContext", &private) && private {
		msg.Audience = []string{x.opts.User}
	}
	rec.finish(m, msg)
	return "", nil
}

// piCustom is what an extension told the model.
func piCustom(x *piReader, rec *piRecord, m object) (string, error) {
	author := m.text("customType")
	if author == "" {
		author = "extension"
	}
	parts, err := x.content(rec, m.raw("content"), piSource{})
	rec.finish(m, thread.Message{Author: author, Role: thread.User, Parts: parts})
	return "", err
}

// piBranchSummary tells what was done on a branch that was left. Nothing else in
// the conversation does, so it is a message, unlike the summary of a compaction,
// whose messages are all there.
func piBranchSummary(x *piReader, rec *piRecord, m object) (string, error) {
	summary := m.text("summary")
	if strings.TrimSpace(summary) == "" {
		return "empty summary of a branch", nil
	}
	rec.finish(m, thread.Message{
		Author: x.opts.User, Role: thread.User,
		Parts: []thread.Part{thread.Text("Summary of a branch of the conversation that was left:\n" + summary)},
	})
	return "", nil
}

// piSource says who made the content of an assistant's message.
type piSource struct{ provider, model string }

// piParts are the types of content.
var piParts = map[string]func(x *piReader, p object, from piSource) (part thread.Part, ok bool, err error){
	"text": func(_ *piReader, p object, _ piSource) (thread.Part, bool, error) {
		var text string
		ok := take(p, "text", &text)
		return thread.Text(text), ok, nil
	},
	"thinking": func(_ *piReader, p object, from piSource) (thread.Part, bool, error) {
		part := thread.Part{Type: thread.ThinkingPart, Text: p.text("thinking"), Signature: p.text("thinkingSignature"), Provider: from.provider, Model: from.model}
		take(p, "redacted", &part.Redacted)
		return part, true, nil
	},
	"toolCall": func(x *piReader, p object, _ piSource) (thread.Part, bool, error) {
		in, _ := input(string(p.raw("arguments")))
		part := thread.Call(p.text("id"), p.text("name"), in)
		part.Signature = p.text("thoughtSignature")
		return part, true, nil
	},
	"image": func(x *piReader, p object, _ piSource) (thread.Part, bool, error) {
		return x.blob(piText(p, "mimeType"), "", piText(p, "data"))
	},
}

// content reads a string, or a list of parts. Fields that parts leave are kept in
// the message's origin.
func (x *piReader) content(rec *piRecord, raw json.RawMessage, from piSource) ([]thread.Part, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if text == "" {
			return nil, nil
		}
		return []thread.Part{thread.Text(text)}, nil
	}
	var list []json.RawMessage
	if raw != nil && json.Unmarshal(raw, &list) != nil {
		x.report.repaired(rec.line, "content that is neither text nor a list; kept raw")
		return []thread.Part{rawPart(raw)}, nil
	}
	parts := make([]thread.Part, 0, len(list))
	for i, raw := range list {
		part, rest, err := x.part(raw, from)
		if err != nil {
			return nil, err
		}
		if part.Type == thread.RawPart {
			x.report.repaired(rec.line, "part that cannot be placed; kept raw")
		}
		rec.draft.origin.partRest(strconv.Itoa(i), rest)
		parts = append(parts, part)
	}
	return parts, nil
}

func (x *piReader) part(raw json.RawMessage, from piSource) (part thread.Part, rest json.RawMessage, err error) {
	p, err := parse(raw)
	if err != nil {
		return rawPart(raw), nil, nil
	}
	make, ok := piParts[p.text("type")]
	if !ok {
		return rawPart(raw), nil, nil
	}
	part, ok, err = make(x, p, from)
	if err != nil || !ok {
		return rawPart(raw), nil, err
	}
	if part.Type == thread.BlobPart {
		delete(p, "data")
		delete(p, "mimeType")
	}
	return part, p.rest(), nil
}

// piText reads a string without taking it.
func piText(o object, name string) string {
	var s string
	_ = json.Unmarshal(o[name], &s) // absent or of another type: ""
	return s
}

func thinking(parts []thread.Part) []thread.Part {
	var out []thread.Part
	for _, p := range parts {
		if p.Type == thread.ThinkingPart {
			out = append(out, p)
		}
	}
	return out
}

func quote(s string) json.RawMessage {
	data, err := thread.Encode(s)
	if err != nil { // cannot be: a string can be written
		panic(err)
	}
	return data
}
