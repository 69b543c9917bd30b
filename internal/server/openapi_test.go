package server_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/skeinhq/skein/internal/server"
)

// document is what the tests look at of an OpenAPI document.
type document struct {
	OpenAPI    string                          `json:"openapi"`
	Info       struct{ Title, Version string } `json:"info"`
	Paths      map[string]map[string]operation `json:"paths"`
	Components struct {
		Schemas         map[string]json.RawMessage `json:"schemas"`
		SecuritySchemes map[string]json.RawMessage `json:"securitySchemes"`
	} `json:"components"`
}

type operation struct {
	OperationID string                `json:"operationId"`
	Summary     string                `json:"summary"`
	Tags        []string              `json:"tags"`
	Scope       string                `json:"x-scope"`
	Security    []map[string][]string `json:"security"`
	Parameters  []struct {
		Name, In string
		Required bool
		Schema   json.RawMessage
	} `json:"parameters"`
	RequestBody *struct {
		Content map[string]struct{ Schema json.RawMessage }
	} `json:"requestBody"`
	Responses map[string]struct {
		Description string
		Content     map[string]struct{ Schema json.RawMessage }
	} `json:"responses"`
}

func TestTheDocumentHasEveryPathAndNoOther(t *testing.T) {
	s := open(t)
	var doc document
	s.get("/openapi.json", &doc)
	if !regexp.MustCompile(`^3\.1\.\d+$`).MatchString(doc.OpenAPI) || doc.Info.Title == "" || doc.Info.Version == "" {
		t.Errorf("openapi %q, info %+v", doc.OpenAPI, doc.Info)
	}
	var want, got []string
	for _, r := range server.Routes() {
		want = append(want, r.Method+" "+r.Path+" "+r.ID+" "+r.Scope)
	}
	ids := map[string]bool{}
	for path, item := range doc.Paths {
		for method, op := range item {
			got = append(got, strings.ToUpper(method)+" "+path+" "+op.OperationID+" "+op.Scope)
			checkOperation(t, &doc, strings.ToUpper(method)+" "+path, path, op)
			if ids[op.OperationID] {
				t.Errorf("the operation id %s stands twice", op.OperationID)
			}
			ids[op.OperationID] = true
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		t.Errorf("the document has\n%s\nthe table\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

var inPath = regexp.MustCompile(`\{([^}]+)\}`)

// checkOperation holds an operation to the rules of OpenAPI 3.1.
func checkOperation(t *testing.T, doc *document, name, path string, op operation) {
	t.Helper()
	if len(op.Responses) == 0 || op.Summary == "" || len(op.Tags) == 0 {
		t.Errorf("%s: it says too little: %+v", name, op)
	}
	if (op.Scope == "") != (len(op.Security) == 0) {
		t.Errorf("%s: scope %q, security %v", name, op.Scope, op.Security)
	}
	for _, ways := range op.Security {
		for way := range ways {
			if doc.Components.SecuritySchemes[way] == nil {
				t.Errorf("%s: there is no security scheme %q", name, way)
			}
		}
	}
	var declared []string
	seen := map[string]bool{}
	for _, p := range op.Parameters {
		if seen[p.In+" "+p.Name] {
			t.Errorf("%s: the parameter %s stands twice", name, p.Name)
		}
		seen[p.In+" "+p.Name] = true
		if p.In == "path" {
			declared = append(declared, p.Name)
			if !p.Required {
				t.Errorf("%s: the path's %s is not required", name, p.Name)
			}
		}
		checkSchema(t, doc, name+" "+p.Name, p.Schema)
	}
	var named []string
	for _, m := range inPath.FindAllStringSubmatch(path, -1) {
		named = append(named, m[1])
	}
	slices.Sort(declared)
	slices.Sort(named)
	if !slices.Equal(declared, named) {
		t.Errorf("%s: the path has %v, the parameters %v", name, named, declared)
	}
	if op.RequestBody != nil {
		for kind, c := range op.RequestBody.Content {
			checkSchema(t, doc, name+" body "+kind, c.Schema)
		}
	}
	for status, r := range op.Responses {
		if r.Description == "" || !regexp.MustCompile(`^([1-5]\d\d|default)$`).MatchString(status) {
			t.Errorf("%s: response %s %q", name, status, r.Description)
		}
		for kind, c := range r.Content {
			checkSchema(t, doc, name+" "+status+" "+kind, c.Schema)
			if status == "default" && kind != "application/problem+json" {
				t.Errorf("%s: failures are %s", name, kind)
			}
		}
	}
}

// checkSchema follows every reference and looks at every type.
func checkSchema(t *testing.T, doc *document, name string, schema json.RawMessage) {
	t.Helper()
	if len(schema) == 0 {
		t.Errorf("%s: no schema", name)
		return
	}
	var v any
	if err := json.Unmarshal(schema, &v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	walk(t, doc, name, v)
}

var types = []any{"null", "boolean", "object", "array", "number", "string", "integer"}

func walk(t *testing.T, doc *document, name string, v any) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			walk(t, doc, name, x)
		}
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			if at := strings.TrimPrefix(ref, "#/components/schemas/"); doc.Components.Schemas[at] == nil {
				t.Errorf("%s: %s leads nowhere", name, ref)
			}
		}
		switch kind := v["type"].(type) {
		case string:
			if !slices.Contains(types, any(kind)) {
				t.Errorf("%s: there is no type %q", name, kind)
			}
		case []any:
			for _, k := range kind {
				if !slices.Contains(types, k) {
					t.Errorf("%s: there is no type %q", name, k)
				}
			}
		}
		if _, old := v["nullable"]; old {
			t.Errorf("%s: nullable is of OpenAPI 3.0", name)
		}
		for _, x := range v {
			walk(t, doc, name, x)
		}
	}
}

func TestEverySchemaOfTheDocumentIsSound(t *testing.T) {
	s := open(t)
	var doc document
	s.get("/openapi.json", &doc)
	for name, schema := range doc.Components.Schemas {
		checkSchema(t, &doc, name, schema)
	}
	for name, fields := range map[string][]string{
		"LogEntry": {"seq", "id", "kind", "message"}, "Message": {"author", "parts"}, "Thread": {"id", "epoch", "length"},
		"Problem": {"code", "detail", "hint"}, "ViewPage": {"items", "epoch", "next"}, "NewMessage": {"text", "audience", "reply"},
		"Settings": {"agent", "model", "strategy", "tail", "outline", "zone"}, "Marks": {"low", "high"}, "NewThread": {"settings"}, "ThreadChange": {"settings"},
	} {
		var schema struct{ Properties map[string]json.RawMessage }
		if err := json.Unmarshal(doc.Components.Schemas[name], &schema); err != nil {
			t.Errorf("%s: %v; there are %v", name, err, slices.Sorted(keys(doc.Components.Schemas)))
			continue
		}
		for _, f := range fields {
			if schema.Properties[f] == nil {
				t.Errorf("%s has no %s", name, f)
			}
		}
	}
}

func keys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}
