package transcript

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/skeinhq/skein/thread"
)

// chatRoles make a message of each role. They take from m what they place.
var chatRoles = map[string]func(x *chatReader, m object, d *draft) error{
	"system":    chatInstruction("system"),
	"developer": chatInstruction("developer"),
	"user":      chatUser,
	"assistant": chatAssistant,
	"tool":      chatTool,
	"function":  chatTool, // its name before there were tools
}

// chatInstruction is an instruction amid the conversation, which the model read
// at that place.
func chatInstruction(role string) func(x *chatReader, m object, d *draft) error {
	return func(x *chatReader, m object, d *draft) (err error) {
		d.message.Role = thread.User
		d.message.Author = name(m, role)
		d.message.Parts, err = x.content(m, d)
		return err
	}
}

func chatUser(x *chatReader, m object, d *draft) (err error) {
	d.message.Role = thread.User
	d.message.Author = name(m, x.opts.User)
	d.message.Parts, err = x.content(m, d)
	return err
}

func chatAssistant(x *chatReader, m object, d *draft) error {
	d.message.Role = thread.Assistant
	d.message.Author = name(m, x.opts.Agent)
	d.message.Model = x.model
	d.message.Stop = thread.StopEnd
	var parts []thread.Part
	for _, field := range []string{"reasoning_content", "reasoning"} { // of servers that are compatible
		if text := m.text(field); text != "" {
			parts = append(parts, thread.Part{Type: thread.ThinkingPart, Text: text, Model: x.model})
		}
	}
	said, err := x.content(m, d)
	if err != nil {
		return err
	}
	parts = append(parts, said...)
	if text := m.text("refusal"); text != "" {
		parts = append(parts, thread.Text(text))
		d.message.Stop = thread.StopRefusal
	}
	x.calls = x.takeCalls(m, d)
	if len(x.calls) > 0 {
		d.message.Stop = thread.StopCalls
	}
	parts = append(parts, x.calls...)
	d.message.Parts = parts
	return nil
}

// takeCalls takes the message's calls, the one in the old form too. An entry of
// the list that is no call stays in the message's rest.
func (x *chatReader) takeCalls(m object, d *draft) []thread.Part {
	var calls []thread.Part
	var list, left []json.RawMessage
	take(m, "tool_calls", &list)
	for i, raw := range list {
		c, err := parse(raw)
		if err != nil {
			c = object{}
		}
		call, ok := x.call(c, d)
		if !ok {
			x.report.repaired(x.number, "tool call that cannot be read; kept in the meta")
			left = append(left, raw)
			continue
		}
		d.origin.partRest("call "+strconv.Itoa(i), c.rest())
		calls = append(calls, call)
	}
	if left != nil {
		data, err := json.Marshal(left)
		if err != nil { // cannot be: they came from valid JSON
			panic(err)
		}
		m["tool_calls"] = data
	}
	m.inner("function_call", func(f object) { calls = append(calls, x.function("", f, "arguments", d)) })
	return calls
}

// chatCalls are the kinds of calls and where each has its input.
var chatCalls = []struct{ kind, input string }{{"function", "arguments"}, {"custom", "input"}}

func (x *chatReader) call(c object, d *draft) (call thread.Part, ok bool) {
	for _, k := range chatCalls {
		ok = c.inner(k.kind, func(f object) { call = x.function("", f, k.input, d) })
		if ok {
			delete(c, "type")
			call.ID = c.text("id")
			return call, true
		}
	}
	return call, false
}

// function makes the call of a function whose input is JSON in a string.
func (x *chatReader) function(id string, f object, field string, d *draft) thread.Part {
	var text string
	if !take(f, field, &text) {
		text = string(f.raw(field)) // not in a string, as some servers write it
	}
	in, changed := input(text)
	if changed {
		x.report.repaired(d.line, "the call's input is no JSON object; it became one")
	}
	return thread.Call(id, f.text("name"), in)
}

func chatTool(x *chatReader, m object, d *draft) error {
	result := thread.Part{Type: thread.ResultPart, Call: m.text("tool_call_id"), Name: m.text("name")}
	if result.Call == "" { // the old form names the function alone
		result.Call = x.callOf(result.Name)
	}
	parts, err := x.content(m, d)
	result.Parts = parts
	d.message = thread.Message{Author: result.Name, To: []string{x.opts.Agent}, Role: thread.Tool, Parts: []thread.Part{result}}
	return err
}

func (x *chatReader) callOf(name string) string {
	for _, c := range x.calls {
		if c.Name == name {
			return c.ID
		}
	}
	return ""
}

// name is the author's, where the message names one.
func name(m object, otherwise string) string {
	if n := m.text("name"); n != "" {
		return n
	}
	return otherwise
}

// chatParts are the types of content.
var chatParts = map[string]func(x *chatReader, p object) (part thread.Part, ok bool, err error){
	"text":        chatText("text"),
	"refusal":     chatText("refusal"),
	"image_url":   chatImage,
	"input_audio": chatAudio,
	"file":        chatFile,
}

func chatText(field string) func(*chatReader, object) (thread.Part, bool, error) {
	return func(_ *chatReader, p object) (thread.Part, bool, error) {
		var text string
		ok := take(p, field, &text)
		return thread.Text(text), ok, nil
	}
}

func chatImage(x *chatReader, p object) (thread.Part, bool, error) {
	var url string
	p.inner("image_url", func(image object) { url = image.text("url") })
	mediaType, data, ok := dataURL(url)
	if !ok {
		return thread.Part{}, false, nil
	}
	return x.blob(mediaType, "", data)
}

func chatAudio(x *chatReader, p object) (thread.Part, bool, error) {
	var format, data string
	p.inner("input_audio", func(audio object) { format, data = audio.text("format"), audio.text("data") })
	return x.blob("audio/"+format, "", data)
}

func chatFile(x *chatReader, p object) (thread.Part, bool, error) {
	var name, url string
	p.inner("file", func(file object) { name, url = file.text("filename"), file.text("file_data") })
	mediaType, data, ok := dataURL(url)
	if !ok {
		mediaType, data = "application/octet-stream", url
	}
	return x.blob(mediaType, name, data)
}

// content takes a string, a list of parts, or null.
func (x *chatReader) content(m object, d *draft) ([]thread.Part, error) {
	raw := m.raw("content")
	if raw == nil {
		return nil, nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if text == "" {
			return nil, nil
		}
		return []thread.Part{thread.Text(text)}, nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		x.report.repaired(x.number, "content that is neither text nor a list; kept raw")
		return []thread.Part{rawPart(raw)}, nil
	}
	parts := make([]thread.Part, 0, len(list))
	for i, raw := range list {
		part, err := x.part(raw, i, d)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

func (x *chatReader) part(raw json.RawMessage, n int, d *draft) (thread.Part, error) {
	p, err := parse(raw)
	if err != nil {
		x.report.repaired(x.number, "part that is no object; kept raw")
		return rawPart(raw), nil
	}
	kind := p.text("type")
	make, ok := chatParts[kind]
	if !ok {
		x.report.repaired(x.number, "part of the unknown type "+strconv.Quote(strings.ToValidUTF8(kind, ""))+"; kept raw")
		return rawPart(raw), nil
	}
	part, ok, err := make(x, p)
	if err != nil {
		return thread.Part{}, err
	}
	if !ok {
		x.report.repaired(x.number, kind+" that cannot be placed; kept raw")
		return rawPart(raw), nil
	}
	d.origin.partRest(strconv.Itoa(n), p.rest())
	return part, nil
}
