package modeltest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skeinhq/skein/thread"
)

// Reply is what the server answers one request with. As JSON it may stand in a
// request's header, [ReplyHeader].
type Reply struct {
	// Parts are said in order: text, thinking and calls. A thinking part that is
	// redacted goes out so; Text is then what is hidden. Signatures are the
	// server's. A call without an id gets one.
	Parts []thread.Part `json:"parts,omitempty"`

	// Stop is why it ends: toolCalls where there are calls, else end.
	Stop thread.Stop `json:"stop,omitempty"`

	Delay Duration `json:"delay,omitempty"` // before the first byte
	Pace  float64  `json:"pace,omitempty"`  // tokens a second; 0: the server's
	Pause Duration `json:"pause,omitempty"` // once, after After pieces

	// Trouble comes after that many pieces of a stream; after 0 it comes instead
	// of an answer. RetryAfter goes out with it, in whole seconds.
	Trouble    Trouble  `json:"trouble,omitempty"`
	After      int      `json:"after,omitempty"`
	RetryAfter Duration `json:"retryAfter,omitempty"`
}

// ReplyHeader is the header of a request that may say how it is answered: a
// [Reply] as JSON. It is stronger than a script and than a model's name.
const ReplyHeader = "X-Fake-Reply"

// Duration is written as Go writes it: "250ms".
type Duration time.Duration

// MarshalText writes the duration.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads the duration.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = Duration(v)
	return err
}

// Trouble is what may go wrong with an answer.
type Trouble string

// The troubles. The first three can only come in the middle of a stream, or at
// the end of its headers.
const (
	Cut       Trouble = "cut"       // the connection breaks
	Truncated Trouble = "truncated" // the stream ends as if it were whole
	Garbage   Trouble = "garbage"   // something comes that is no event, or no JSON

	RateLimit   Trouble = "rateLimit"   // 429, of requests or tokens
	Quota       Trouble = "quota"       // no money: 400 with Anthropic, 429 with OpenAI
	Overloaded  Trouble = "overloaded"  // 529 with Anthropic, 503 with OpenAI
	ServerError Trouble = "serverError" // 500
	Gateway     Trouble = "gateway"     // 502, a proxy's page of HTML
	Overflow    Trouble = "overflow"    // the prompt is over the model's window
	Forbidden   Trouble = "forbidden"   // 403
	Policy      Trouble = "policy"      // the prompt is refused by a filter
)

// Say is a reply of one text.
func Say(text string) Reply { return Reply{Parts: []thread.Part{thread.Text(text)}} }

// Think is a part that was thought before the others of a reply.
func Think(text string) thread.Part { return thread.Part{Type: thread.ThinkingPart, Text: text} }

// Hide is a part that was thought and is not shown.
func Hide(text string) thread.Part {
	return thread.Part{Type: thread.ThinkingPart, Text: text, Redacted: true}
}

// Answer is a reply of those parts.
func Answer(parts ...thread.Part) Reply { return Reply{Parts: parts} }

// Fail is a reply that is no answer.
func Fail(t Trouble) Reply { return Reply{Trouble: t} }

// canned are the replies that a model's name asks for by its end:
// claude-opus-5-5-fake-refusal is claude-opus-5-5 that refuses.
var canned = map[string]Reply{
	"refusal":     {Parts: []thread.Part{thread.Text("I can't help with that.")}, Stop: thread.StopRefusal},
	"length":      {Parts: []thread.Part{thread.Text("This answer is cut")}, Stop: thread.StopLength},
	"thinking":    {Parts: []thread.Part{Think("Let me look at this from both sides."), thread.Text("I have thought about it.")}},
	"redacted":    {Parts: []thread.Part{Hide("Nobody reads this."), thread.Text("I have thought about it.")}},
	"slow":        {Parts: []thread.Part{thread.Text("It took a while.")}, Delay: Duration(3 * time.Second)},
	"stall":       {Parts: []thread.Part{thread.Text("One moment, then it goes on.")}, Pause: Duration(30 * time.Second), After: 2},
	"cut":         {Parts: []thread.Part{thread.Text("This answer ends in the middle")}, Trouble: Cut, After: 3},
	"truncated":   {Parts: []thread.Part{thread.Text("This answer ends in the middle")}, Trouble: Truncated, After: 3},
	"garbage":     {Parts: []thread.Part{thread.Text("This answer goes wrong")}, Trouble: Garbage, After: 2},
	"error":       {Parts: []thread.Part{thread.Text("This answer goes wrong")}, Trouble: Overloaded, After: 2},
	"rate-limit":  {Trouble: RateLimit, RetryAfter: Duration(2 * time.Second)},
	"quota":       {Trouble: Quota},
	"overloaded":  {Trouble: Overloaded},
	"servererror": {Trouble: ServerError},
	"gateway":     {Trouble: Gateway},
	"overflow":    {Trouble: Overflow},
}

