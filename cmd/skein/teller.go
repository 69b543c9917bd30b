package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/client"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// teller prints what comes in a thread: each message once, an answer as it grows,
// cuts, questions and what was undone. How the link stands goes to standard error.
// At a terminal text is printed as it comes, else by whole lines. As JSON it is an
// object a line: {state}, {message}, {queued}, {cut}, {asked}, {decided}, {undone},
// {failed}, {restored}; answers come whole.
type teller struct {
	*app
	words   *wording
	inPlace bool
	mine    map[string]bool          // the keys of what is not to be printed
	placed  map[int64]bool           // likewise, where it waited in the log
	object  func(*view.Entry) []any  // of a message, as JSON
	hint    func([]view.Asked) error // tells how calls are decided about; nil: nobody here can

	begun  bool
	last   view.View       // what was told of
	told   int64           // the newest message that was printed
	asked  map[string]bool // calls that are known to wait
	queued map[int64]bool
	caller string // who called what gives results
	making making
	state  client.State
}

// making is the answer that is being printed.
type making struct {
	id, author string
	text       string // what came of it
	printed    int    // bytes of it
	open       bool   // a line is begun
}

func newTeller(a *app) *teller {
	return &teller{
		app: a, words: &forEyes, inPlace: isTerminal(a.out), mine: map[string]bool{}, placed: map[int64]bool{}, asked: map[string]bool{}, queued: map[int64]bool{},
		object: func(e *view.Entry) []any { return []any{map[string]any{"message": e}} },
	}
}

// passOver takes a view for known, but for what waits for somebody.
func (t *teller) passOver(v view.View) {
	t.begun, t.last = true, v
	for _, e := range v.Entries {
		t.told = max(t.told, e.Seq)
	}
	for _, q := range v.Docs.Inbox {
		t.queued[q.Seq] = true
	}
}

// update tells what an update brings.
func (t *teller) update(ctx context.Context, from source, u client.Update) error {
	if err := t.link(u); err != nil || u.Batch == nil {
		return err
	}
	v := u.View
	if err := t.past(v); err != nil {
		return err
	}
	if err := t.messages(ctx, from); err != nil {
		return err
	}
	err := errors.Join(t.head(v), t.waiting(v), t.calls(v), t.live(v.Docs.Live), t.failure(v))
	t.begun, t.last = true, v
	return err
}

// link tells how the link stands. Each attempt to come back is no news.
func (t *teller) link(u client.Update) error {
	if u.State == t.state || t.state == client.Offline && u.State == client.CatchingUp {
		return nil
	}
	t.state = u.State
	if t.flags.JSON {
		o := map[string]any{"state": u.State}
		if u.Reason != "" {
			o["reason"] = u.Reason
		}
		return t.lineJSON(o)
	}
	if err := t.pause(); err != nil {
		return err
	}
	why := ""
	if u.Reason != "" {
		why = ": " + safe(thread.OneLine(u.Reason))
	}
	_, err := fmt.Fprintf(t.errs, "skein: %s%s\n", u.State, why)
	return err
}

// past tells what was undone, and of a log that is another one.
func (t *teller) past(v view.View) error {
	switch {
	case !t.begun:
	case v.Thread.Epoch != t.last.Thread.Epoch:
		t.told = 0
		return t.say(map[string]any{"restored": v.Thread}, "(the thread is another one now: it was restored)\n")
	case v.Thread.Branch != t.last.Thread.Branch:
		return t.say(map[string]any{"undone": map[string]any{"length": v.Length}}, "(undone: %s left)\n", counted(v.Length, "message is", "messages are"))
	}
	return nil
}

// perPage is how many messages are fetched at once where some were missed.
const perPage = 200

// messages prints what was not yet, in order. Messages that were missed are fetched
// first; where that fails all that follow wait for the next update.
func (t *teller) messages(ctx context.Context, from source) error {
	hole := t.missed(from)
	for more := true; hole != 0; {
		if !more {
			hole = 0 // that is all that there is
			break
		}
		var err error
		if more, err = from.Fetch(ctx, hole, perPage); err != nil {
			if thread.CodeOf(err) == thread.Storage {
				return err
			}
			break // the link is lost, or the log moves on: the next update tries again
		}
		next := t.missed(from)
		more = more && next != hole
		hole = next
	}
	for _, r := range from.Ranges() {
		if hole != 0 && len(r.Entries) > 0 && r.Entries[0].Seq >= hole {
			return nil
		}
		for i := range r.Entries {
			if e := &r.Entries[i]; e.Seq > t.told {
				t.told = e.Seq
				if err := t.message(e); err != nil {
					return err
				}
			}
		}
	}
	from.Forget() // it is printed
	return nil
}

