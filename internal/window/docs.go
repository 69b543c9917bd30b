package window

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// What of a view is set as a whole, each with a version.
const (
	titleDoc = iota
	branchDoc
	headDoc
	agentDoc
	backlogDoc
	inboxDoc
	providerDoc
	usageDoc
	docCount
)

// docPaths says where each of them is set.
var docPaths = [docCount]string{
	titleDoc:    `"thread","title"`,
	branchDoc:   `"thread","branch"`,
	headDoc:     `"head"`,
	agentDoc:    `"docs","agent"`,
	backlogDoc:  `"docs","agent","backlog"`,
	inboxDoc:    `"docs","inbox"`,
	providerDoc: `"docs","provider"`,
	usageDoc:    `"docs","usage"`,
}

// docs are a thread's documents with their JSON.
type docs struct {
	version [docCount]int64
	data    [docCount][]byte // nil: there is none

	agent view.Agent
	inbox []view.Queued
	usage view.Usage
	spent usageDocument
	lines thread.Usage
}

// set gives a document its value, and says whether that is a new one.
func (d *docs) set(at int, v any) (changed bool, err error) {
	var data []byte
	if v != nil {
		if data, err = thread.Encode(v); err != nil {
			return false, err
		}
	}
	if d.version[at] > 0 && bytes.Equal(data, d.data[at]) {
		return false, nil
	}
	d.data[at] = data
	d.version[at]++
	return true, nil
}

// setAgent takes who answers. A backlog that has changed alone is told alone.
func (d *docs) setAgent(a view.Agent) (changed bool, err error) {
	for _, list := range []*[]string{&a.Tools, &a.Skills} {
		if *list == nil {
			*list = []string{}
		}
	}
	if a.Waiting == nil {
		a.Waiting = []view.Asked{}
	}
	same := a
	same.Backlog = d.agent.Backlog
	now, err := thread.Encode(same)
	if err != nil {
		return false, err
	}
	alone := d.version[agentDoc] > 0 && bytes.Equal(now, d.data[agentDoc])
	d.agent = a
	backlog, err := d.set(backlogDoc, a.Backlog)
	if err != nil || alone && !backlog {
		return false, err
	}
	if d.data[agentDoc], err = thread.Encode(a); err == nil && !alone {
		d.version[agentDoc]++
	}
	return true, err
}

// setInbox takes what is queued.
func (d *docs) setInbox(queued []view.Queued) (changed bool, err error) {
	d.inbox = queued
	if queued == nil {
		queued = []view.Queued{}
	}
	return d.set(inboxDoc, queued)
}

// queue adds a queued entry; placed takes one off that a message has taken.
func (d *docs) queue(e *thread.Entry) error {
	q, err := view.Wait(e)
	if err != nil {
		return err
	}
	_, err = d.setInbox(append(slices.Clip(d.inbox), q))
	return err
}

func (d *docs) placed(seq int64) error {
	_, err := d.setInbox(slices.DeleteFunc(slices.Clone(d.inbox), func(q view.Queued) bool { return q.Seq == seq }))
	return err
}

// usageDocument is what of a thread's usage document is shown.
type usageDocument struct {
	Requests int64                      `json:"requests"`
	Turns    thread.Usage               `json:"turns"`
	Summary  thread.Usage               `json:"summary"`
	Last     map[string]*thread.Request `json:"last"`
}

// setUsage takes the usage document; none is the zero one.
func (d *docs) setUsage(data json.RawMessage) (changed bool, err error) {
	var u usageDocument
	if len(data) > 0 {
		if err := json.Unmarshal(data, &u); err != nil {
			return false, err
		}
	}
	d.spent = u
	cached := map[string]view.Cached{}
	for agent, r := range u.Last {
		if r != nil {
			cached[agent] = view.Cached{Number: r.Number, Cut: r.Cut, Definition: r.Definition, Hash: r.Hash, Tokens: r.Tokens, Same: r.Same}
		}
	}
	provider, err := d.set(providerDoc, cached)
	if err != nil {
		return false, err
	}
	usage, err := d.setSum()
	return provider || usage, err
}

// setLines takes what lines took.
func (d *docs) setLines(data json.RawMessage) (changed bool, err error) {
	var u thread.Usage
	if len(data) > 0 {
		if err := json.Unmarshal(data, &u); err != nil {
			return false, err
		}
	}
	d.lines = u
	return d.setSum()
}

func (d *docs) setSum() (changed bool, err error) {
	u := view.Usage{Requests: d.spent.Requests, Turns: d.spent.Turns, Summary: d.spent.Summary, Lines: d.lines}
	var all thread.Usage
	for _, one := range []thread.Usage{u.Turns, u.Summary, u.Lines} {
		all.Add(one)
	}
	in := all.Input + all.CacheRead + all.CacheWrite
	u.Tokens, u.Cost = in+all.Output, all.Cost
	if in > 0 {
		u.CacheHit = float64(all.CacheRead) / float64(in)
	}
	d.usage = u
	return d.set(usageDoc, u)
}

// seenBy gives a document's JSON as a viewer may see it. What is of a turn whose
// answer is for some only, such as the calls that wait, is for those only.
func (d *docs) seenBy(at int, viewer string, turn audience) ([]byte, error) {
	switch {
	case viewer == "":
	case at == agentDoc && len(d.agent.Waiting) > 0 && !turn.has(viewer):
		a := d.agent
		a.Waiting = []view.Asked{}
		return thread.Encode(a)
	case at == inboxDoc && slices.ContainsFunc(d.inbox, hiddenFrom(viewer)):
		out := slices.Clone(d.inbox)
		hidden := hiddenFrom(viewer)
		for i, q := range out {
			if hidden(q) {
				out[i] = view.Queued{Seq: q.Seq, ID: q.ID}
			}
		}
		return thread.Encode(out)
	}
	return d.data[at], nil
}

func hiddenFrom(viewer string) func(view.Queued) bool {
	return func(q view.Queued) bool { return q.Message != nil && !q.Message.VisibleTo(viewer) }
}

// headOf gives what shows of a cut.
func headOf(e *thread.Entry) *view.Head {
	if e == nil || e.Cut == nil {
		return nil
	}
	c := e.Cut
	h := &view.Head{Seq: e.Seq, Number: c.Number, Strategy: c.Strategy, Boundary: c.Boundary, Lines: len(c.Outline)}
	for _, k := range c.Kept {
		if k.Message != nil && k.First == 0 {
			h.Summary = view.Clip(k.Message.PlainText(), maxSummary)
			break
		}
	}
	return h
}

// maxSummary is how many bytes of a summary a view shows.
const maxSummary = 4 << 10
