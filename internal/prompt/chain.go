package prompt

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"hash"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// chain is the rolling hash of a prompt, cache marks aside: tools, system
// blocks, then each message. Its sum after a message names everything up to and
// with it, so two prompts start the same exactly as far as their sums agree.
type chain struct {
	digest hash.Hash
	buf    []byte
	whole  [sha256.Size]byte
}

// sum is the hash of a prompt or of its start.
type sum [16]byte

func (s sum) String() string { return hex.EncodeToString(s[:]) }

// parseSum reads a stored hash; ok is false where it is none of ours.
func parseSum(text string) (s sum, ok bool) {
	if len(text) != hex.EncodedLen(len(s)) {
		return sum{}, false
	}
	_, err := hex.Decode(s[:], []byte(text))
	return s, err == nil
}

func newChain() *chain { return &chain{digest: sha256.New(), buf: make([]byte, 0, 4096)} }

// clone gives a chain that goes on from here without moving c.
func (c *chain) clone() *chain {
	d, err := c.digest.(hash.Cloner).Clone()
	if err != nil {
		panic("prompt: SHA-256 cannot be cloned: " + err.Error()) // it keeps no state that could fail
	}
	return &chain{digest: d, buf: make([]byte, 0, 4096)}
}

func (c *chain) tools(tools []model.Tool) { c.write(appendTools(c.buf[:0], tools)) }

func (c *chain) system(blocks []string) {
	b := appendCount(c.buf[:0], 's', len(blocks))
	for _, s := range blocks {
		b = appendText(b, s)
	}
	c.write(b)
}

func (c *chain) message(m *model.Message) { c.write(appendMessage(c.buf[:0], m)) }

func (c *chain) write(b []byte) {
	c.digest.Write(b)
	c.buf = b
}

func (c *chain) sum() sum {
	c.digest.Sum(c.whole[:0])
	return sum(c.whole[:len(sum{})])
}

// The canonical bytes: a letter for each thing, then its fields in order, each
// text after its length.

func appendCount(b []byte, letter byte, n int) []byte {
	return binary.AppendUvarint(append(b, letter), uint64(n))
}

func appendText[T string | []byte](b []byte, s T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendTools(b []byte, tools []model.Tool) []byte {
	b = appendCount(b, 't', len(tools))
	for _, t := range tools {
		b = appendText(b, t.Name)
		b = appendText(b, t.Description)
		b = appendText(b, []byte(t.Schema))
	}
	return b
}

func appendMessage(b []byte, m *model.Message) []byte {
	b = appendCount(b, 'm', len(m.Parts))
	b = appendText(b, string(m.Role))
	for i := range m.Parts {
		b = appendPart(b, &m.Parts[i])
	}
	return b
}

func appendPart(b []byte, p *thread.Part) []byte {
	switch p.Type {
	case thread.TextPart:
		return appendText(append(b, 'T'), p.Text)
	case thread.ThinkingPart:
		b = appendText(append(b, 'K'), p.Text)
		b = appendText(b, p.Signature)
		b = appendBool(b, p.Redacted)
		b = appendText(b, p.Provider)
		return appendText(b, p.Model)
	case thread.CallPart:
		b = appendText(append(b, 'C'), p.ID)
		b = appendText(b, p.Name)
		return appendText(b, []byte(p.Input))
	case thread.ResultPart:
		b = appendCount(b, 'R', len(p.Parts))
		b = appendText(b, p.Call)
		b = appendText(b, p.Name)
		b = appendBool(b, p.IsError)
		for i := range p.Parts {
			b = appendPart(b, &p.Parts[i])
		}
		return b
	case thread.BlobPart:
		b = appendText(append(b, 'B'), p.Hash)
		b = appendText(b, p.MediaType)
		b = appendText(b, p.Name)
		return binary.AppendVarint(b, p.Size)
	default:
		return appendText(append(b, 'X'), []byte(p.Raw))
	}
}

// blockHash is eight characters for a block: the letter of its kind, then 42
// bits of the hash of its bytes.
func blockHash(kind byte, data []byte) string {
	whole := sha256.Sum256(data)
	var text [8]byte
	base64.RawURLEncoding.Encode(text[:], whole[:6])
	return string(kind) + string(text[:7])
}