// missed gives the end of the newest hole in what follows on what was printed, 0
// where there is none. A message can have come and left the window in one batch: then
// the hole lies before all that is held.
func (t *teller) missed(from source) (end int64) {
	if t.told == 0 && (!t.begun || t.last.Length > 0) {
		return 0 // only the newest were asked for
	}
	if all := from.Ranges(); len(all) > 0 && all[0].Before > t.told {
		end = all[0].Before + 1
		if len(all[0].Entries) > 0 {
			end = all[0].Entries[0].Seq
		}
	}
	for _, h := range from.Holes() {
		if h.Before > t.told {
			end = h.Before
		}
	}
	return end
}

func (t *teller) message(e *view.Entry) error {
	mine := e.Key != "" && t.mine[e.Key] || e.Message != nil && t.placed[e.Message.Queued]
	if t.flags.JSON {
		if mine {
			return nil
		}
		for _, o := range t.object(e) {
			if err := t.lineJSON(o); err != nil {
				return err
			}
		}
		return nil
	}
	m := e.Message
	switch {
	case m == nil:
		return t.say(nil, "(a message that is not for you)\n")
	case e.ID == t.making.id:
		if err := t.grown(m.PlainText()); err != nil {
			return err
		}
		t.making = making{}
	case mine:
		return nil
	default:
		if err := t.whole(m); err != nil {
			return err
		}
	}
	if m.Role == thread.Assistant {
		t.caller = m.Author
		if endings[m.Stop] != "" {
			if err := t.printf(t.words.ending, endings[m.Stop]); err != nil {
				return err
			}
		}
	}
	for _, c := range m.Calls() {
		if err := t.printf(t.words.calls, safe(m.Author), safe(c.Name), safe(thread.OneLine(string(c.Input)))); err != nil {
			return err
		}
	}
	if e.More {
		return t.printf("(there is more of it: it is message %d)\n", e.Index)
	}
	return nil
}

// whole prints a message that did not grow here.
func (t *teller) whole(m *thread.Message) error {
	if err := t.end(); err != nil {
		return err
	}
	for _, p := range m.Parts {
		if p.Type == thread.ResultPart {
			if err := t.printf(t.words.gave, safe(p.Name), safe(t.caller), safe(resultLine(&p))); err != nil {
				return err
			}
		}
		if p.Type == thread.BlobPart {
			if err := t.printf("(%s sends %s, %s)\n", safe(m.Author), safe(thread.OneLine(p.Name)), safe(p.MediaType)); err != nil {
				return err
			}
		}
	}
	text := m.PlainText()
	if text == "" || m.Role == thread.Tool {
		return nil
	}
	return t.printf(t.words.says+"%s\n%s", safe(m.Author), safe(text), t.words.ended)
}

// live prints what came of the answer being made.
func (t *teller) live(l *view.Live) error {
	if l == nil || l.ID == "" || l.Text == "" || t.flags.JSON {
		return nil
	}
	if l.ID != t.making.id {
		left := t.making.id != ""
		if err := t.end(); err != nil {
			return err
		}
		t.making = making{id: l.ID, author: l.Author}
		if left {
			if err := t.say(nil, "(that answer was left; it is made again)\n"); err != nil {
				return err
			}
		}
	}
	if strings.HasPrefix(t.making.text, l.Text) {
		return nil // what was saved of it, or it comes again and is no other until now
	}
	if !strings.HasPrefix(l.Text, t.making.text) {
		why := l.Retry
		if why == "" {
			why = "it was begun anew"
		}
		if err := t.again(why); err != nil {
			return err
		}
	}
	t.making.text = l.Text
	n := len(l.Text)
	if !t.inPlace {
		n = strings.LastIndexByte(l.Text, '\n') + 1
	}
	return t.write(n)
}

