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
	if !l.Rules.Takes(*p) || at.before(l.sharp) {
		return thread.Text(l.reference(kindOf(p.MediaType), p.Name, at.index))
	}
	return thread.Part{Type: thread.BlobPart, Hash: p.Hash, MediaType: p.MediaType, Name: valid(p.Name), Size: p.Size}
}

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
// they came: whenever the body or the count of images goes over its limit, the
// oldest blobs become references until half of it is free again. So the place
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
	images int
	sent   []sentBlob
	sharp  blobPlace
	own    bool // the message is the agent's own, whose blobs are always references
}

type sentBlob struct {
	at    blobPlace
	bytes int64
	image bool
}

func (w *blobWalk) message(m *thread.Message, index int64) {
	n := 0
	w.own = w.l.own(m)
	for i := range m.Parts {
		w.part(&m.Parts[i], index, &n)
		for j := range m.Parts[i].Parts {
			w.part(&m.Parts[i].Parts[j], index, &n)
		}
	}
}

func (w *blobWalk) part(p *thread.Part, index int64, n *int) {
	w.body += int64(len(p.Text) + len(p.Input))
	if p.Type != thread.BlobPart {
		return
	}
	if !w.own && w.l.Rules.Takes(*p) {
		s := sentBlob{at: blobPlace{index, *n}, bytes: encoded(p.Size), image: strings.HasPrefix(p.MediaType, "image/")}
		w.sent = append(w.sent, s)
		w.body += s.bytes
		w.images += count(s.image)
	}
	*n++
}

// settle turns the oldest blobs into references where there are too many.
func (w *blobWalk) settle() {
	maxBody, maxImages := w.l.Rules.MaxBody, w.l.Rules.Images.Max
	if !over(w.body, maxBody) && !over(int64(w.images), int64(maxImages)) {
		return
	}
	for len(w.sent) > 0 && (over(w.body, maxBody/2) || over(int64(w.images), int64(maxImages+1)/2)) {
		s := w.sent[0]
		w.sent = w.sent[1:]
		w.body -= s.bytes
		w.images -= count(s.image)
		w.sharp = blobPlace{s.at.index, s.at.n + 1}
	}
}

// over says whether v goes over a limit; 0 is none.
func over(v, limit int64) bool { return limit > 0 && v > limit }

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
