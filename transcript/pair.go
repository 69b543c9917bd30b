package transcript

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/skeinhq/skein/thread"
)

// While a call waits for its result, later messages are held back, so that a
// result that stands after them still comes to its call. These are the bounds.
const (
	maxHeld      = 64
	maxHeldBytes = 8 << 20
)

// unnamedTool is the author of a result whose tool has no name.
const unnamedTool = "tool"

// draft is a message as its format's reader makes it.
type draft struct {
	message thread.Message
	origin  Origin
	key     string // the whole key
	time    time.Time
	line    int64
	size    int // bytes in the source
}

// pairer brings calls and results together and hands the items on. Its queue is
// in the source's order; only its first block may be waited for.
type pairer struct {
	reader *Reader
	emit   func(Item) error
	queue  []*block
	bytes  int
}

// block is a message with the results of its calls.
type block struct {
	items []Item
	open  []openCall
	size  int
	line  int64
}

// openCall is a call without a result so far.
type openCall struct {
	id   string // in the source, maybe empty
	part thread.Part
	key  string // of its result, be it found or made
}

// add takes the next message of the source.
func (p *pairer) add(d draft) error {
	p.reader.report.kept()
	if d.message.Role == thread.Tool {
		if b, i := p.waiting(d.message.Parts[0].Call); b != nil {
			return p.answer(b, i, d)
		}
		p.reader.report.repaired(d.line, fmt.Sprintf("result without a call %q before it; kept as a note", d.message.Parts[0].Call))
		d = p.note(d, "its call is not in the transcript")
	}
	it, err := item(d)
	if err != nil {
		return err
	}
	b := &block{items: []Item{it}, size: d.size, line: d.line}
	p.open(b, d)
	p.queue = append(p.queue, b)
	p.bytes += d.size
	return p.drain()
}

// open lists the block's calls and gives an id to those that have none.
func (p *pairer) open(b *block, d draft) {
	seen := map[string]int{}
	parts := b.items[0].Entry.Message.Parts
	for i := range parts {
		if parts[i].Type != thread.CallPart {
			continue
		}
		call := openCall{id: parts[i].ID}
		if call.id == "" {
			parts[i].ID = "call-" + strconv.Itoa(len(b.open)+1) + "-" + shortHash(d.key)
			p.reader.report.repaired(d.line, "call without an id; it was given one")
		}
		call.part = parts[i]
		call.key = d.key + ":" + parts[i].ID
		if seen[call.key]++; seen[call.key] > 1 {
			call.key += "~" + strconv.Itoa(seen[call.key])
		}
		b.open = append(b.open, call)
	}
}

// waiting finds the newest message with an open call of that id.
func (p *pairer) waiting(id string) (*block, int) {
	for _, b := range slices.Backward(p.queue) {
		for i, c := range b.open {
			if c.id == id || c.part.ID == id {
				return b, i
			}
		}
	}
	return nil, 0
}

// answer puts a result to its call.
func (p *pairer) answer(b *block, i int, d draft) error {
	call := b.open[i]
	b.open = slices.Delete(b.open, i, i+1)
	result := &d.message.Parts[0]
	result.Call = call.part.ID
	if result.Name == "" {
		result.Name = call.part.Name
	}
	if d.message.Author == "" {
		d.message.Author = result.Name
	}
	if d.message.Author == "" {
		d.message.Author = unnamedTool
	}
	if b != p.queue[len(p.queue)-1] {
		p.reader.report.repaired(d.line, fmt.Sprintf("result of the call on line %d stands after later messages; moved to it", b.line))
	}
	d.key = call.key
	it, err := item(d)
	if err != nil {
		return err
	}
	late, err := item(p.note(d, "it came after an earlier import had closed its call"))
	if err != nil {
		return err
	}
	late.Entry.Key += ":late"
	it.Late = &late.Entry
	b.items = append(b.items, it)
	b.size += d.size
	p.bytes += d.size
	return p.drain()
}

// note turns a result into something that may stand anywhere.
func (p *pairer) note(d draft, why string) draft {
	result := d.message.Parts[0]
	who := result.Name
	if who == "" {
		who = "a tool"
	}
	d.message.Role = thread.User
	if d.message.Author == "" {
		d.message.Author = unnamedTool
	}
	d.message.Parts = append([]thread.Part{thread.Text(fmt.Sprintf("Result of %s (%s):", who, why))}, result.Parts...)
	d.origin.Made = MadeNote
	return d
}

// drain hands on the blocks that wait for nothing, and those that have waited
// long enough.
func (p *pairer) drain() error {
	for len(p.queue) > 0 {
		first := p.queue[0]
		if len(first.open) > 0 && len(p.queue) <= maxHeld && p.bytes <= maxHeldBytes {
			return nil
		}
		if err := p.release(); err != nil {
			return err
		}
	}
	return nil
}

// flush hands on everything.
func (p *pairer) flush() error {
	for len(p.queue) > 0 {
		if err := p.release(); err != nil {
			return err
		}
	}
	return nil
}

// release hands on the first block and closes the calls that stayed open.
func (p *pairer) release() error {
	b := p.queue[0]
	p.queue[0] = nil
	p.queue = p.queue[1:]
	p.bytes -= b.size
	for _, c := range b.open {
		it, err := item(p.missing(b, c))
		if err != nil {
			return err
		}
		it.Made = true
		b.items = append(b.items, it)
		p.reader.report.repaired(b.line, fmt.Sprintf("call %q to %s has no result; an error result was made", c.part.ID, c.part.Name))
	}
	for _, it := range b.items {
		if err := p.emit(it); err != nil {
			return err
		}
	}
	return nil
}

// missing is the result of a call that the source has none of.
func (p *pairer) missing(b *block, c openCall) draft {
	author := c.part.Name
	if author == "" {
		author = unnamedTool
	}
	return draft{
		message: thread.Message{
			Author: author,
			To:     []string{b.items[0].Entry.Message.Author},
			Role:   thread.Tool,
			Parts:  []thread.Part{thread.Result(c.part.ID, c.part.Name, "The transcript has no result of this call.", true)},
		},
		origin: Origin{Format: p.reader.format.name, Made: MadeResult},
		key:    c.key,
		time:   b.items[len(b.items)-1].Entry.Time,
	}
}

// item makes the entry.
func item(d draft) (Item, error) {
	meta, err := d.origin.meta()
	if err != nil {
		return Item{}, &thread.Error{Code: thread.Invalid, Op: "import", Message: fmt.Sprintf("The record on line %d cannot be kept", d.line), Err: err}
	}
	d.message.Meta = meta
	e := thread.Say(d.message)
	e.Key = d.key
	e.Time = d.time
	return Item{Entry: e}, nil
}
