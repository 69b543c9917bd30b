package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// MaxResult is the most characters of a result that stand in the log; of a
// longer one the head and the tail are kept.
const MaxResult = 100_000

// MaxOutput is the most bytes of a tool's text that are kept at all. A tool that
// may print more keeps its head and its tail by itself.
const MaxOutput = 16 << 20

// Tool is something that a model may call. Run gets an input that fits Schema.
// ReadOnly says that running it twice does no harm: several may run at once,
// and one that was cut off by a crash runs again. Resources says what an input
// reaches, for the permissions; nil: nothing that has a name.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage
	ReadOnly    bool
	Resources   func(input json.RawMessage) (Resources, error)
	Run         func(ctx context.Context, input json.RawMessage) (Output, error)

	check *jsonschema.Resolved
}

// Resources is what a call reaches: files, as slash-separated paths from the
// workspace, and a command line.
type Resources struct {
	Paths   []string
	Command string
}

// Output is what a tool gives: a text, and files beside it, such as an image.
type Output struct {
	Text  string
	Files []File
}

// File is bytes that a tool gives.
type File struct {
	Name      string
	MediaType string
	Data      []byte
}

// Set is tools under one name, as an agent's file may ask for them.
type Set struct {
	Name  string
	Tools []Tool
}

// Make completes a tool whose input is the Go struct In: its schema comes from
// the struct's json and jsonschema tags.
func Make[In any](t Tool, run func(ctx context.Context, in In) (string, error)) (Tool, error) {
	s, err := shapeOf[In]()
	if err != nil {
		return Tool{}, &thread.Error{Code: thread.Configuration, Op: "tool", Message: fmt.Sprintf("the tool %q has no usable input type", t.Name), Err: err}
	}
	t.Schema, t.check = s.schema, s.check
	t.Run = func(ctx context.Context, input json.RawMessage) (Output, error) {
		var in In
		if err := json.Unmarshal(input, &in); err != nil {
			return Output{}, err
		}
		text, err := run(ctx, in)
		return Output{Text: text}, err
	}
	return t, nil
}

// shape is an input type's schema, as told and as checked against.
type shape struct {
	schema json.RawMessage
	check  *jsonschema.Resolved
}

// shapes holds the shape of each input type that was made before: tools are made
// anew for every turn.
var shapes sync.Map // reflect.Type → shape

func shapeOf[In any]() (shape, error) {
	in := reflect.TypeFor[In]()
	if s, ok := shapes.Load(in); ok {
		return s.(shape), nil
	}
	schema, err := jsonschema.For[In](nil)
	if err != nil {
		return shape{}, err
	}
	if schema.Type != "object" {
		return shape{}, fmt.Errorf("it is a %s, and must be a struct", schema.Type)
	}
	var s shape
	if s.schema, err = thread.Encode(schema); err != nil {
		return shape{}, err
	}
	if s.check, err = schema.Resolve(nil); err != nil {
		return shape{}, err
	}
	shapes.Store(in, s)
	return s, nil
}

// Deadline is how long a call may take.
const Deadline = 300 * time.Second

// Grace is how long a tool may take to notice that its context has ended. One
// that has not by then is left behind: nobody waits for it any longer.
const Grace = 2 * time.Second

// Answered is a call's result, and the files that go with it: what the tool gave,
// and the whole text where the result holds only its head and tail.
type Answered struct {
	Result thread.Part
	Files  []File
}

// Answer runs the call that a model made. What goes wrong in the tool, its
// Deadline included, is an error result; only the end of ctx is an error.
func Answer(ctx context.Context, tools []Tool, call thread.Part) (Answered, error) {
	type outcome struct {
		out Output
		err error
	}
	within, cancel := context.WithTimeout(ctx, Deadline)
	defer cancel()
	done := make(chan outcome, 1)
	go func() {
		out, err := run(within, tools, call)
		done <- outcome{out, err}
	}()
	var o outcome
	select {
	case o = <-done:
	case <-within.Done():
		select {
		case o = <-done:
		case <-time.After(Grace):
		}
		o.err = fmt.Errorf("%s did not end within %v and was stopped", call.Name, Deadline)
	}
	if ctx.Err() != nil {
		return Answered{}, ctx.Err()
	}
	text := o.out.Text
	if o.err != nil {
		text = strings.TrimSpace(text + "\n" + o.err.Error())
	}
	return answered(call, text, o.out.Files, o.err != nil), nil
}

