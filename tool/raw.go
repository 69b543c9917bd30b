package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/skeinhq/skein/thread"
)

// MaxSchema is the most bytes of a foreign schema.
const MaxSchema = 64 << 10

// maxChecks is the most subschemas that a foreign schema may hold against one
// and the same value.
const maxChecks = 10_000

// Raw completes a tool whose input is told by t.Schema itself, as of a tool that
// somebody else describes: the schema stays as it is, and inputs are checked
// against it. It must be an object's, at most MaxSchema bytes long, refer to
// nothing but its own parts (by JSON pointers), and end: a schema that leads back
// to itself for one and the same value is refused. Errors: configuration.
func Raw(t Tool, run func(ctx context.Context, input json.RawMessage) (Output, error)) (Tool, error) {
	check, err := resolve(t.Schema)
	if err != nil {
		return Tool{}, &thread.Error{Code: thread.Configuration, Op: "tool", Message: fmt.Sprintf("the tool %q has no usable schema", t.Name), Err: err}
	}
	t.check, t.Run = check, run
	return t, nil
}

func resolve(raw json.RawMessage) (*jsonschema.Resolved, error) {
	if len(raw) > MaxSchema {
		return nil, fmt.Errorf("it is %d bytes long, at most %d", len(raw), MaxSchema)
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return nil, err
	}
	if m, ok := value.(map[string]any); !ok || m["type"] != "object" {
		return nil, errors.New(`it must be an object with "type": "object"`)
	}
	if err := ends(value); err != nil {
		return nil, err
	}
	schema := &jsonschema.Schema{}
	if err := json.NewDecoder(bytes.NewReader(raw)).Decode(schema); err != nil {
		return nil, err
	}
	return schema.Resolve(nil)
}

// ends refuses a schema whose check might never end. A check descends in the
// schema and in the value at once, except at the keywords that hold another
// schema against the same value: those must lead to an end by themselves.
func ends(schema any) error {
	return (&descent{root: schema, checks: map[uintptr]int{}}).everywhere(schema)
}

// descent follows the keywords that stay at the same value. checks holds how many
// subschemas each object of the schema leads to; underWay while that is found out.
type descent struct {
	root   any
	checks map[uintptr]int
}

const underWay = -1

// sameValue are the keywords whose schemas are held against the same value, by
// how they hold them.
var sameValue = struct{ one, list, named []string }{
	one:   []string{"not", "if", "then", "else"},
	list:  []string{"allOf", "anyOf", "oneOf"},
	named: []string{"dependentSchemas", "dependencies"},
}

// everywhere starts at every object, since a check may come to any of them.
func (d *descent) everywhere(node any) error {
	switch node := node.(type) {
	case []any:
		for _, v := range node {
			if err := d.everywhere(v); err != nil {
				return err
			}
		}
	case map[string]any:
		if _, ok := node["$id"].(string); ok && !same(node, d.root) {
			return errors.New("a part of it has an $id")
		}
		if _, err := d.count(node); err != nil {
			return err
		}
		for _, v := range node {
			if err := d.everywhere(v); err != nil {
				return err
			}
		}
	}
	return nil
}

// count gives how many subschemas a node leads to, itself included.
func (d *descent) count(node any) (int, error) {
	m, ok := node.(map[string]any)
	if !ok {
		return 1, nil
	}
	key := reflect.ValueOf(m).Pointer()
	switch n := d.checks[key]; n {
	case 0:
	case underWay:
		return 0, errors.New("it leads back to itself without end")
	default:
		return n, nil
	}
	d.checks[key] = underWay
	next, err := d.next(m)
	if err != nil {
		return 0, err
	}
	total := 1
	for _, sub := range next {
		n, err := d.count(sub)
		if err != nil {
			return 0, err
		}
		if total += n; total > maxChecks {
			return 0, fmt.Errorf("it holds more than %d schemas against one value", maxChecks)
		}
	}
	d.checks[key] = total
	return total, nil
}

func (d *descent) next(m map[string]any) (next []any, err error) {
	for _, word := range sameValue.one {
		next = append(next, m[word])
	}
	for _, word := range sameValue.list {
		list, _ := m[word].([]any)
		next = append(next, list...)
	}
	for _, word := range sameValue.named {
		named, _ := m[word].(map[string]any)
		for _, sub := range named {
			next = append(next, sub)
		}
	}
	for _, word := range []string{"$dynamicRef", "$recursiveRef"} {
		if _, ok := m[word].(string); ok {
			return nil, fmt.Errorf("it uses %s", word)
		}
	}
	if ref, ok := m["$ref"].(string); ok {
		sub, err := d.target(ref)
		if err != nil {
			return nil, err
		}
		next = append(next, sub)
	}
	return next, nil
}

// target gives what a reference within the schema names.
func (d *descent) target(ref string) (any, error) {
	pointer, local := strings.CutPrefix(ref, "#")
	pointer, err := url.PathUnescape(pointer)
	if err != nil || !local || (pointer != "" && pointer[0] != '/') {
		return nil, fmt.Errorf("its $ref %.60q is no JSON pointer into itself", ref)
	}
	node := d.root
	if pointer == "" {
		return node, nil
	}
	for _, name := range strings.Split(pointer[1:], "/") {
		name = strings.NewReplacer("~0", "~", "~1", "/").Replace(name)
		switch at := node.(type) {
		case map[string]any:
			node = at[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(at) {
				return nil, fmt.Errorf("its $ref %.60q names nothing", ref)
			}
			node = at[i]
		default:
			return nil, fmt.Errorf("its $ref %.60q names nothing", ref)
		}
	}
	return node, nil
}

func same(m map[string]any, other any) bool {
	o, ok := other.(map[string]any)
	return ok && reflect.ValueOf(m).Pointer() == reflect.ValueOf(o).Pointer()
}
