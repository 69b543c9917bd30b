package thread

import (
	"encoding/json"
	"strings"
)

// PartType says what a [Part] is.
type PartType string

// The types of parts.
const (
	TextPart     PartType = "text"
	ThinkingPart PartType = "thinking"
	CallPart     PartType = "toolCall"
	ResultPart   PartType = "toolResult"
	BlobPart     PartType = "blob"
	RawPart      PartType = "raw" // a part of an imported message that Skein does not know
)

// Part is one piece of a message. Which fields are set follows from Type.
type Part struct {
	Type PartType `json:"type"`

	// Text: what was said or thought. For a redacted thinking part it is empty.
	Text string `json:"text,omitempty"`

	// Thinking: the provider's opaque proof, kept and sent back byte for byte,
	// and who made it.
	Signature string `json:"signature,omitempty"`
	Redacted  bool   `json:"redacted,omitempty"`
	Provider  string `json:"provider,omitempty"`
	Model     string `json:"model,omitempty"`

	// Calls and results. A call has ID, Name and Input; a result has the call's
	// ID in Call, the tool's Name, Parts and IsError.
	ID      string          `json:"id,omitempty"`
	Name    string          `json:"name,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"`
	Call    string          `json:"call,omitempty"`
	Parts   []Part          `json:"parts,omitempty"`
	IsError bool            `json:"isError,omitempty"`

	// Blobs: the bytes lie beside the log under their hash (SHA-256, lower-case
	// hex). Name, above, is the file's name.
	Hash      string `json:"hash,omitempty"`
	MediaType string `json:"mediaType,omitempty"`
	Size      int64  `json:"size,omitempty"`

	// Raw: the part as its source gave it. Of thinking, what its provider wants back
	// besides text and signature.
	Raw json.RawMessage `json:"raw,omitempty"`
}

// Text makes a text part.
func Text(s string) Part { return Part{Type: TextPart, Text: s} }

// Call makes a tool call. An empty input becomes the empty object.
func Call(id, name string, input json.RawMessage) Part {
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	return Part{Type: CallPart, ID: id, Name: name, Input: input}
}

// Result makes the text result of the call with the given id.
func Result(call, name, text string, isError bool) Part {
	return Part{Type: ResultPart, Call: call, Name: name, Parts: []Part{Text(text)}, IsError: isError}
}

// Whole gives the place in Parts of the blob that holds a result's whole text,
// where the result itself holds only head and tail: its first blob, a plain text
// named after the tool; -1 where there is none.
func (p *Part) Whole() int {
	if p.Type != ResultPart {
		return -1
	}
	for i := range p.Parts {
		if q := &p.Parts[i]; q.Type == BlobPart {
			if q.Name == p.Name+".txt" && strings.HasPrefix(q.MediaType, "text/plain") {
				return i
			}
			return -1
		}
	}
	return -1
}
