package prompt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

func someMessages(r *model.Request, _ model.Rules) *finding {
	if len(r.Messages) == 0 {
		return &finding{-1, -1, "has no messages"}
	}
	return nil
}

// standsIn says which parts may stand in the messages of a role, and in a
// result.
var standsIn = map[thread.Role][]thread.PartType{
	thread.User:      {thread.TextPart, thread.BlobPart},
	thread.Assistant: {thread.TextPart, thread.ThinkingPart, thread.CallPart},
	thread.Tool:      {thread.ResultPart},
	"result":         {thread.TextPart, thread.BlobPart},
}

func rolesHold(r *model.Request, _ model.Rules) *finding {
	for i, m := range r.Messages {
		if m.Role != thread.User && m.Role != thread.Assistant && m.Role != thread.Tool {
			return &finding{i, -1, fmt.Sprintf("has the unknown role %q", m.Role)}
		}
	}
	return eachPart(r, func(role thread.Role, p *thread.Part) string {
		for _, t := range standsIn[role] {
			if p.Type == t {
				return ""
			}
		}
		return fmt.Sprintf("is a %q part, which cannot stand in a %s", p.Type, role)
	})
}

func userFirst(r *model.Request, _ model.Rules) *finding {
	if r.Messages[0].Role != thread.User {
		return &finding{0, -1, "is first and not a user's"}
	}
	return nil
}

func nothingEmpty(r *model.Request, _ model.Rules) *finding {
	for _, s := range r.System {
		if blank(s) {
			return &finding{-1, -1, "has an empty system block"}
		}
	}
	for i, m := range r.Messages {
		if len(m.Parts) == 0 {
			return &finding{i, -1, "is empty"}
		}
	}
	return eachPart(r, func(_ thread.Role, p *thread.Part) string {
		if p.Type == thread.TextPart && blank(p.Text) || p.Type == thread.ResultPart && len(p.Parts) == 0 {
			return "is empty"
		}
		return ""
	})
}

// pairsHold asks that each message with calls is followed by one with exactly
// one result for each, and that no result stands elsewhere.
func pairsHold(r *model.Request, _ model.Rules) *finding {
	var open []string
	for i, m := range r.Messages {
		if m.Role != thread.Tool {
			if len(open) > 0 {
				return &finding{i, -1, "stands where the result of call " + open[0] + " should"}
			}
			open = callIDs(m.Parts)
			continue
		}
		for j, p := range m.Parts {
			if len(open) == 0 || !take(&open, p.Call) {
				return &finding{i, j, "is a result without its call"}
			}
		}
		if len(open) > 0 {
			return &finding{i, -1, "lacks the result of call " + open[0]}
		}
	}
	if len(open) > 0 {
		return &finding{len(r.Messages) - 1, -1, "has a call without a result"}
	}
	return nil
}

func callIDs(parts []thread.Part) []string {
	var ids []string
	for i := range parts {
		if parts[i].Type == thread.CallPart {
			ids = append(ids, parts[i].ID)
		}
	}
	return ids
}

// take removes an id from a list and says whether it was there.
func take(ids *[]string, id string) bool {
	for i, have := range *ids {
		if have == id {
			*ids = append((*ids)[:i], (*ids)[i+1:]...)
			return true
		}
	}
	return false
}

func idsUnique(r *model.Request, _ model.Rules) *finding {
	seen := make(map[string]bool)
	return eachPart(r, func(_ thread.Role, p *thread.Part) string {
		if p.Type != thread.CallPart {
			return ""
		}
		if p.ID == "" || wordOf(p.ID, maxID) != p.ID {
			return fmt.Sprintf("has the call id %q, which is not 1 to %d letters, digits, _ and -", p.ID, maxID)
		}
		if seen[p.ID] {
			return fmt.Sprintf("repeats the call id %q", p.ID)
		}
		seen[p.ID] = true
		return ""
	})
}

func toolsNamed(most int) func(*model.Request, model.Rules) *finding {
	bad := func(s string) bool { return s == "" || wordOf(s, most) != s }
	return func(r *model.Request, _ model.Rules) *finding {
		seen := make(map[string]bool)
		for _, t := range r.Tools {
			switch {
			case bad(t.Name):
				return &finding{-1, -1, fmt.Sprintf("has the tool name %q, which is not 1 to %d letters, digits, _ and -", t.Name, most)}
			case seen[t.Name]:
				return &finding{-1, -1, fmt.Sprintf("has two tools named %s", t.Name)}
			case !isObject(t.Schema):
				return &finding{-1, -1, fmt.Sprintf("has the tool %s, whose schema is no JSON object", t.Name)}
			}
			seen[t.Name] = true
		}
		return eachPart(r, func(_ thread.Role, p *thread.Part) string {
			switch {
			case p.Type != thread.CallPart:
				return ""
			case len(r.Tools) == 0:
				return "is a call in a prompt without tools"
			case bad(p.Name):
				return fmt.Sprintf("calls the tool %q, which is no tool's name", p.Name)
			}
			return ""
		})
	}
}

func isObject(raw json.RawMessage) bool {
	return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) && json.Valid(raw)
}

func inputsAreObjects(r *model.Request, _ model.Rules) *finding {
	return eachPart(r, func(_ thread.Role, p *thread.Part) string {
		if p.Type == thread.CallPart && !isObject(p.Input) {
			return "is a call whose input is no JSON object"
		}
		return ""
	})
}