// answered makes a result whose text is short enough for the log.
func answered(call thread.Part, text string, files []File, isError bool) Answered {
	text = strings.ToValidUTF8(text, "\uFFFD")
	short := clip(text)
	if len(short) < len(text) {
		whole := File{Name: call.Name + ".txt", MediaType: "text/plain; charset=utf-8", Data: []byte(text[:min(len(text), MaxOutput)])}
		files = append([]File{whole}, files...)
	}
	return Answered{Result: thread.Result(call.ID, call.Name, short, isError), Files: files}
}

// run runs a call. A tool that panics has failed, and takes nothing else down.
func run(ctx context.Context, tools []Tool, call thread.Part) (out Output, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = Output{}, fmt.Errorf("%s failed badly: %v", call.Name, p)
		}
	}()
	t, ok := Find(tools, call.Name)
	if !ok {
		return Output{}, fmt.Errorf("there is no tool named %q", call.Name)
	}
	if err := t.CheckInput(call.Input); err != nil {
		return Output{}, err
	}
	out, err = t.Run(ctx, call.Input)
	var typed *thread.Error
	if errors.As(err, &typed) {
		return out, errors.New(typed.Message)
	}
	return out, err
}

// CheckInput says in words for a model where an input does not fit the schema.
func (t Tool) CheckInput(input json.RawMessage) error {
	var v any
	if err := json.Unmarshal(input, &v); err != nil {
		return fmt.Errorf("the input of %s is not JSON: %w", t.Name, err)
	}
	if t.check == nil {
		return nil
	}
	if err := t.check.Validate(v); err != nil {
		return fmt.Errorf("the input of %s does not fit its schema: %w", t.Name, err)
	}
	return nil
}

type liveKey struct{}

// WithLive gives the tools that run under ctx somebody who hears what they print
// while they run. hear may be called from several goroutines.
func WithLive(ctx context.Context, hear func(text string)) context.Context {
	return context.WithValue(ctx, liveKey{}, hear)
}

// Tell tells whoever listens what a tool has printed so far; it is not part of
// the tool's output.
func Tell(ctx context.Context, text string) {
	if hear, ok := ctx.Value(liveKey{}).(func(string)); ok {
		hear(text)
	}
}

// nameShape is what all providers take as a tool's name.
var nameShape = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// Check says whether these tools can stand beside each other: each has a usable
// name, a schema and a function, and no two share a name.
func Check(tools []Tool) error {
	seen := map[string]bool{}
	for _, t := range tools {
		wrong := ""
		switch {
		case !nameShape.MatchString(t.Name):
			wrong = "its name must be 1 to 64 letters, digits, _ or -"
		case seen[t.Name]:
			wrong = "another tool has its name"
		case t.Run == nil || len(t.Schema) == 0:
			wrong = "it has no function or no schema; tool.Make gives both"
		}
		if wrong != "" {
			return &thread.Error{Code: thread.Configuration, Op: "tool", Message: fmt.Sprintf("the tool %q cannot be used: %s", t.Name, wrong)}
		}
		seen[t.Name] = true
	}
	return nil
}

// Find gives the tool of that name.
func Find(tools []Tool, name string) (Tool, bool) {
	for _, t := range tools {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

// Told gives the tools as a provider is told of them, in order.
func Told(tools []Tool) []model.Tool {
	out := make([]model.Tool, len(tools))
	for i, t := range tools {
		out[i] = model.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema}
	}
	return out
}

// clip keeps the head and the tail of a result that is too long. A result is
// never empty, since providers refuse that.
func clip(s string) string {
	if s == "" {
		return "(no output)"
	}
	n := utf8.RuneCountInString(s)
	if n <= MaxResult {
		return s
	}
	const half = (MaxResult - 64) / 2 // room for the mark
	mark := fmt.Sprintf("\n[… %d characters left out …]\n", n-2*half)
	runes := []rune(s)
	return string(runes[:half]) + mark + string(runes[n-half:])
}
