package prompt

import (
	"strings"

	"github.com/skeinhq/skein/thread"
)

// blobPlace names a blob: the message it is in and how many stand before it
// there.
type blobPlace struct {
	index int64
	n     int
}

func (p blobPlace) before(o blobPlace) bool {
	return p.index < o.index || p.index == o.index && p.n < o.n
}

// blob gives the part as it is sent, or the text that refers to it: where the
// model does not take it, and where it is too old for the request's size.
func (l *Layout) blob(p *thread.Part, at blobPlace) thread.Part {
	if !l.takes(p) || at.before(l.sharp) {
		return thread.Text(l.reference(kindOf(p.MediaType), p.Name, at.index))
	}
	return thread.Part{Type: thread.BlobPart, Hash: p.Hash, MediaType: p.MediaType, Name: valid(p.Name), Size: p.Size}
}

// takes says whether a blob may be sent at all: the model takes it, and it does
// not fill the window by itself.
func (l *Layout) takes(p *thread.Part) bool {
	return l.Rules.Takes(*p) && !over(int64(p.Weigh()), l.blobRoom())
}

// blobRoom is how many tokens of blobs a prompt may hold: half of what the
// window leaves for it.
func (l *Layout) blobRoom() int64 { return int64(l.Rules.Room() / 2) }

// kindOf is what a reference calls a blob.
func kindOf(mediaType string) string {
	if strings.HasPrefix(mediaType, "image/") {
		return "image"
	}
	if mediaType == "" {
		return "file"
	}
	return name(mediaType)
}

func countBlobs(parts []thread.Part) int {
	n := 0
	for i := range parts {
		if parts[i].Type == thread.BlobPart {
			n++
		}
	}
	return n
}

// encoded is how many bytes a blob takes in a request: base64 makes four of
// three.
func encoded(size int64) int64 { return (size + 2) / 3 * 4 }

// sharpFrom finds the first blob that is still sent. It walks the messages as
// they came: whenever the body, the count of images or the weight of all blobs
// goes over its limit, the oldest blobs become references until half of it is
// free again. So the place
// follows from the messages alone, and moves in batches.
func (l *Layout) sharpFrom(messages []thread.Entry, fixed int64) blobPlace {
	if !anyBlobs(messages) {
		return blobPlace{}
	}
	w := blobWalk{l: l, body: fixed}
	for i := range messages {
		if m := messages[i].Message; m != nil && m.VisibleTo(l.Definition.Agent) {
			w.message(m, messages[i].Index)
		}
		w.settle()
	}
	return w.sharp
}

func anyBlobs(messages []thread.Entry) bool {
	for i := range messages {
		m := messages[i].Message
		if m == nil {
			continue
		}
		for j := range m.Parts {
			if m.Parts[j].Type == thread.BlobPart || countBlobs(m.Parts[j].Parts) > 0 {
				return true
			}
		}
	}
	return false
}

// blobWalk is the state of sharpFrom: the blobs sent as of a message.
type blobWalk struct {
	l      *Layout
	body   int64
	images int64
	weight int64
	sent   []sentBlob
	sharp  blobPlace
	own    bool // the message is the agent's own, whose blobs are always references
}

type sentBlob struct {
	at     blobPlace
	bytes  int64
	images int64 // 1 for an image
	weight int64
}

func (w *blobWalk) message(m *thread.Message, index int64) {
	n := 0
	w.own = w.l.own(m)
	for i := range m.Parts {
		w.part(&m.Parts[i], index, &n)
		whole := m.Parts[i].Whole()
		for j := range m.Parts[i].Parts {
			if j == whole { // it is never sent
				n++
				continue
			}
			w.part(&m.Parts[i].Parts[j], index, &n)
		}
	}
}

func (w *blobWalk) part(p *thread.Part, index int64, n *int) {
	w.body += int64(len(p.Text) + len(p.Input))
	if p.Type != thread.BlobPart {
		return
	}
	if !w.own && w.l.takes(p) {
		b := sentBlob{at: blobPlace{index, *n}, bytes: encoded(p.Size), weight: int64(p.Weigh())}
		if strings.HasPrefix(p.MediaType, "image/") {
			b.images = 1
		}
		w.sent = append(w.sent, b)
		w.add(b, 1)
	}
	*n++
}

// add counts a blob in, or out with the sign -1.
func (w *blobWalk) add(b sentBlob, sign int64) {
	w.body += sign * b.bytes
	w.images += sign * b.images
	w.weight += sign * b.weight
}

// settle turns the oldest blobs into references where there are too many.
func (w *blobWalk) settle() {
	if !w.over(1) {
		return
	}
	for len(w.sent) > 0 && w.over(2) {
		b := w.sent[0]
		w.sent = w.sent[1:]
		w.add(b, -1)
		w.sharp = blobPlace{b.at.index, b.at.n + 1}
	}
}

// over says whether what is sent goes over a share of the limits: 1 is all of
// them, 2 half.
func (w *blobWalk) over(share int64) bool {
	r := w.l.Rules
	return over(w.body, r.MaxBody/share) || over(w.images, (int64(r.Images.Max)+share-1)/share) || over(w.weight, w.l.blobRoom()/share)
}

// over says whether v goes over a limit; 0 is none.
func over(v, limit int64) bool { return limit > 0 && v > limit }