func thinkingSigned(r *model.Request, rules model.Rules) *finding {
	return eachPart(r, func(_ thread.Role, p *thread.Part) string {
		switch {
		case p.Type != thread.ThinkingPart:
			return ""
		case rules.Thinking == model.ThinkingNone:
			return "is thinking, which the model does not take"
		case p.Signature == "":
			return "is thinking without a signature"
		case p.Model != r.Model:
			return fmt.Sprintf("is thinking of another model, %q", p.Model)
		}
		return ""
	})
}

// thinkingLeads asks that a reply with thinking starts with it and follows
// somebody else's words.
func thinkingLeads(r *model.Request, _ model.Rules) *finding {
	for i, m := range r.Messages {
		if m.Role != thread.Assistant || !hasThinking(placed{Message: m}) {
			continue
		}
		if !isThinking(m.Parts[0]) || i > 0 && r.Messages[i-1].Role == thread.Assistant {
			return &finding{i, 0, "stands before thinking in the same side's words"}
		}
	}
	return nil
}

// thinkingLeadsOn asks that thinking is followed by what it led to.
func thinkingLeadsOn(r *model.Request, _ model.Rules) *finding {
	for i, m := range r.Messages {
		if last := len(m.Parts) - 1; m.Role == thread.Assistant && isThinking(m.Parts[last]) {
			return &finding{i, last, "is thinking that nothing follows"}
		}
	}
	return nil
}

// runningThinks asks, where thinking is on and the model's rule says so, that
// the run of the newest calls starts with its thinking.
func runningThinks(r *model.Request, rules model.Rules) *finding {
	if r.Thinking == "" || rules.Thinking != model.ThinkingKept {
		return nil
	}
	messages := make([]placed, len(r.Messages))
	for i := range r.Messages {
		messages[i].Message = r.Messages[i]
	}
	if run := runOf(messages); run < len(messages) && !hasThinking(messages[run]) {
		return &finding{run, -1, "starts the running calls without their thinking"}
	}
	return nil
}

func imagesTaken(r *model.Request, rules model.Rules) *finding {
	images := 0
	return eachPart(r, func(_ thread.Role, p *thread.Part) string {
		if p.Type != thread.BlobPart {
			return ""
		}
		if !rules.Takes(*p) {
			return fmt.Sprintf("is a %s of %d bytes, which the model does not take", p.MediaType, p.Size)
		}
		if strings.HasPrefix(p.MediaType, "image/") {
			images++
		}
		if over(int64(images), int64(rules.Images.Max)) {
			return fmt.Sprintf("is one image more than the %d that are allowed", rules.Images.Max)
		}
		return ""
	})
}

func bodyHolds(r *model.Request, rules model.Rules) *finding {
	if n := bodyBytes(r); over(n, rules.MaxBody) {
		return &finding{-1, -1, fmt.Sprintf("has a body of %d bytes, %d are allowed", n, rules.MaxBody)}
	}
	return nil
}

// bodyBytes is about what the request's body takes: texts as they are, blobs in
// base64.
func bodyBytes(r *model.Request) int64 {
	n := int64(0)
	for _, t := range r.Tools {
		n += int64(len(t.Name) + len(t.Description) + len(t.Schema))
	}
	for _, s := range r.System {
		n += int64(len(s))
	}
	for i := range r.Messages {
		n += partBytes(r.Messages[i].Parts)
	}
	return n
}

func partBytes(parts []thread.Part) int64 {
	n := int64(0)
	for i := range parts {
		p := &parts[i]
		n += int64(len(p.Text) + len(p.Signature) + len(p.Input) + len(p.ID) + len(p.Call) + len(p.Name))
		if p.Type == thread.BlobPart {
			n += encoded(p.Size)
		}
		n += partBytes(p.Parts)
	}
	return n
}

// marksHold asks that the marks are few, in order, and stand at parts that can
// bear them.
func marksHold(r *model.Request, rules model.Rules) *finding {
	if len(r.Marks) > rules.MaxMarks {
		return &finding{-1, -1, fmt.Sprintf("has %d cache marks, %d are allowed", len(r.Marks), rules.MaxMarks)}
	}
	for i, m := range r.Marks {
		switch {
		case m.Message == -1 && len(r.System) == 0:
			return &finding{-1, -1, "has a cache mark at instructions that are not there"}
		case m.Message < -1 || m.Message >= len(r.Messages):
			return &finding{-1, -1, fmt.Sprintf("has a cache mark at message %d of %d", m.Message, len(r.Messages))}
		case m.Message >= 0 && (m.Part < 0 || m.Part >= len(r.Messages[m.Message].Parts)):
			return &finding{m.Message, -1, fmt.Sprintf("has a cache mark at part %d, which is not there", m.Part)}
		case m.Message >= 0 && isThinking(r.Messages[m.Message].Parts[m.Part]):
			return &finding{m.Message, m.Part, "is thinking and bears a cache mark"}
		case i > 0 && (m.Message < r.Marks[i-1].Message || m.Message == r.Marks[i-1].Message && m.Part <= r.Marks[i-1].Part):
			return &finding{m.Message, m.Part, "bears a cache mark out of order"}
		}
	}
	return nil
}
