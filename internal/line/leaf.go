package line

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/skeinhq/skein/thread"
)

// What a leaf shows of long parts, in bytes: the head and the tail. They bound
// what a message costs its writer, however long it is.
const (
	textHead, textTail     = 24 << 10, 8 << 10 // what was said
	resultHead, resultTail = 4 << 10, 2 << 10  // what a tool gave
	inputHead, inputTail   = 2 << 10, 1 << 10  // what a tool was given
	leafBytes              = 32 << 10          // nothing is added once all of it has so many
)

// Texts of messages that have no words to show.
const (
	privateLine = "(private)"
	noText      = "(no text)"
	erasedLine  = "(erased)"
)

// Leaf gives the full text of a message's line. What was said, each tool call
// and each result stands on a line of its own, after who spoke to whom:
//
//	ana → north: Ship on the 12th
//	north → search: {"q":"studio"}
//	search → north: 3 found…
//
// Attachments show as [image/png plan.png 34 KB], parts that Skein does not know
// as [unknown part …]; thinking and contexts are left out. A message with an
// audience is "(private)", an erased one (nil) "(erased)". Newlines are kept.
// Long parts show head and tail around an ellipsis, so a leaf has at most about
// 64 KB and its cost is bounded. It is never empty and always valid UTF-8.
//
// What zoom, read and search gave back was said elsewhere and is only named:
// search → north: looked for "studio". See [Opened].
func Leaf(m *thread.Message) string { return joined(utterances(m)) }

// Verbatim gives the leaf's text and says whether it is short enough to be the
// message's line as it stands.
func Verbatim(m *thread.Message) (text string, ok bool) {
	text = Leaf(m)
	return text, len(text) <= thread.LineBytes
}

// utterance is one thing said, asked of a tool or given back by one.
type utterance struct {
	head string // "ana → north: ", empty for what nobody said
	text string
	kind utteranceKind
	half int // of a merge: 0 left, 1 right
}

type utteranceKind int

const (
	userSaid utteranceKind = iota
	agentSaid
	called
	gave
)

// utterances are what a message says, in order, long parts clipped. There is
// always at least one.
func utterances(m *thread.Message) []utterance {
	if m == nil {
		return []utterance{{text: erasedLine}}
	}
	if len(m.Audience) > 0 {
		return []utterance{{text: privateLine}}
	}
	var out []utterance
	size := 0
	add := func(kind utteranceKind, head, text string) {
		out = append(out, utterance{head: head, text: text, kind: kind})
		size += len(head) + len(text) + 1
	}
	kind := agentSaid
	if m.Role == thread.User {
		kind = userSaid
	}
	text := said(m)
	for _, p := range m.Parts {
		if size > leafBytes {
			out = append(out, utterance{text: Ellipsis})
			break
		}
		switch p.Type {
		case thread.CallPart:
			add(called, name(m.Author)+" → "+name(p.Name)+": ", clipMiddle(compact(p.Input), inputHead, inputTail))
		case thread.ResultPart:
			add(gave, resultHeadOf(m, p), result(m, p))
		case thread.ThinkingPart:
		default:
			// All that was said stands together, where its first part stood.
			if text != "" {
				add(kind, headNaming(m), text)
				text = ""
			}
		}
	}
	if len(out) == 0 {
		add(kind, headNaming(m), noText)
	}
	return out
}

// headNaming names who spoke, and to whom.
func headNaming(m *thread.Message) string {
	if len(m.To) == 0 {
		return name(m.Author) + ": "
	}
	names := make([]string, 0, min(len(m.To), maxAddressees+1))
	for i, to := range m.To {
		if i == maxAddressees {
			names = append(names, Ellipsis)
			break
		}
		names = append(names, name(to))
	}
	return name(m.Author) + " → " + strings.Join(names, ", ") + ": "
}

// joined writes utterances whole, one a line.
func joined(us []utterance) string {
	lines := make([]string, len(us))
	for i, u := range us {
		lines[i] = u.head + u.text
	}
	return strings.Join(lines, "\n")
}

// maxAddressees is how many addressees a head names.
const maxAddressees = 8

// nameBytes is how much of a name a head shows.
const nameBytes = 64

// name is a name as a head shows it: on one line, bounded, never empty.
func name(s string) string {
	if s == "" {
		return "?"
	}
	if len(s) > nameBytes {
		s = s[:wholeRune(s, 4*nameBytes)]
	}
	return Clip(thread.OneLine(valid(s)), nameBytes)
}

// said joins the texts, attachments and unknown parts of the message.
func said(m *thread.Message) string {
	var texts []string
	size := 0
	for _, p := range m.Parts {
		if size > leafBytes {
			texts = append(texts, Ellipsis)
			break
		}
		if t := shown(p, textHead, textTail); t != "" {
			texts = append(texts, t)
			size += len(t) + 1
		}
	}
	return strings.Join(texts, "\n")
}

// shown is a part as a line shows it; calls, results and thinking are nothing.
func shown(p thread.Part, head, tail int) string {
	switch p.Type {
	case thread.CallPart, thread.ResultPart, thread.ThinkingPart:
		return ""
	case thread.TextPart:
		return clipMiddle(p.Text, head, tail)
	case thread.BlobPart:
		return Attachment(p)
	default:
		return unknown(p.Raw)
	}
}

// unknown notes a part that Skein does not know by the type its source gave it.
func unknown(raw json.RawMessage) string {
	var part struct{ Type string }
	if len(raw) > resultHead || json.Unmarshal(raw, &part) != nil || part.Type == "" {
		return "[unknown part]"
	}
	return "[unknown part " + name(part.Type) + "]"
}

// Attachment names a blob: [image/png plan.png 34 KB].
func Attachment(p thread.Part) string {
	words := make([]string, 0, 3)
	if p.MediaType != "" {
		words = append(words, name(p.MediaType))
	} else {
		words = append(words, "file")
	}
	if p.Name != "" {
		words = append(words, name(p.Name))
	}
	return "[" + strings.Join(append(words, size(p.Size)), " ") + "]"
}

// size writes a count of bytes for people: 512 B, 34 KB, 1.2 MB.
func size(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10) + " B"
	case n < 999_500:
		return strconv.FormatInt((n+500)/1000, 10) + " KB"
	default:
		return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + " MB"
	}
}

// resultHeadOf names the tool and who had called it.
func resultHeadOf(m *thread.Message, p thread.Part) string {
	tool := p.Name
	if tool == "" {
		tool = m.Author
	}
	if len(m.To) == 0 {
		return name(tool) + ": "
	}
	return name(tool) + " → " + name(m.To[0]) + ": "
}

// result is what a tool gave back, or what it opened.
func result(m *thread.Message, p thread.Part) string {
	if m.Derived(p) && !p.IsError {
		return opening(m.Meta, p)
	}
	var texts []string
	size := 0
	for _, q := range p.Parts {
		if size > resultHead+resultTail {
			texts = append(texts, Ellipsis)
			break
		}
		if t := shown(q, resultHead, resultTail); t != "" {
			texts = append(texts, t)
			size += len(t) + 1
		}
	}
	text := strings.Join(texts, "\n")
	if text == "" {
		text = noText
	}
	if p.IsError {
		return "error: " + text
	}
	return text
}

// compact is a call's input without white space between its tokens. A long one
// stays as it is, since only its ends are shown.
func compact(input json.RawMessage) []byte {
	if len(input) > inputHead+inputTail {
		return input
	}
	var b bytes.Buffer
	if err := json.Compact(&b, input); err != nil {
		return input
	}
	return b.Bytes()
}
