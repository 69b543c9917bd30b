package modeltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// problem is why a request is refused, before it has the shape of a vendor's
// error.
type problem struct {
	status  int
	kind    string // the vendor's type of error; empty: that of a bad request
	code    string // OpenAI's code
	param   string // OpenAI's parameter: where it is
	message string
}

// words are how a vendor says what is wrong with a body, and how it names a
// place in it.
type words struct {
	child   func(at, name string) string
	item    func(at string, i int) string
	missing func(at string) problem
	extra   func(at string) problem
	wrong   func(at, want string) problem
}

// reader reads one body. Only the first problem is kept, so that reading can go
// on without a check at each step.
type reader struct {
	words
	first *problem
}

func (r *reader) fail(p problem) {
	if r.first == nil {
		r.first = &p
	}
}

// value is a JSON value and its place. A value without raw is absent.
type value struct {
	r   *reader
	at  string
	raw json.RawMessage
}

func (v value) present() bool { return len(v.raw) > 0 && !bytes.Equal(v.raw, []byte("null")) }

// isText says whether the value is a string.
func (v value) isText() bool { return v.present() && v.raw[0] == '"' }

// decode reads the value into to, which is named by want in an error.
func (v value) decode(to any, want string) {
	if !v.present() {
		v.r.fail(v.r.missing(v.at))
		return
	}
	if json.Unmarshal(v.raw, to) != nil {
		v.r.fail(v.r.wrong(v.at, want))
	}
}

func (v value) text() string {
	var s string
	v.decode(&s, "string")
	return s
}

func (v value) number() int {
	var n int
	v.decode(&n, "integer")
	return n
}

func (v value) boolean() bool {
	var b bool
	if v.present() {
		v.decode(&b, "boolean")
	}
	return b
}

// optional is the text of a value that may be absent.
func (v value) optional() string {
	if !v.present() {
		return ""
	}
	return v.text()
}

// oneOf is a text that must be one of those.
func (v value) oneOf(allowed ...string) string {
	s := v.text()
	if v.r.first == nil && !slices.Contains(allowed, s) {
		v.r.fail(v.r.wrong(v.at, "'"+joinOr(allowed)+"'"))
	}
	return s
}

func joinOr(names []string) string {
	var b bytes.Buffer
	for i, n := range names {
		switch {
		case i == 0:
		case i == len(names)-1:
			b.WriteString("' or '")
		default:
			b.WriteString("', '")
		}
		b.WriteString(n)
	}
	return b.String()
}

// list gives the items of an array.
func (v value) list() []value {
	var raws []json.RawMessage
	v.decode(&raws, "array")
	items := make([]value, len(raws))
	for i, raw := range raws {
		items[i] = value{v.r, v.r.item(v.at, i), raw}
	}
	return items
}

// object is the fields of a JSON object.
type object struct {
	value
	fields map[string]json.RawMessage
}

// object reads an object that may have the known fields and no others.
func (v value) object(known ...string) object {
	o := v.open()
	o.only(known...)
	return o
}

// open reads an object whose fields are not known yet.
func (v value) open() object {
	o := object{value: v}
	v.decode(&o.fields, "object")
	return o
}

func (o object) only(known ...string) {
	for _, name := range fieldNames(o.raw) {
		if !slices.Contains(known, name) {
			o.r.fail(o.r.extra(o.r.child(o.at, name)))
			return
		}
	}
}

func (o object) get(name string) value {
	return value{o.r, o.r.child(o.at, name), o.fields[name]}
}

// fieldNames gives an object's names in the order they are written.
func fieldNames(raw json.RawMessage) []string {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var names []string
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return names
		}
		name, _ := t.(string)
		names = append(names, name)
		var skipped json.RawMessage
		if dec.Decode(&skipped) != nil {
			return names
		}
	}
	return names
}

// canonical writes a JSON value without spaces and without needless escapes, in
// the order and with the numbers it was written with: two requests that mean the
// same have the same bytes, whatever library wrote them.
func canonical(raw json.RawMessage) []byte {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return raw
	}
	var clean bytes.Buffer
	text := out.Bytes()
	for i := 0; i < len(text); {
		if text[i] != '"' {
			clean.WriteByte(text[i])
			i++
			continue
		}
		end := i + 1
		for text[end] != '"' {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		var s string
		if json.Unmarshal(text[i:end+1], &s) != nil {
			return raw
		}
		clean.Write(encode(s))
		i = end + 1
	}
	return clean.Bytes()
}

// encode writes a value of ours as JSON. It cannot fail: what is written here
// holds texts, numbers and JSON that was read before.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("modeltest: %v", err))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// fields is a JSON object that keeps the order of its fields: names and values
// by turns.
type fields []any

// MarshalJSON writes the fields in order.
func (f fields) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i := 0; i < len(f); i += 2 {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, encode(f[i])...)
		b = append(b, ':')
		b = append(b, encode(f[i+1])...)
	}
	return append(b, '}'), nil
}

func count(n int) string { return strconv.Itoa(n) }
