package prompt

import (
	"strconv"
	"strings"

	"github.com/skeinhq/skein/thread"
)

// The causes for which a prompt does not start with the one before.
const (
	CauseModel        = "model" // another model, or another thinking effort
	CauseTools        = "tools"
	CauseInstructions = "instructions"
	CauseContexts     = "contexts"
	CauseCut          = "cut"
	CauseAge          = "age"
	CauseImages       = "images"
	CauseHistory      = "history" // the messages themselves: undone, repaired, or thinking left out
)

// Ledger says how much of the prompt a provider should find in its cache.
type Ledger struct {
	Tokens int    `json:"tokens"`          // of the prompt
	Same   int    `json:"same"`            // of those, the same prefix as the request before
	Block  string `json:"block,omitempty"` // the first block that differs from it
	Cause  string `json:"cause,omitempty"` // why; empty where the prompt only grew
}

// block is a piece of the prompt before the first whole message.
type block struct {
	kind   byte
	name   string
	tokens int
	hash   string
}

// The kinds of blocks, which their hashes begin with, in the prompt's order.
const (
	modelBlock        = 'm'
	toolsBlock        = 't'
	instructionsBlock = 'i'
	contextBlock      = 'c'
	headerBlock       = 'h'
	linesBlock        = 'l'
	blockOrder        = "mtichl"
)

// blockCauses says why a block of a kind may differ, all else being the same.
var blockCauses = map[byte]string{
	modelBlock: CauseModel, toolsBlock: CauseTools, instructionsBlock: CauseInstructions, contextBlock: CauseContexts,
}

// blocks gives the prompt's blocks in order.
func (l *Layout) blocks(f fixed, effort string) []block {
	tools := 0
	for _, t := range f.tools {
		tools += toolWeight(t)
	}
	instructions := strings.Join(f.system, "\n")
	out := make([]block, 0, 8+len(l.Lines)/blockLines)
	out = append(out,
		block{modelBlock, "model", 0, blockHash(modelBlock, []byte(l.Definition.Model+"\x00"+effort))},
		block{toolsBlock, "tools", tools, blockHash(toolsBlock, appendTools(nil, f.tools))},
		textBlock(instructionsBlock, "instructions", instructions),
	)
	for i, c := range f.contexts {
		out = append(out, textBlock(contextBlock, "context "+f.contexts[i].Name, c.String()))
	}
	at := l.chatAt()
	if at < 0 {
		return out
	}
	parts := l.out[at].Parts
	out = append(out, textBlock(headerBlock, "header", parts[0].Text))
	for _, p := range parts[1 : len(parts)-1] {
		line, _, _ := strings.Cut(p.Text, "|")
		out = append(out, textBlock(linesBlock, "lines from "+line, p.Text))
	}
	return out
}

func textBlock(kind byte, name, text string) block {
	return block{kind, name, thread.Weight(text), blockHash(kind, []byte(text))}
}

// chatAt is the position of the message that holds the lines, -1 without.
func (l *Layout) chatAt() int {
	for i := range min(2, len(l.out)) {
		if l.out[i].kind == chat {
			return i
		}
	}
	return -1
}

// hashes joins the blocks' hashes, eight characters each.
func hashes(blocks []block) string {
	var b strings.Builder
	b.Grow(8 * len(blocks))
	for i := range blocks {
		b.WriteString(blocks[i].hash)
	}
	return b.String()
}

// previous is the agent's request before, nil where there is none.
func (l *Layout) previous() *thread.Request {
	if l.Past.Previous != nil {
		return l.Past.Previous
	}
	whole := l.Past.whole()
	for i := len(whole) - 1; i >= 0; i-- {
		if m := whole[i].Message; m != nil && l.own(m) && m.Request != nil {
			return m.Request
		}
	}
	return nil
}

