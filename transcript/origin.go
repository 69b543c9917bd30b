package transcript

import (
	"encoding/json"

	"github.com/skeinhq/skein/thread"
)

// Origin is what an imported message's Meta holds under "import".
type Origin struct {
	Format string `json:"format"`
	ID     string `json:"id,omitempty"` // the source's id of the record

	// Made says what the message is where the source has no such message: "result",
	// the error result of a call that had none; "note", a result without its call.
	Made string `json:"made,omitempty"`

	// Error is why the source says that the message ended as it did.
	Error string `json:"error,omitempty"`

	// What has no place in a message: the record's other fields, those of its pieces
	// of content ("0", "1"…) and calls ("call 0"…), and the records before it that
	// are no messages.
	Rest   json.RawMessage            `json:"rest,omitempty"`
	Parts  map[string]json.RawMessage `json:"parts,omitempty"`
	Before []json.RawMessage          `json:"before,omitempty"`
}

// What an import made.
const (
	MadeResult = "result"
	MadeNote   = "note"
)

// partRest keeps the fields left of one piece.
func (o *Origin) partRest(name string, rest json.RawMessage) {
	if rest == nil {
		return
	}
	if o.Parts == nil {
		o.Parts = map[string]json.RawMessage{}
	}
	o.Parts[name] = rest
}

// meta is the message's Meta.
func (o Origin) meta() (json.RawMessage, error) {
	return thread.Encode(struct {
		Import Origin `json:"import"`
	}{o})
}

// OriginOf reads what an import left in a message's Meta; ok is false where the
// message was not imported.
func OriginOf(m *thread.Message) (o Origin, ok bool) {
	if !m.Imported() {
		return Origin{}, false
	}
	var meta struct {
		Import Origin `json:"import"`
	}
	if json.Unmarshal(m.Meta, &meta) != nil {
		return Origin{}, false
	}
	return meta.Import, true
}
