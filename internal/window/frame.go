package window

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// builder puts the operations of a frame together: small pieces of its own
// between shared ones.
type builder struct {
	parts [][]byte
	own   []byte
	start int // of what of own is not in parts yet
	ops   int
}

// text adds bytes of its own.
func (b *builder) text(s string) { b.own = append(b.own, s...) }

func (b *builder) number(n int64) { b.own = strconv.AppendInt(b.own, n, 10) }

// shared adds bytes that others have too. Short ones are copied: one write less.
func (b *builder) shared(data []byte) {
	if len(data) < 64 {
		b.own = append(b.own, data...)
		return
	}
	b.flush()
	b.parts = append(b.parts, data)
}

func (b *builder) flush() {
	if b.start < len(b.own) {
		b.parts = append(b.parts, b.own[b.start:len(b.own):len(b.own)])
		b.start = len(b.own)
	}
}

// op begins an operation.
func (b *builder) op(head string) {
	if b.ops++; b.ops == 1 {
		b.own = append(b.own, '[')
	} else {
		b.own = append(b.own, ',')
	}
	b.own = append(b.own, head...)
}

func (b *builder) setNumber(path string, n int64) {
	b.op(`["s",[`)
	b.text(path)
	b.text(`],`)
	b.number(n)
	b.text(`]`)
}

// end gives the parts; none where there is no operation.
func (b *builder) end() [][]byte {
	if b.ops == 0 {
		return nil
	}
	b.own = append(b.own, ']')
	b.flush()
	return b.parts
}

// appendText adds to data the operation that appends a text at a field of the
// answer, or to the output of its i-th tool.
func appendText(data []byte, offset int, text, field string, i int) []byte {
	if len(data) > 0 {
		data = append(data, ',')
	}
	data = append(data, `["a",["docs","live","`...)
	data = append(data, field...)
	if field == "tools" {
		data = append(data, `","`...)
		data = strconv.AppendInt(data, int64(i), 10)
		data = append(data, `","output`...)
	}
	data = append(data, `"],`...)
	data = strconv.AppendInt(data, int64(offset), 10)
	data = append(data, ',')
	data = appendString(data, text)
	return append(data, ']')
}

// appendString writes a valid text as a JSON string. Only what must be is
// escaped.
func appendString[S string | []byte](data []byte, text S) []byte {
	data = append(data, '"')
	from := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			continue
		}
		if c >= utf8.RuneSelf {
			continue // valid UTF-8 stands for itself
		}
		data = append(data, text[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			data = append(data, '\\', c)
		case '\n':
			data = append(data, `\n`...)
		case '\r':
			data = append(data, `\r`...)
		case '\t':
			data = append(data, `\t`...)
		default:
			const hex = "0123456789abcdef"
			data = append(data, `\u00`...)
			data = append(data, hex[c>>4], hex[c&15])
		}
	}
	data = append(data, text[from:]...)
	return append(data, '"')
}

// quoted is a text as a JSON string.
func quoted(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		return `""` // a string always has JSON
	}
	return string(data)
}
