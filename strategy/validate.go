package strategy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skeinhq/skein/thread"
)

// Violation says which rule a strategy's result breaks and where, as Details of
// the error. Message is the place in the result, from 0; -1: in none.
type Violation struct {
	Rule    string `json:"rule"`
	Message int    `json:"message"`
}

// Validate checks what a strategy made of the messages before it. It fails with
// configuration, naming place and rule; Details is a [Violation]. What was wrong
// in the messages before already is no fault of the strategy's: a call that waits
// for its result, or a log that starts with an agent's message.
//
//	messages   there are some
//	known      those with a seq are of the list before, each once
//	order      and in its order
//	role       is user, assistant or tool
//	empty      no message, text or result is
//	part       is of a type that can be sent
//	place      a part stands in a message of its role
//	pairs      a call has exactly one result after it, its own, and a result its call
//	pending    a call that waits for its result stays
//	start      with a user's message
//	end        with a user's message or a tool's results
func Validate(before, after []Message) error {
	settled, err := settle(before, after)
	if err != nil {
		return err
	}
	return validate(before, settled)
}

// validate checks settled messages.
func validate(before, after []Message) error {
	for _, find := range []func(before, after []Message) *violation{
		someMessages, knownMessages, soundMessages, pairsHold, endsHold,
	} {
		if v := find(before, after); v != nil {
			return v.error()
		}
	}
	return nil
}

type violation struct {
	Violation
	what string
}

func broken(rule string, message int, format string, args ...any) *violation {
	return &violation{Violation{rule, message}, fmt.Sprintf(format, args...)}
}

func (v *violation) error() error {
	where := "the list"
	if v.Message >= 0 {
		where = fmt.Sprintf("message %d", v.Message)
	}
	return &thread.Error{
		Code: thread.Configuration, Op: "compact", Details: v.Violation,
		Message: fmt.Sprintf("what the strategy wants sent is not valid: %s %s (rule %s)", where, v.what, v.Rule),
	}
}

func someMessages(_, after []Message) *violation {
	if len(after) == 0 {
		return broken("messages", -1, "is empty")
	}
	return nil
}

func knownMessages(before, after []Message) *violation {
	place := map[int64]int{}
	for i := range before {
		place[before[i].Seq] = i
	}
	seen := map[int64]bool{}
	last := -1
	for i := range after {
		seq := after[i].Seq
		if seq == 0 {
			continue
		}
		at, ok := place[seq]
		switch {
		case !ok:
			return broken("known", i, "has the seq %d, which is not among those given", seq)
		case seen[seq]:
			return broken("known", i, "has the seq %d, which came before", seq)
		case at < last:
			return broken("order", i, "has the seq %d and stands after a newer one", seq)
		}
		seen[seq], last = true, at
	}
	return nil
}

// soundMessages looks at new and edited messages; what stays as it was is the
// log's.
func soundMessages(_, after []Message) *violation {
	for i := range after {
		m := &after[i]
		if m.Seq != 0 && !m.edited {
			continue
		}
		if rule, what := unsound(m.Message, m.Seq != 0); rule != "" {
			return broken(rule, i, "%s", what)
		}
	}
	return nil
}

// partsOf says which parts a message of a role may have; "result" is what stands
// inside a result.
var partsOf = map[thread.Role][]thread.PartType{
	thread.User:      {thread.TextPart, thread.BlobPart, thread.RawPart},
	thread.Assistant: {thread.TextPart, thread.BlobPart, thread.RawPart, thread.ThinkingPart, thread.CallPart, thread.ResultPart},
	thread.Tool:      {thread.ResultPart},
	"result":         {thread.TextPart, thread.BlobPart, thread.RawPart},
}

// supported are the parts that a new message may have. One that stands for a
// message of the log may also have a raw part of it.
var supported = []thread.PartType{thread.TextPart, thread.ThinkingPart, thread.CallPart, thread.ResultPart, thread.BlobPart}

func unsound(m *thread.Message, logged bool) (rule, what string) {
	switch {
	case m == nil || len(m.Parts) == 0:
		return "empty", "has no content"
	case partsOf[m.Role] == nil || m.Role == "result":
		return "role", fmt.Sprintf("has the unknown role %q", m.Role)
	}
	return unsoundParts(m.Role, m.Parts, logged)
}

func unsoundParts(role thread.Role, parts []thread.Part, logged bool) (rule, what string) {
	for i := range parts {
		p := &parts[i]
		switch {
		case !slices.Contains(supported, p.Type) && !(logged && p.Type == thread.RawPart):
			return "part", fmt.Sprintf("has a part of the type %q, which cannot be sent", p.Type)
		case !slices.Contains(partsOf[role], p.Type):
			return "place", fmt.Sprintf("has a part of the type %s, which has no place in a message of the role %s", p.Type, role)
		case emptyPart(p):
			return "empty", fmt.Sprintf("has an empty part of the type %s", p.Type)
		}
		if rule, what := unsoundParts("result", p.Parts, logged); rule != "" {
			return rule, what
		}
	}
	return "", ""
}

func emptyPart(p *thread.Part) bool {
	switch p.Type {
	case thread.TextPart:
		return strings.TrimSpace(p.Text) == ""
	case thread.CallPart:
		return p.ID == "" || p.Name == ""
	case thread.ResultPart:
		return p.Call == "" || len(p.Parts) == 0
	case thread.BlobPart:
		return p.Hash == ""
	}
	return false
}

// pairsHold holds the pairs of the result against those of the list before: each
// is the same two, both there or both gone.
func pairsHold(before, after []Message) *violation {
	was, now := pair(before), pair(after)
	for _, c := range now.calls {
		result, answered := now.result[c]
		wanted, had := was.result[c]
		_, known := was.at[c]
		switch {
		case known && !had && !answered: // it waited before
		case !answered:
			return broken("pairs", now.at[c], "has the call %q without its result in what follows", c.id)
		case known && result != wanted:
			return broken("pairs", now.at[c], "has the call %q with a result that is not its own", c.id)
		}
	}
	for _, r := range now.results {
		_, has := now.call[r]
		_, known := was.is[r]
		_, had := was.call[r]
		if !has && (had || !known) {
			return broken("pairs", now.is[r], "has the result of the call %q without that call before it", r.id)
		}
	}
	for _, c := range was.calls {
		if _, had := was.result[c]; had {
			continue
		}
		if _, stays := now.at[c]; !stays {
			return broken("pending", -1, "lacks the call %q, which waits for its result", c.id)
		}
	}
	return nil
}

func endsHold(before, after []Message) *violation {
	if first := &after[0]; !said(first) && !sameAs(first, before, 0) {
		return broken("start", 0, "is the first and no user's")
	}
	if last := &after[len(after)-1]; !said(last) && !sameAs(last, before, len(before)-1) {
		return broken("end", len(after)-1, "is the last and neither a user's nor a tool's")
	}
	return nil
}

// said says whether a message is a user's or a tool's.
func said(m *Message) bool {
	return m.Message != nil && (m.Message.Role == thread.User || m.Message.Role == thread.Tool)
}

func sameAs(m *Message, before []Message, i int) bool {
	return i >= 0 && i < len(before) && m.Seq != 0 && m.Seq == before[i].Seq
}