// ledger compares the prompt with the request before: exactly, where that one
// is this one's start; else block by block.
func (l *Layout) ledger(blocks []block, tokens int) Ledger {
	g := Ledger{Tokens: tokens}
	prev := l.previous()
	if prev == nil {
		return g
	}
	if len(prev.Blocks) >= 8 && prev.Blocks[:8] != blocks[0].hash {
		g.Block, g.Cause = blocks[0].name, CauseModel
		return g
	}
	before := tokens - l.weight(0, len(l.out)) // tools and instructions
	if at := l.endOf(prev); at >= 0 {
		g.Same = before + l.weight(0, at+1)
		return g
	}
	for i, b := range blocks {
		if theirs := blockAt(prev.Blocks, i); theirs != b.hash {
			g.Block, g.Cause = b.name, l.blockCause(prev, b.kind, theirs)
			return g
		}
		g.Same += b.tokens
	}
	if theirs := blockAt(prev.Blocks, len(blocks)); theirs != "" {
		g.Block, g.Cause = HistorySection, l.blockCause(prev, 0, theirs)
		return g
	}
	g.Same = before
	first, cause := l.messageCause(prev)
	g.Cause = cause
	for i := range l.out {
		if p := &l.out[i]; p.kind == history && (first < 0 || p.index >= first) {
			g.Block = HistorySection
			if p.index >= 0 {
				g.Block = "message " + strconv.FormatInt(p.index, 10)
			}
			break
		}
		g.Same += l.out[i].tokens
	}
	return g
}

// endOf is the position of the message that the request before ended with, -1
// where the prompt does not start with it.
func (l *Layout) endOf(prev *thread.Request) int {
	if prev == nil {
		return -1
	}
	want, ok := parseSum(prev.Hash)
	for i := len(l.out) - 1; ok && i >= 0; i-- {
		if l.out[i].after == want {
			return i
		}
	}
	return -1
}

func blockAt(hashes string, i int) string {
	if len(hashes) < 8*(i+1) {
		return ""
	}
	return hashes[8*i : 8*(i+1)]
}

// blockCause says why a block differs: by its kind, or by that of the earlier
// prompt's block where that one comes first in the order of the prompt.
func (l *Layout) blockCause(prev *thread.Request, kind byte, theirs string) string {
	if theirs != "" && (kind == 0 || strings.IndexByte(blockOrder, theirs[0]) < strings.IndexByte(blockOrder, kind)) {
		kind = theirs[0]
	}
	if cause, ok := blockCauses[kind]; ok {
		return cause
	}
	if prev.Cut != l.Past.cut() {
		return CauseCut
	}
	return CauseAge // without a cut, only age takes lines away
}

// messageCause says why the whole messages differ, and from which message on:
// -1 is from the first.
func (l *Layout) messageCause(prev *thread.Request) (index int64, cause string) {
	if prev.Cut != l.Past.cut() {
		return -1, CauseCut
	}
	known := prev.Length - l.Past.Boundary
	if known < 0 || known == 0 && len(l.Past.Kept) == 0 || known > int64(len(l.Past.Messages)) {
		return -1, CauseHistory
	}
	then := newLayout(l.Input, l.plugin)
	then.Past.Messages = then.Past.Messages[:known]
	then.Messages = then.Past.whole()
	then.within(l.Definition.MaxAge)
	if len(then.Messages) > 0 && len(l.Messages) > 0 && then.Messages[0].Index != l.Messages[0].Index {
		return -1, CauseAge
	}
	then.sharp = then.sharpFrom(then.Messages, fixedPart(l.Definition).bytes()+lineBytes(l.Lines))
	if then.sharp != l.sharp {
		return then.firstSharp(), CauseImages
	}
	return -1, CauseHistory
}

// firstSharp is the message of the oldest blob that is sent.
func (l *Layout) firstSharp() int64 {
	for i := range l.Messages {
		e := &l.Messages[i]
		if e.Message == nil || e.Index < l.sharp.index {
			continue
		}
		w := blobWalk{l: l}
		w.message(e.Message, e.Index)
		for _, s := range w.sent {
			if !s.at.before(l.sharp) {
				return e.Index
			}
		}
	}
	return -1
}