// CannedNames lists what may stand behind "-fake-" in a model's name.
func CannedNames() []string {
	var names []string
	for name := range canned {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

const fakeInfix = "-fake-"

// base is a model's name without what it asks of the server.
func base(name string) string {
	bare, _, _ := strings.Cut(name, fakeInfix)
	return bare
}

// reply says how a request is answered: as its header says, else as the script
// does, else as the model's name asks, else by the plain rule.
func (s *Server) reply(header string, r *request) (Reply, *problem) {
	if header != "" {
		var out Reply
		if err := json.Unmarshal([]byte(header), &out); err != nil {
			return Reply{}, &problem{message: fmt.Sprintf("%s: %v", ReplyHeader, err)}
		}
		return out, nil
	}
	if scripted, ok := s.next(); ok {
		return scripted, nil
	}
	if _, name, ok := strings.Cut(r.model, fakeInfix); ok {
		return canned[name], nil
	}
	return plain(r), nil
}

var zoomAsked = regexp.MustCompile(`(?i)\bzoom\s*\(?\s*(\d+)\s*[ ,+]\s*(\d+)`)

// plain answers without any script: it zooms where it is asked to and can, tells
// what its tools returned, and else says back what it heard. Where it was asked
// to think it thinks first.
func plain(r *request) Reply {
	said, results := r.newest()
	var parts []thread.Part
	if r.thinks {
		parts = append(parts, Think(fmt.Sprintf("They wrote %d words. I answer in kind.", len(strings.Fields(said)))))
	}
	if len(results) > 0 {
		return Answer(append(parts, thread.Text("It returned:\n"+strings.Join(results, "\n")))...)
	}
	if calls := zooms(r, said); len(calls) > 0 {
		return Answer(append(append(parts, thread.Text("I look it up.")), calls...)...)
	}
	return Answer(append(parts, thread.Text("You said: "+said))...)
}

// zooms are the calls that a text asks for, as "zoom 8 4".
func zooms(r *request, said string) []thread.Part {
	if !slices.Contains(r.tools, "zoom") {
		return nil
	}
	var calls []thread.Part
	for _, m := range zoomAsked.FindAllStringSubmatch(said, -1) {
		id, errID := strconv.Atoi(m[1])
		n, errN := strconv.Atoi(m[2])
		if errID == nil && errN == nil {
			calls = append(calls, thread.Call("", "zoom", encode(fields{"id", id, "n", n})))
		}
	}
	return calls
}

// answer is a reply made ready for a request: with ids, signatures, within the
// request's limit, and counted.
type answer struct {
	Reply
	id      string // of the answer, from which the ids of its pieces are made
	output  int    // tokens
	thought int    // of those, for thinking
}

// ready makes a reply into an answer to a request. It is a function of the two
// alone.
func ready(r *request, reply Reply, vendor string) answer {
	prompt := whole(r.blocks)
	a := answer{Reply: reply, id: fmt.Sprintf("%x", prompt.then(encode(reply.Parts)))[:answerID]}
	a.Parts = slices.Clone(reply.Parts)
	before := prompt
	if r.asSent != nil {
		before = whole(r.asSent)
	}
	if r.warming {
		a.Parts, a.Stop = nil, thread.StopLength
	}
	calls := 0
	for i := range a.Parts {
		p := &a.Parts[i]
		var b block
		switch p.Type {
		case thread.ThinkingPart:
			b = a.think(r, p, before)
		case thread.CallPart:
			if p.ID == "" {
				p.ID = fmt.Sprintf("%s_%s%02d", vendor, a.id[:20], calls)
			}
			calls++
			if len(p.Input) == 0 {
				p.Input = json.RawMessage("{}")
			}
			b = callBlock(p.ID, p.Name, canonical(p.Input))
			a.output += b.tokens
		default:
			p.Text = a.within(r.maxOut, p.Text)
			b = textBlock("assistant", p.Text)
			a.output += b.tokens
		}
		before = before.then(b.data)
	}
	switch {
	case a.Stop != "":
	case calls > 0:
		a.Stop = thread.StopCalls
	default:
		a.Stop = thread.StopEnd
	}
	return a
}

// think signs a thought. What is counted is what was thought, shown or not.
func (a *answer) think(r *request, p *thread.Part, before sum) block {
	n := thread.Weight(p.Text)
	a.thought += n
	a.output += n
	kind := thread.ThinkingPart
	switch {
	case p.Redacted:
		kind = redactedPart
		p.Text = ""
	case !r.shown:
		p.Text = ""
	}
	p.Signature = sign(r.model, before, p.Text)
	return thinkingBlock(kind, p.Text, p.Signature)
}

// within cuts a text at the tokens that are left of a limit; what is cut off
// makes the answer end for its length.
func (a *answer) within(limit int, text string) string {
	if limit == 0 || a.output+thread.Weight(text) <= limit {
		return text
	}
	a.Stop = thread.StopLength
	kept := ""
	for _, word := range strings.SplitAfter(text, " ") {
		if a.output+thread.Weight(kept+word) > limit {
			break
		}
		kept += word
	}
	return strings.TrimRight(kept, " ")
}

// pieces cuts a text into what a stream carries at once.
func pieces(text string) []string {
	if text == "" {
		return nil
	}
	return strings.SplitAfter(text, " ")
}

// crumbs cuts JSON into short pieces, at characters and nowhere else, so that
// they part words, numbers and escapes.
func crumbs(text string) []string {
	const size = 7
	var out []string
	start, n := 0, 0
	for i := range text {
		if n == size {
			out = append(out, text[start:i])
			start, n = i, 0
		}
		n++
	}
	return append(out, text[start:])
}

// answerID is how long an answer's id is.
const answerID = 24
