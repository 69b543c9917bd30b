package recall

import (
	"context"
	"slices"
	"strings"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// WholeBytes is the most bytes of whole texts that one message is opened with;
// results beyond it show as the log holds them.
const WholeBytes = 16 << 20

// opened is the message with its results whole: where one holds only head and
// tail, and a blob beside them the whole text, that stands in place of both.
func opened(ctx context.Context, st store.Store, t *thread.Thread, m *thread.Message) (*thread.Message, error) {
	room := int64(WholeBytes)
	out := m
	for i := range m.Parts {
		at := m.Parts[i].Whole()
		if at < 0 || m.Parts[i].Parts[at].Size > room {
			continue
		}
		_, data, err := st.Blob(ctx, t.Key, m.Parts[i].Parts[at].Hash)
		if thread.CodeOf(err) == thread.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		whole, ok := inPlace(m.Parts[i], at, string(data))
		if !ok {
			continue
		}
		room -= int64(len(data))
		if out == m { // the message is the log's own
			c := *m
			c.Parts = slices.Clone(m.Parts)
			out = &c
		}
		out.Parts[i] = whole
	}
	return out, nil
}

// headBytes is how far a whole text must begin as the result does. A file that a
// tool gave under the same name does not, and is none.
const headBytes = 1000

// inPlace is the result with the whole text in place of the text and the blob; ok
// is false where the two have nothing to do with each other.
func inPlace(result thread.Part, at int, whole string) (out thread.Part, ok bool) {
	text := slices.IndexFunc(result.Parts, func(p thread.Part) bool { return p.Type == thread.TextPart })
	if text < 0 {
		return result, false
	}
	head := result.Parts[text].Text
	if !strings.HasPrefix(whole, head[:min(len(head), headBytes)]) {
		return result, false
	}
	parts := slices.Clone(result.Parts)
	parts[text].Text = whole
	result.Parts = slices.Delete(parts, at, at+1)
	return result, true
}
