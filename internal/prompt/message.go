package prompt

import (
	"slices"
	"strconv"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// noOutput stands for a result without anything to read.
const noOutput = "(no output)"

// appendStored renders one stored message: the agent's own reply as it is,
// results as results, and all else as a user message that names its author.
func appendStored(dst []model.Message, l *Layout, e *thread.Entry) []model.Message {
	if l.own(e.Message) {
		return append(dst, model.Message{Role: thread.Assistant, Parts: l.reply(e)})
	}
	if results := l.results(e); len(results) > 0 {
		dst = append(dst, model.Message{Role: thread.Tool, Parts: results})
	}
	if said := l.said(e); len(said) > 0 {
		dst = append(dst, model.Message{Role: thread.User, Parts: said})
	}
	return dst
}

// reply gives the parts of the agent's own message. Thinking is judged later,
// when it is known what stands before it.
func (l *Layout) reply(e *thread.Entry) []thread.Part {
	start := len(l.scratch)
	for i := range e.Message.Parts {
		p := &e.Message.Parts[i]
		switch p.Type {
		case thread.TextPart:
			l.text(p.Text)
		case thread.ThinkingPart:
			if p.Signature != "" {
				l.scratch = append(l.scratch, thread.Part{
					Type: thread.ThinkingPart, Text: valid(p.Text), Signature: p.Signature, Redacted: p.Redacted, Provider: p.Provider, Model: p.Model, Raw: p.Raw,
				})
			}
		case thread.CallPart:
			delete(l.private, valid(p.ID))
			if len(l.Definition.Tools) == 0 || ranThere(e.Message.Parts[i+1:], p.ID) {
				l.text(l.callText(e.Message.Author, p))
				continue
			}
			l.scratch = append(l.scratch, thread.Part{Type: thread.CallPart, ID: valid(p.ID), Name: valid(p.Name), Input: object(p.Input)})
		case thread.ResultPart: // of a tool that ran at the provider's
			l.text(l.resultHead(e.Message.Author, p))
			for j := range p.Parts {
				l.plainPart(&p.Parts[j], e.Index)
			}
		default:
			l.plainPart(p, e.Index)
		}
	}
	return l.scratch[start:]
}

// ranThere says whether a call ran at the provider's: its result stands beside it,
// and both are shown as texts.
func ranThere(following []thread.Part, id string) bool {
	return slices.ContainsFunc(following, func(p thread.Part) bool { return p.Type == thread.ResultPart && p.Call == id })
}

// results gives the results that a message carries.
func (l *Layout) results(e *thread.Entry) []thread.Part {
	start := len(l.scratch)
	blob := 0
	for i := range e.Message.Parts {
		p := &e.Message.Parts[i]
		if p.Type != thread.ResultPart {
			if p.Type == thread.BlobPart {
				blob++
			}
			continue
		}
		if l.private[valid(p.Call)] {
			blob += countBlobs(p.Parts)
			continue
		}
		parts := l.output(p, blobPlace{e.Index, blob})
		blob += countBlobs(p.Parts)
		l.scratch = append(l.scratch, thread.Part{Type: thread.ResultPart, Call: valid(p.Call), Name: valid(p.Name), Parts: parts, IsError: p.IsError})
	}
	return l.scratch[start:]
}

// output gives what a result carries, never nothing. at is the place of its
// first blob.
func (l *Layout) output(result *thread.Part, at blobPlace) []thread.Part {
	start := len(l.inner)
	whole := result.Whole()
	for i := range result.Parts {
		p := &result.Parts[i]
		switch p.Type {
		case thread.TextPart:
			if !blank(p.Text) {
				l.inner = append(l.inner, thread.Text(valid(p.Text)))
			}
		case thread.BlobPart:
			if i == whole {
				l.inner = append(l.inner, thread.Text(l.reference("whole output", p.Name, at.index)))
			} else {
				l.inner = append(l.inner, l.blob(p, at))
			}
			at.n++
		case thread.RawPart:
			l.inner = append(l.inner, thread.Text(l.reference("part", "", at.index)))
		}
	}
	if len(l.inner) == start {
		l.inner = append(l.inner, thread.Text(noOutput))
	}
	return l.inner[start:len(l.inner):len(l.inner)]
}

// said gives what was said by somebody else, the first text after the author's
// name. What nobody said, such as a summary, has none.
func (l *Layout) said(e *thread.Entry) []thread.Part {
	start := len(l.scratch)
	author := name(e.Message.Author)
	named := e.Message.Author == ""
	say := func(s string) {
		if blank(s) {
			return
		}
		if s = valid(s); !named {
			s, named = l.texts.join(author, ": ", s), true
		}
		l.scratch = append(l.scratch, thread.Text(s))
	}
	blob := 0
	for i := range e.Message.Parts {
		p := &e.Message.Parts[i]
		switch p.Type {
		case thread.TextPart:
			say(p.Text)
		case thread.CallPart:
			// The arrow names the author already.
			l.scratch = append(l.scratch, thread.Text(l.callText(author, p)))
			named = true
			delete(l.private, valid(p.ID))
		case thread.ResultPart:
			blob += countBlobs(p.Parts)
		case thread.BlobPart:
			shown := l.blob(p, blobPlace{e.Index, blob})
			blob++
			if shown.Type == thread.TextPart {
				say(shown.Text)
				continue
			}
			if !named {
				l.scratch, named = append(l.scratch, thread.Text(l.texts.join(author, ":"))), true
			}
			l.scratch = append(l.scratch, shown)
		case thread.RawPart:
			say(l.reference("part", "", e.Index))
		}
	}
	return l.scratch[start:]
}

// plainPart adds a part that can stand in the agent's own message as text only.
func (l *Layout) plainPart(p *thread.Part, index int64) {
	switch p.Type {
	case thread.TextPart:
		l.text(p.Text)
	case thread.BlobPart:
		l.text(l.reference(kindOf(p.MediaType), p.Name, index))
	case thread.RawPart:
		l.text(l.reference("part", "", index))
	}
}

func (l *Layout) text(s string) {
	if !blank(s) {
		l.scratch = append(l.scratch, thread.Text(valid(s)))
	}
}

// callText is a call as a text: north → search: {"q":"studio"}.
func (l *Layout) callText(author string, p *thread.Part) string {
	return l.texts.join(name(author), " → ", name(p.Name), ": ", string(compact(p.Input)))
}

// resultHead stands before a result that is shown as a text.
func (l *Layout) resultHead(to string, p *thread.Part) string {
	if p.IsError {
		return l.texts.join(name(p.Name), " → ", name(to), ": error: ")
	}
	return l.texts.join(name(p.Name), " → ", name(to), ": ")
}

// reference stands for what is not sent, and says how to open it:
// [image plan.png zoom 8 1].
func (l *Layout) reference(kind, file string, index int64) string {
	if file != "" {
		kind = kind + " " + name(file)
	}
	return l.texts.join("[", kind, " zoom ", strconv.FormatInt(index, 10), " 1]")
}
