package transcript

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/skeinhq/skein/thread"
)

// chat is a request body of OpenAI's Chat Completions: an object with messages,
// or the list of messages alone.
var chat = format{name: chatName, title: "OpenAI Chat Completions messages (JSON)", detect: detectChat, read: readChat}

const chatName = "openai-chat"

// detectChat looks for a list of messages with roles, and takes none that only
// Anthropic's Messages have: they share that much, and would lose the rest.
func detectChat(head []byte) bool {
	is, isNot := false, false
	walk := chatWalk{
		dec: json.NewDecoder(bytes.NewReader(head)),
		setting: func(name string, _ json.RawMessage) error {
			isNot = isNot || name == "system"
			return nil
		},
		message: func(raw json.RawMessage) error {
			m, err := parse(raw)
			if err != nil {
				return nil
			}
			_, ok := chatRoles[m.text("role")]
			is = is || ok
			isNot = isNot || isAnthropic(m["content"])
			return nil
		},
	}
	_, _ = walk.body() // the head ends anywhere
	return (is || walk.torn && bytes.Contains(head, []byte(`"role"`))) && !isNot
}

// anthropicParts are types of content that Chat Completions do not have.
var anthropicParts = map[string]bool{
	"image": true, "document": true, "thinking": true, "redacted_thinking": true,
	"tool_use": true, "tool_result": true, "server_tool_use": true,
}

func isAnthropic(content json.RawMessage) bool {
	var parts []json.RawMessage
	if json.Unmarshal(content, &parts) != nil {
		return false
	}
	for _, raw := range parts {
		if p, err := parse(raw); err == nil && anthropicParts[p.text("type")] {
			return true
		}
	}
	return false
}

// chatReader is one reading of a body.
type chatReader struct {
	*Reader
	out   *pairer
	model string

	number int64  // of the message, from 1
	chain  string // hash of all messages up to this one: its key
	begun  bool   // a message that is no instruction has been read
	aside  []json.RawMessage

	calls []thread.Part // the last message's, for results that name only a function
}

func readChat(ctx context.Context, r *Reader, p *pairer) error {
	x := &chatReader{Reader: r, out: p}
	// The model may be named after the messages, which need it.
	settings := chatWalk{ctx: ctx, setting: x.setting, message: func(json.RawMessage) error { return nil }}
	if _, err := settings.source(r); err != nil {
		return err
	}
	messages := chatWalk{ctx: ctx, setting: func(string, json.RawMessage) error { return nil }, message: x.message}
	broken, err := messages.source(r)
	if err != nil {
		return err
	}
	if broken != nil {
		r.report.skipped(x.number+1, fmt.Sprintf("the rest cannot be read: %v", broken))
	}
	r.report.leftAside(len(x.aside))
	return nil
}

func (x *chatReader) setting(name string, value json.RawMessage) error {
	if name != "model" || json.Unmarshal(value, &x.model) != nil {
		x.report.skipped(0, strconv.Quote(name)+": a setting of the request, not kept")
	}
	return nil
}

// message reads the next message.
func (x *chatReader) message(raw json.RawMessage) error {
	x.number++
	var same bytes.Buffer // however the source is indented
	if err := json.Compact(&same, raw); err != nil {
		return &thread.Error{Code: thread.Invalid, Op: "import", Message: "A message cannot be read", Err: err}
	}
	x.chain = shortHash(x.chain, same.String())
	m, err := parse(raw)
	if err != nil {
		x.report.skipped(x.number, err.Error())
		return nil
	}
	role := m.text("role")
	make, ok := chatRoles[role]
	if !ok {
		x.setAside(raw, "message of the unknown role "+strconv.Quote(role))
		return nil
	}
	if isInstruction(role) && !x.begun {
		x.setAside(raw, role+" message: instructions belong to the agent")
		return nil
	}
	x.begun = true
	d := draft{
		origin: Origin{Format: chatName, Before: x.aside},
		key:    fmt.Sprintf("import:%s:%d-%s", chatName, x.number, x.chain),
		line:   x.number,
		size:   len(raw),
	}
	x.aside = nil
	if err := make(x, m, &d); err != nil {
		return err
	}
	d.origin.Rest = m.rest()
	return x.out.add(d)
}

func (x *chatReader) setAside(raw json.RawMessage, what string) {
	x.aside = append(x.aside, raw)
	x.report.skipped(x.number, what+"; the next message carries it in its meta")
}

func isInstruction(role string) bool { return role == "system" || role == "developer" }
