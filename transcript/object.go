package transcript

import (
	"encoding/json"
	"fmt"
	"maps"
)

// object is a JSON object whose fields are taken out one by one; what is left is
// what nothing had a place for.
type object map[string]json.RawMessage

// parse reads an object.
func parse(data []byte) (object, error) {
	var o object
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, fmt.Errorf("not a JSON object: %w", err)
	}
	if o == nil {
		return nil, fmt.Errorf("not a JSON object: null")
	}
	return o, nil
}

// take moves the field into v. A field of another type than v's stays.
func take[T any](o object, name string, v *T) bool {
	raw, ok := o[name]
	if !ok {
		return false
	}
	var x T
	if json.Unmarshal(raw, &x) != nil {
		return false
	}
	*v = x
	delete(o, name)
	return true
}

// text takes a string; "" where there is none.
func (o object) text(name string) string {
	var s string
	take(o, name, &s)
	return s
}

// inner lets do take from the object in a field; what it leaves stays there.
// false means that the field is no object.
func (o object) inner(name string, do func(object)) bool {
	in, err := parse(o[name])
	if err != nil {
		return false
	}
	do(in)
	delete(o, name)
	if rest := in.rest(); rest != nil {
		o[name] = rest
	}
	return true
}

// raw takes a field as it is; null is none.
func (o object) raw(name string) json.RawMessage {
	raw := o[name]
	delete(o, name)
	if isNull(raw) {
		return nil
	}
	return raw
}

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// rest is what was not taken and is not null, nil where nothing is left. Its
// fields are in alphabetical order, so that it is the same at every reading.
func (o object) rest() json.RawMessage {
	maps.DeleteFunc(o, func(_ string, v json.RawMessage) bool { return isNull(v) })
	if len(o) == 0 {
		return nil
	}
	data, err := json.Marshal(map[string]json.RawMessage(o))
	if err != nil { // cannot be: the values came from valid JSON
		panic(err)
	}
	return data
}
