package window

import (
	"slices"
	"strconv"
	"time"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// step is a frame that has been made, for others who are to have the same.
type step struct {
	at     moment
	from   client
	to     client
	viewer string // whose it is; of no account where it is not personal

	personal bool
	seq      int64
	parts    [][]byte
}

// moment is all of a room that a frame may depend on.
type moment struct {
	version, commits, length, tip int64
	docs                          [docCount]int64
	answer                        *answer
	answerAt, toolsAt             int64
	text, thinking                int
}

func (r *Room) moment() moment {
	a := r.answer
	return moment{
		version: r.version, commits: r.commits, length: r.recent.length(), tip: r.thread.Tip, docs: r.docs.version,
		answer: a, answerAt: a.version, toolsAt: a.toolsAt, text: a.text.shown, thinking: a.thinking.shown,
	}
}

// oneWrite is how long a frame may be to be kept in one piece.
const oneWrite = 16 << 10

// step makes the frame of all that is new, where there is anything: the one that was
// made last, where that was for one who has the same. Watches of a thread that
// nobody lags behind in all have the same.
func (w *Watch) step() (f Frame, wait time.Duration, ok bool, err error) {
	r := w.room
	at := r.moment()
	if s := &r.last; w.interval == DefaultInterval && s.at == at && s.from == w.client && (!s.personal || s.viewer == w.viewer) {
		w.client = s.to
		w.n++
		return Frame{N: w.n, Seq: s.seq, Parts: s.parts}, 0, true, nil
	}
	from := w.client
	if f, wait, ok, err = w.change(); !ok {
		return f, wait, ok, err
	}
	if f.Size() <= oneWrite {
		f.Parts = [][]byte{slices.Concat(f.Parts...)}
	}
	r.last = step{at: at, from: from, to: w.client, viewer: w.viewer, personal: r.personal(min(from.low, from.window.End)), seq: f.Seq, parts: f.Parts}
	return f, wait, ok, err
}

// personal says whether what is new since the messages were so many may show
// differently to different viewers.
func (r *Room) personal(since int64) bool {
	if r.answer.seen.private() || slices.ContainsFunc(r.docs.inbox, func(q view.Queued) bool { return q.Message != nil && len(q.Message.Audience) > 0 }) {
		return true
	}
	for i := min(since, r.recent.length()); i < r.recent.length(); i++ {
		if r.recent.at(i).seen.private() {
			return true
		}
	}
	return false
}

// change makes the frame of all that is new, where there is anything. Where that
// cannot be told by operations, since messages before the window are undone too,
// a snapshot is due.
func (w *Watch) change() (f Frame, wait time.Duration, ok bool, err error) {
	r := w.room
	b := builder{own: make([]byte, 0, 256), parts: make([][]byte, 0, 4)}
	win := w.window
	if w.low < win.End {
		undone, within := win.Rewind(w.low)
		if !within {
			w.again = true
			return f, 0, false, nil
		}
		b.splice(win.Len(), undone)
		b.text(`]]`)
	}
	if win.End > r.recent.length() {
		w.again = true // as a client does with what it cannot follow
		return f, 0, false, nil
	}
	from := w.from
	for i := win.End; i < r.recent.length(); i++ {
		at := win.Len()
		leave := win.Append(r.recent.sizes)
		b.splice(at, 0)
		b.shared(w.wire(r.recent.at(i))[1:])
		b.text(`]]`)
		if leave > 0 {
			b.splice(0, leave)
			b.text(`]]`)
			from = r.recent.at(win.First).seq
		}
	}
	before := w.beforeOf(win)
	if err := w.changedDocs(&b); err != nil {
		return f, 0, false, err
	}
	for _, n := range []struct {
		path     string
		was, now int64
	}{{`"from"`, w.from, from}, {`"before"`, w.before, before}, {`"length"`, w.length, win.End}} {
		if n.was != n.now {
			b.setNumber(n.path, n.now)
		}
	}
	if (w.before != 0) != (before != 0) {
		b.op(`["s",["earlier"],` + strconv.FormatBool(before != 0) + `]`)
	}
	if wait, err = w.changedLive(&b); err != nil {
		return f, 0, false, err
	}
	f.Parts = b.end()
	w.window, w.from, w.before, w.length = win, from, before, win.End
	w.low, w.known, w.commits = never, win.End, r.commits
	if wait == 0 {
		w.version = r.version
	}
	if f.Parts == nil {
		return f, wait, false, nil
	}
	w.number(&f)
	return f, 0, true, nil
}

// splice begins the operation that takes entries off the window and puts others
// there; what follows are those, and its end.
func (b *builder) splice(index, remove int64) {
	b.op(`["p",["entries"],`)
	b.number(index)
	b.text(`,`)
	b.number(remove)
	b.text(`,[`)
}

// number gives a frame its number, and its cursor where that moves.
func (w *Watch) number(f *Frame) {
	w.n++
	f.N = w.n
	if tip := w.room.thread.Tip; tip != w.tip {
		w.tip, f.Seq = tip, tip
	}
}

// wire gives a message as the viewer may see it.
func (w *Watch) wire(it *item) []byte {
	if it.seen.has(w.viewer) {
		return it.wire
	}
	return it.stub
}

// beforeOf gives the seq of the message before a window.
func (w *Watch) beforeOf(win view.Window) int64 {
	if win.Len() > 0 {
		return w.room.recent.at(win.First).prev
	}
	return w.room.thread.Last
}

// changedDocs sets what is new of the documents.
func (w *Watch) changedDocs(b *builder) error {
	d := &w.room.docs
	for at := range docCount {
		if w.docs[at] == d.version[at] {
			continue
		}
		w.docs[at] = d.version[at]
		data, err := d.seenBy(at, w.viewer, w.room.answer.seen)
		if err != nil {
			return err
		}
		if data == nil {
			b.op(`["d",[` + docPaths[at] + `]]`)
			continue
		}
		if at == agentDoc {
			w.docs[backlogDoc] = d.version[backlogDoc]
		}
		b.op(`["s",[` + docPaths[at] + `],`)
		b.shared(data)
		b.text(`]`)
	}
	return nil
}

// changedLive tells what is new of the answer being made: its texts by appends,
// not more often than the watch wants them; wait says when they are due.
func (w *Watch) changedLive(b *builder) (wait time.Duration, err error) {
	a := w.room.answer
	lives := a.begun() && a.seen.has(w.viewer)
	if w.liveAt != a.version {
		if !lives && !w.lives {
			w.liveAt = a.version
			return 0, nil
		}
		data, err := w.live()
		if err != nil {
			return 0, err
		}
		b.op(`["s",["docs","live"],`)
		b.shared(data)
		b.text(`]`)
		return 0, nil
	}
	if !lives || w.text == a.text.shown && w.thinking == a.thinking.shown && w.toolsAt == a.toolsAt {
		return 0, nil
	}
	now := time.Now()
	if due := w.interval - now.Sub(w.flowed); due > 0 && w.interval > DefaultInterval {
		return due, nil
	}
	w.flowed = now
	w.text = a.piece(b, 0, w.text)
	w.thinking = a.piece(b, 1, w.thinking)
	if w.toolsAt == a.toolsAt {
		return 0, nil
	}
	step := w.toolsAt == a.toolsAt-1 && len(a.toolsStep) > 0
	w.toolsAt = a.toolsAt
	if step {
		b.op("")
		b.shared(a.toolsStep)
		return 0, nil
	}
	tools, err := thread.Encode(a.shownTools())
	if err != nil {
		return 0, err
	}
	b.op(`["s",["docs","live","tools"],`)
	b.shared(tools)
	b.text(`]`)
	return 0, nil
}

// piece appends what a client that has so many bytes of a text does not have, and
// gives how many it has then. Clients that have the same share the JSON.
func (a *answer) piece(b *builder, which, from int) int {
	f, name := &a.text, "text"
	if which == 1 {
		f, name = &a.thinking, "thinking"
	}
	if from >= f.shown {
		return from
	}
	p := &a.pieces[which]
	if p.data == nil || p.version != a.version || p.from != from || p.to != f.shown {
		*p = piece{version: a.version, from: from, to: f.shown}
		p.data = appendText(nil, from, string(f.whole[from:f.shown]), name, 0)
	}
	b.op("")
	b.shared(p.data)
	return f.shown
}

// live is the JSON of the answer as the viewer may see it, which the client then
// has.
func (w *Watch) live() ([]byte, error) {
	a := w.room.answer
	w.liveAt, w.toolsAt, w.flowed = a.version, a.toolsAt, time.Now()
	w.lives = a.begun() && a.seen.has(w.viewer)
	w.text, w.thinking = len(a.text.whole), len(a.thinking.whole)
	if !w.lives {
		return []byte("null"), nil
	}
	if s := &a.full; s.data == nil || s.version != a.version || s.text != w.text || s.thinking != w.thinking || s.tools != a.toolsAt {
		data, err := thread.Encode(a.value())
		if err != nil {
			return nil, err
		}
		*s = full{version: a.version, tools: a.toolsAt, text: w.text, thinking: w.thinking, data: data}
	}
	return a.full.data, nil
}

// need is the index from which on messages may be in the snapshot that is due.
func (w *Watch) need() int64 {
	length, tail := w.room.recent.length(), int64(w.window.Tail)
	if first := min(w.window.First, w.low); w.resumes && length-first < 2*tail {
		return first
	}
	return max(0, length-tail)
}

// snapshot makes the frame that replaces all that the client has: the newest
// messages, or those that it has missed.
func (w *Watch) snapshot() (Frame, error) {
	r := w.room
	length := r.recent.length()
	var win view.Window
	from, all := w.from, false
	if w.resumes {
		win, all = view.Missed(w.window.Tail, min(w.window.First, w.low), length, r.recent.sizes)
	} else {
		win = view.Newest(w.window.Tail, length, r.recent.sizes)
	}
	if !all {
		from = r.thread.Tip + 1
		if win.Len() > 0 {
			from = r.recent.at(win.First).seq
		}
	}
	// What was undone of the messages that the client may hold must lie after
	// before, where it drops them; else it has to drop everything.
	fresh := w.fresh || w.low < w.known && win.First > w.low
	before := w.beforeOf(win)

	b := builder{own: make([]byte, 0, 1024), parts: make([][]byte, 0, win.Len()+16)}
	b.op(`["r",{"thread":{"id":`)
	b.text(quoted(r.id))
	b.text(`,"title":`)
	b.shared(r.docs.data[titleDoc])
	b.text(`,"epoch":`)
	b.text(quoted(r.thread.Epoch))
	b.text(`,"branch":`)
	b.number(r.thread.Branch)
	b.text(`}`)
	if h := r.docs.data[headDoc]; h != nil {
		b.text(`,"head":`)
		b.shared(h)
	}
	b.text(`,"entries":[`)
	for i := win.First; i < win.End; i++ {
		wire := w.wire(r.recent.at(i))
		if i == win.First {
			wire = wire[1:]
		}
		b.shared(wire)
	}
	b.text(`],"from":`)
	b.number(from)
	b.text(`,"before":`)
	b.number(before)
	b.text(`,"earlier":` + strconv.FormatBool(before != 0) + `,"length":`)
	b.number(length)
	if fresh {
		b.text(`,"fresh":true`)
	}
	live, err := w.live()
	if err != nil {
		return Frame{}, err
	}
	b.text(`,"docs":{"live":`)
	b.shared(live)
	for at, name := range snapshotDocs {
		if name == "" {
			continue
		}
		data, err := r.docs.seenBy(at, w.viewer, r.answer.seen)
		if err != nil {
			return Frame{}, err
		}
		b.text(name)
		b.shared(data)
	}
	b.text(`}}]`)
	w.docs = r.docs.version
	w.window, w.from, w.before, w.length = win, from, before, length
	w.low, w.known, w.commits, w.version = never, win.End, r.commits, r.version
	w.resumes, w.again, w.fresh = false, false, false
	f := Frame{Parts: b.end()}
	w.tip = -1 // a snapshot always says where its cursor stands
	w.number(&f)
	return f, nil
}

// snapshotDocs are the documents that follow the answer being made.
var snapshotDocs = [docCount]string{
	agentDoc:    `,"agent":`,
	inboxDoc:    `,"inbox":`,
	providerDoc: `,"provider":`,
	usageDoc:    `,"usage":`,
}
