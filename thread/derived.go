package thread

import (
	"bytes"
	"encoding/json"
)

// The history tools. What they return was said before, elsewhere in the thread.
const (
	ZoomTool   = "zoom"
	ReadTool   = "read"
	SearchTool = "search"
)

// Derived says whether p, a part of m, is a call of a history tool or its result.
// The one only asks for what the thread says already and the other only repeats
// it: what is derived is not indexed, and its result is not summarized. Parts
// that an import brought are other programs', whatever their tools' names are.
func (m *Message) Derived(p Part) bool {
	if p.Type != ResultPart && p.Type != CallPart {
		return false
	}
	switch p.Name {
	case ZoomTool, ReadTool, SearchTool:
		return !m.Imported()
	}
	return false
}

// Imported says whether the message came from a transcript: its Meta then holds
// an object by the name "import".
func (m *Message) Imported() bool {
	if !bytes.Contains(m.Meta, []byte(`"import"`)) {
		return false
	}
	var meta struct {
		Import json.RawMessage `json:"import"`
	}
	return json.Unmarshal(m.Meta, &meta) == nil && len(meta.Import) > 0
}
