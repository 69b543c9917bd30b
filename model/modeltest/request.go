package modeltest

import (
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// request is what the server understood of a body: the prompt as blocks, and
// what an answer depends on.
type request struct {
	model    string
	rules    model.Rules
	stream   bool
	maxOut   int // 0: no limit
	thinks   bool
	shown    bool     // what is thought is shown, not only signed
	tools    []string // names
	blocks   []block
	messages []spoken
	settings string // what, if it changes, leaves nothing of the messages cached
	images   int
	files    int
	level    string // the effort asked for
	sides    []side
	asSent   []block // the blocks as they were sent, where some were dropped

	key      string // of OpenAI's cache
	life     string // how long a cache entry lives, if the request says so
	explicit bool   // OpenAI: no breakpoint but those that are marked
	usage    bool   // Chat Completions: the stream ends with the usage
	warming  bool   // Messages: nothing is answered, the cache is written
	sealed   bool   // Responses: reasoning comes back encrypted
	system   string // Responses: the instructions, for the response
	changes  []change
}

// level says which part of a prompt a block stands in.
type level int

const (
	toolLevel level = iota
	systemLevel
	messageLevel
)

// block is one piece of a prompt, the smallest that is cached.
type block struct {
	level  level
	data   []byte // what is compared, cache marks aside
	tokens int
	mark   string // the life its cache mark asks for; empty: it has none
	ends   bool   // OpenAI: it ends a message that a breakpoint may follow
	run    string // what it is with its neighbours of the kind: calls, or results
}

// spoken is a message of a request.
type spoken struct {
	role  string
	at    string
	parts []part
}

// part is a piece of a message. Kind is that of [thread.Part], or "redacted".
type part struct {
	kind  thread.PartType
	at    string
	id    string // of a call; for a result, its call's
	name  string
	text  string
	proof string // of thinking: the signature
	block int    // in the request's blocks
}

const redactedPart thread.PartType = "redacted"

// change is what the server did to a request by itself.
type change struct{ Path, Reason string }

// sum names a prompt's start: two prompts begin alike as far as their sums are
// the same.
type sum [16]byte

// then is the sum after one more block.
func (s sum) then(data []byte) sum {
	h := sha256.New()
	h.Write(s[:])
	h.Write(data)
	return sum(h.Sum(nil)[:len(s)])
}

// add puts a block at the end of the prompt and gives its place.
func (r *request) add(b block) int {
	r.blocks = append(r.blocks, b)
	return len(r.blocks) - 1
}

// sumsOf are the sums of the starts of a prompt: the i-th is that of its first i
// blocks.
func sumsOf(blocks []block) []sum {
	sums := make([]sum, 1, len(blocks)+1)
	for i, b := range blocks {
		sums = append(sums, sums[i].then(b.data))
	}
	return sums
}

// whole is the sum of all the blocks.
func whole(blocks []block) sum { return sumsOf(blocks)[len(blocks)] }

func (r *request) asked() Asked {
	a := Asked{Model: r.model, Effort: r.level, Thinks: r.thinks, CacheKey: r.key, Images: r.images, Files: r.files, Dropped: len(r.changes)}
	for _, b := range r.blocks {
		if b.mark != "" {
			a.Marks++
		}
	}
	return a
}

func (r *request) tokens() int {
	n := 0
	for _, b := range r.blocks {
		n += b.tokens
	}
	return n
}

// newest is the newest user's words that are no context, and the texts of the
// results that follow the newest call, in order.
func (r *request) newest() (said string, results []string) {
	for i := len(r.messages) - 1; i >= 0; i-- {
		m := r.messages[i]
		if m.role == "assistant" {
			break
		}
		for _, p := range slices.Backward(m.parts) {
			if p.kind == thread.ResultPart {
				results = append(results, p.text)
			}
		}
	}
	slices.Reverse(results)
	for i := len(r.messages) - 1; i >= 0; i-- {
		m := r.messages[i]
		if m.role != "user" {
			continue
		}
		var texts []string
		for _, p := range m.parts {
			if p.kind == thread.TextPart && !strings.HasPrefix(p.text, "<context name=") {
				texts = append(texts, p.text)
			}
		}
		if len(texts) > 0 {
			return strings.Join(texts, "\n"), results
		}
	}
	return "nothing yet", results
}

// Weights of what is not text, as thread.Part has them.
const (
	imageTokens = 1600
	frameTokens = 4
)

// textBlock, callBlock, and the others are the blocks that stand for the parts
// of messages. What the server answers has the same blocks when it comes back.

func textBlock(role, text string) block {
	return block{level: messageLevel, data: encode([]string{role, "text", text}), tokens: thread.Weight(text)}
}

func thinkingBlock(kind thread.PartType, text, proof string) block {
	return block{level: messageLevel, data: encode([]string{"assistant", string(kind), text, proof}), tokens: thread.Weight(text) + thread.Weight(proof)}
}

// callBlock weighs the input as it is written, so that it weighs what the
// caller's own copy does.
func callBlock(id, name string, input []byte) block {
	return block{run: "calls", level: messageLevel, data: encode([]string{"assistant", "call", id, name, string(input)}), tokens: frameTokens + thread.Weight(id) + thread.Weight(name) + thread.Weight(string(input))}
}

func resultBlock(id string, failed bool, parts []block) block {
	list := []any{"user", "result", id, failed}
	n := frameTokens + thread.Weight(id)
	for _, p := range parts {
		list = append(list, string(p.data))
		n += p.tokens
	}
	return block{run: "results", level: messageLevel, data: encode(list), tokens: n}
}

func imageBlock(kind, data string) block {
	return block{level: messageLevel, data: encode([]string{"user", "image", kind, digest(data)}), tokens: imageTokens}
}

func fileBlock(kind, name, data string, size int) block {
	return block{level: messageLevel, data: encode([]string{"user", "file", kind, name, digest(data)}), tokens: size / 4}
}

func toolBlock(name, description string, schema []byte) block {
	return block{level: toolLevel, data: encode([]string{"tool", name, description, string(schema)}), tokens: thread.Weight(name) + thread.Weight(description) + thread.Weight(string(schema))}
}

func systemBlock(text string) block {
	return block{level: systemLevel, data: encode([]string{"system", text}), tokens: thread.Weight(text)}
}

// digest stands for bytes that are too long to keep.
func digest(data string) string {
	h := sha256.Sum256([]byte(data))
	return string(encode(h[:]))
}
