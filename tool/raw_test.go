package tool_test

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

func echo(_ context.Context, input json.RawMessage) (tool.Output, error) {
	return tool.Output{Text: string(input)}, nil
}

func TestAForeignSchemaIsKeptAndChecked(t *testing.T) {
	schema := `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"n":{"$ref":"#/definitions/node"}},"definitions":{"node":{"type":"object","required":["v"],"properties":{"v":{"type":"integer"},"next":{"$ref":"#/definitions/node"}}}}}`
	raw, err := tool.Raw(tool.Tool{Name: "list", Schema: json.RawMessage(schema)}, echo)
	if err != nil {
		t.Fatal(err)
	}
	if string(raw.Schema) != schema {
		t.Errorf("the schema became %s", raw.Schema)
	}
	for input, fits := range map[string]bool{
		`{}`:                             true,
		`{"n":{"v":1,"next":{"v":2}}}`:   true,
		`{"n":{"v":1,"next":{"v":"2"}}}`: false,
		`{"n":{}}`:                       false,
		`[]`:                             false,
	} {
		got, err := tool.Answer(context.Background(), []tool.Tool{raw}, thread.Call("x", "list", json.RawMessage(input)))
		if err != nil {
			t.Fatal(err)
		}
		if got.Result.IsError == fits {
			t.Errorf("%s: %+v", input, got.Result)
		}
	}
}

func TestForeignSchemasThatCannotBeCheckedAreRefused(t *testing.T) {
	doubling := strings.Builder{}
	doubling.WriteString(`{"type":"object","$ref":"#/$defs/d0","$defs":{`)
	for i := range 40 {
		n := strconv.Itoa(i + 1)
		doubling.WriteString(`"d` + strconv.Itoa(i) + `":{"allOf":[{"$ref":"#/$defs/d` + n + `"},{"$ref":"#/$defs/d` + n + `"}]},`)
	}
	doubling.WriteString(`"d40":true}}`)
	for about, c := range map[string]struct{ schema, want string }{
		"missing":                     {``, "JSON"},
		"no JSON":                     {`{"type":`, "JSON"},
		"no object":                   {`["object"]`, `"type": "object"`},
		"a schema of everything":      {`true`, `"type": "object"`},
		"a string's":                  {`{"type":"string"}`, `"type": "object"`},
		"too long":                    {`{"type":"object","description":"` + strings.Repeat("x", tool.MaxSchema) + `"}`, "bytes long"},
		"itself":                      {`{"type":"object","$ref":"#"}`, "without end"},
		"a loop of references":        {`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"$ref":"#/$defs/y"},"y":{"anyOf":[{"$ref":"#/$defs/x"}]}}}`, "without end"},
		"a loop by escaped pointers":  {`{"type":"object","$defs":{"a/b":{"not":{"$ref":"#/%24defs/a~1b"}}}}`, "without end"},
		"more checks than can be":     {doubling.String(), "against one value"},
		"a reference to elsewhere":    {`{"type":"object","properties":{"a":{"$ref":"https://example.com/s"}}}`, "no JSON pointer"},
		"a reference to nothing":      {`{"type":"object","properties":{"a":{"$ref":"#/allOf/7"}},"allOf":[]}`, "names nothing"},
		"a reference that is dynamic": {`{"type":"object","$dynamicAnchor":"a","properties":{"a":{"$dynamicRef":"#a"}}}`, "$dynamicRef"},
		"an inner base":               {`{"type":"object","properties":{"a":{"$id":"https://example.com/s"}}}`, "$id"},
		"an unknown type":             {`{"type":"object","properties":{"a":{"type":7}}}`, "type"},
		"a pattern that is none":      {`{"type":"object","properties":{"a":{"pattern":"("}}}`, "pattern"},
	} {
		_, err := tool.Raw(tool.Tool{Name: "bad", Schema: json.RawMessage(c.schema)}, echo)
		if thread.CodeOf(err) != thread.Configuration || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", about, err, c.want)
		}
	}
}

// FuzzRaw: no schema and no input brings the check down.
func FuzzRaw(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"type":"array","items":{"$ref":"#"}}}}`, `{"a":[{"a":[]}]}`)
	f.Add(`{"type":"object","allOf":[{"$ref":"#/$defs/x"}],"$defs":{"x":{"not":{"$ref":"#/allOf/0"}}}}`, `{}`)
	f.Add(`{"type":"object","dependencies":{"a":{"$ref":"#"}}}`, `{"a":1}`)
	f.Add(`{"type":"object","dependencies":{"a":["b"]}}`, `{"a":1}`)
	f.Add(`{"type":"object","propertyNames":{"$ref":"#/properties/a"},"properties":{"a":{"propertyNames":{"$ref":"#"}}}}`, `{"a":1}`)
	f.Add(`{"type":"object","unevaluatedProperties":{"$ref":"#"}}`, `{"a":{"b":1}}`)
	f.Fuzz(func(t *testing.T, schema, input string) {
		raw, err := tool.Raw(tool.Tool{Name: "any", Schema: json.RawMessage(schema)}, echo)
		if err != nil {
			return
		}
		if err := raw.CheckInput(json.RawMessage(input)); err != nil && err.Error() == "" {
			t.Error("an error says nothing")
		}
	})
}