// again begins the answer again.
func (t *teller) again(why string) error {
	if err := t.end(); err != nil {
		return err
	}
	t.making.text, t.making.printed = "", 0
	return t.printf(t.words.again, safe(thread.OneLine(why)))
}

// grown prints what is missing of an answer that is whole now.
func (t *teller) grown(text string) error {
	if !strings.HasPrefix(text, t.making.text) {
		if err := t.again("it came out differently"); err != nil {
			return err
		}
	}
	t.making.text = text
	return t.end()
}

// write prints the answer up to its byte n.
func (t *teller) write(n int) error {
	m := &t.making
	if n <= m.printed {
		return nil
	}
	piece := m.text[m.printed:n]
	if !m.open {
		m.open = true
		if err := t.printf(t.words.says, safe(m.author)); err != nil {
			return err
		}
	}
	m.printed = n
	return t.printf("%s", safe(piece))
}

// end prints all that came of the answer that is being printed, and ends its line.
func (t *teller) end() error {
	if err := t.write(len(t.making.text)); err != nil {
		return err
	}
	if !t.making.open {
		return nil
	}
	t.making.open = false
	return t.printf("\n%s", t.words.ended)
}

// pause ends the line that is begun at a terminal; the answer goes on below.
func (t *teller) pause() error {
	if !t.making.open || !t.inPlace {
		return nil
	}
	t.making.open = false
	return t.printf("\n")
}

// say prints words of its own, as JSON an object where there is one.
func (t *teller) say(object any, format string, args ...any) error {
	if t.flags.JSON {
		if object == nil {
			return nil
		}
		return t.lineJSON(object)
	}
	return errors.Join(t.pause(), t.printf(format, args...))
}

// head tells of a cut.
func (t *teller) head(v view.View) error {
	if v.Head == nil || !t.begun || t.last.Head != nil && t.last.Head.Seq == v.Head.Seq {
		return nil
	}
	return t.say(map[string]any{"cut": v.Head}, "(cut %d, %s: the model gets whole what is from message %d on)\n", v.Head.Number, safe(v.Head.Strategy), v.Head.Boundary)
}

// waiting tells what was said while a turn runs.
func (t *teller) waiting(v view.View) error {
	for _, q := range v.Docs.Inbox {
		if t.queued[q.Seq] || q.Key != "" && t.mine[q.Key] {
			continue
		}
		t.queued[q.Seq] = true
		if q.Message == nil {
			continue
		}
		when := "after this turn"
		if q.When == thread.WhenNow {
			when = "in this turn"
		}
		if err := t.say(map[string]any{"queued": q}, "(%s, to be heard %s: %s)\n", safe(q.Message.Author), when, safe(thread.OneLine(q.Message.PlainText()))); err != nil {
			return err
		}
	}
	if len(v.Docs.Inbox) == 0 {
		clear(t.queued)
	}
	return nil
}

// calls tells which calls wait for an approval, and which no more.
func (t *teller) calls(v view.View) error {
	now, some := map[string]bool{}, false
	for _, w := range v.Docs.Agent.Waiting {
		now[w.Call] = true
		if t.asked[w.Call] {
			continue
		}
		some = true
		id := ""
		if len(v.Docs.Agent.Waiting) > 1 {
			id = fmt.Sprintf(t.words.named, w.Call)
		}
		if err := t.say(map[string]any{"asked": w}, t.words.asks, safe(w.Agent), safe(id), safe(questionOf(skein.Asked(w)))); err != nil {
			return err
		}
	}
	for call := range t.asked {
		if now[call] {
			continue
		}
		if err := t.say(map[string]any{"decided": map[string]string{"call": call}}, "(%s waits no longer)\n", safe(call)); err != nil {
			return err
		}
	}
	t.asked = now
	if some && t.hint != nil {
		return t.hint(v.Docs.Agent.Waiting)
	}
	return nil
}

// failure tells what a turn has failed with.
func (t *teller) failure(v view.View) error {
	e := v.Docs.Agent.Error
	was := t.last.Docs.Agent
	ended := was.Turn != 0 && v.Docs.Agent.Turn == 0
	if e == nil || !t.begun || !ended && was.Error != nil && was.Error.Message == e.Message {
		return nil
	}
	return t.say(map[string]any{"failed": e}, "(the answer failed: %s)\n", safe(thread.OneLine(e.Error())))
}
