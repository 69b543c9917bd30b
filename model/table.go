package model

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/skeinhq/skein/thread"
)

// The families of providers. A family says which shape of request is valid.
const (
	Anthropic = "anthropic"
	OpenAI    = "openai"
	Echo      = "echo"
	Scripted  = "scripted"
)

// Families lists the families.
var Families = []string{Anthropic, OpenAI, Echo, Scripted}

// ThinkingRule says what of a model's thinking is sent back to it. Whatever the
// rule, thinking goes only to the model that made it, and, but for a running
// call of a model that keeps it, only if the prompt before it is the one it was
// made with.
type ThinkingRule string

// The thinking rules.
const (
	// ThinkingNone: the model does not think. No effort is asked of it.
	ThinkingNone ThinkingRule = "none"

	// ThinkingDropped: thinking whose prompt has changed is left out, in a running
	// call too. A provider that checks this itself is told to drop what does not
	// fit, never to fail.
	ThinkingDropped ThinkingRule = "dropped"

	// ThinkingKept: the last message with calls keeps its thinking whatever
	// changed before it. Where it has none, no effort is asked.
	ThinkingKept ThinkingRule = "kept"
)

// Effort says how a model of the family anthropic is asked to think. Others take
// a level as it is.
type Effort string

// The ways.
const (
	// EffortBudget: with a budget of tokens.
	EffortBudget Effort = "budget"

	// EffortAdaptive: with a level; the model decides how long.
	EffortAdaptive Effort = "adaptive"

	// EffortBound: as adaptive. The model always thinks, and its thinking is bound
	// to what stands before it: the provider looks whether that has changed.
	EffortBound Effort = "bound"
)

// Rules is what is known of a model: what it takes, what it costs, and what a
// prompt for it must look like. Zero limits mean that there is none.
type Rules struct {
	Model     string       `json:"model"`     // a name, or a pattern that ends in *
	Family    string       `json:"family"`    // anthropic, openai, echo or scripted
	Window    int          `json:"window"`    // tokens, prompt and answer together
	MaxOutput int          `json:"maxOutput"` // tokens of the largest answer
	Prices    Prices       `json:"prices"`
	Factor    float64      `json:"factor"` // the model's tokens per token of thread.Weight
	Thinking  ThinkingRule `json:"thinking"`
	Effort    Effort       `json:"effort,omitempty"`
	Images    Images       `json:"images"`
	Files     []string     `json:"files"`    // media types taken besides images
	MaxBody   int64        `json:"maxBody"`  // bytes of a request's body
	MaxMarks  int          `json:"maxMarks"` // cache marks of a request; 0: it takes none
	MinCache  int          `json:"minCache"` // tokens below which nothing is cached
	CacheKey  bool         `json:"cacheKey"` // it takes a key that routes to the same cache
}

// Prices are US dollars for a million tokens, those for a short prompt where a
// provider has several, and a cache write's for its shortest life. All zero:
// they are not known.
type Prices struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cacheRead"`
	CacheWrite float64 `json:"cacheWrite"`
}

// Images says which images a model takes. Max is the count up to which they may
// be of any size: Anthropic takes more than 20 only if they are small.
type Images struct {
	Types []string `json:"types"` // media types; none: it takes no images
	Max   int      `json:"max"`   // images of a request
	Bytes int64    `json:"bytes"` // of one image, before encoding
}

// Cost gives the US dollars for what was used.
func (r Rules) Cost(u thread.Usage) float64 {
	p := r.Prices
	return (float64(u.Input)*p.Input + float64(u.Output)*p.Output +
		float64(u.CacheRead)*p.CacheRead + float64(u.CacheWrite)*p.CacheWrite) / 1e6
}

// Scale gives the model's tokens for an estimate of thread.Weight.
func (r Rules) Scale(weight int) int {
	if r.Factor == 0 {
		return weight
	}
	return int(float64(weight) * r.Factor)
}

// Room is what the model's window leaves for a prompt, as an estimate of
// thread.Weight: the window without the largest answer and a reserve of 5 %. It
// is 0 where the window is not limited.
func (r Rules) Room() int {
	if r.Window == 0 {
		return 0
	}
	room := float64(max(0, r.Window-r.MaxOutput-r.Window/20))
	if r.Factor > 0 {
		room /= r.Factor
	}
	return max(1, int(room))
}

// Takes says whether a part with these bytes may stand in a request; else it is
// shown as a reference.
func (r Rules) Takes(blob thread.Part) bool {
	if slices.Contains(r.Images.Types, blob.MediaType) {
		return r.Images.Bytes == 0 || blob.Size <= r.Images.Bytes
	}
	return slices.Contains(r.Files, blob.MediaType)
}

// Table finds a model's rules by its name. It never changes: extending it gives
// another one.
type Table struct {
	families map[string]json.RawMessage
	entries  []Rules // the last that matches best counts
}

//go:embed table.json
var tableData []byte

// All gives the table's entries, those that go before others first.
func (t *Table) All() []Rules {
	out := slices.Clone(t.entries)
	slices.Reverse(out)
	return out
}

// BuiltIn is the table that comes with Skein. It is read once.
func BuiltIn() *Table { return builtIn() }

var builtIn = sync.OnceValue(func() *Table {
	t, err := new(Table).Extend(tableData)
	if err != nil {
		panic(fmt.Sprintf("model: the built-in table: %v", err))
	}
	return t
})

// tableFile is the form of a table's file: what the models of a family have in
// common, and the models.
type tableFile struct {
	Families map[string]json.RawMessage `json:"families"`
	Models   []json.RawMessage          `json:"models"`
}

// Extend gives a table with the entries of a file put before t's. The file's
// form is
//
//	{"models": [{"model": "my-model*", "family": "openai", "window": 32000, "maxOutput": 4000}]}
//
// A field that an entry leaves out has its family's value, which the file may
// change under "families". Errors have the code configuration and name the
// entry.
func (t *Table) Extend(data []byte) (*Table, error) {
	var file tableFile
	if err := strict(data, &file); err != nil {
		return nil, badTable("the model table cannot be read", err)
	}
	out := &Table{families: make(map[string]json.RawMessage), entries: slices.Clone(t.entries)}
	for name, f := range t.families {
		out.families[name] = f
	}
	for name, f := range file.Families {
		if !slices.Contains(Families, name) {
			return nil, badTable(fmt.Sprintf("the model table names the family %q", name), nil)
		}
		merged, err := overlay(out.families[name], f)
		if err != nil {
			return nil, badTable(fmt.Sprintf("the model table's family %q cannot be read", name), err)
		}
		out.families[name] = merged
	}
	for i, raw := range file.Models {
		r, err := out.entry(raw)
		if err != nil {
			return nil, badTable(fmt.Sprintf("entry %d of the model table is wrong", i+1), err)
		}
		out.entries = append(out.entries, r)
	}
	return out, nil
}

// overlay puts the fields of a family's change over those it had.
func overlay(old, change json.RawMessage) (json.RawMessage, error) {
	var r Rules
	if old != nil {
		if err := strict(old, &r); err != nil {
			return nil, err
		}
	}
	if err := strict(change, &r); err != nil {
		return nil, err
	}
	return thread.Encode(r)
}

// entry reads one model over what its family has.
func (t *Table) entry(raw json.RawMessage) (Rules, error) {
	var named struct {
		Family string `json:"family"`
	}
	if err := json.Unmarshal(raw, &named); err != nil {
		return Rules{}, err
	}
	if !slices.Contains(Families, named.Family) {
		return Rules{}, fmt.Errorf("the family is %q, not one of %s", named.Family, strings.Join(Families, ", "))
	}
	var r Rules
	if f := t.families[named.Family]; f != nil {
		if err := strict(f, &r); err != nil {
			return Rules{}, err
		}
	}
	if err := strict(raw, &r); err != nil {
		return Rules{}, err
	}
	return r, r.check()
}

// check says what is wrong with an entry.
func (r Rules) check() error {
	star := strings.IndexByte(r.Model, '*')
	switch {
	case r.Model == "":
		return fmt.Errorf("it names no model")
	case star >= 0 && star != len(r.Model)-1:
		return fmt.Errorf("the pattern %q has a * that is not its last character", r.Model)
	case r.Window < 0 || r.MaxOutput < 0 || r.MaxBody < 0 || r.MaxMarks < 0 || r.MinCache < 0 || r.Factor < 0 || r.Images.Max < 0 || r.Images.Bytes < 0:
		return fmt.Errorf("%s has a negative limit", r.Model)
	case r.Window > 0 && r.MaxOutput >= r.Window:
		return fmt.Errorf("%s has an output of %d that leaves nothing of its window of %d", r.Model, r.MaxOutput, r.Window)
	}
	for _, p := range []float64{r.Prices.Input, r.Prices.Output, r.Prices.CacheRead, r.Prices.CacheWrite} {
		if p < 0 {
			return fmt.Errorf("%s has a negative price", r.Model)
		}
	}
	switch r.Effort {
	case "", EffortBudget, EffortAdaptive, EffortBound:
	default:
		return fmt.Errorf("%s has the effort %q, not budget, adaptive or bound", r.Model, r.Effort)
	}
	switch r.Thinking {
	case ThinkingNone, ThinkingDropped, ThinkingKept:
		return nil
	}
	return fmt.Errorf("%s has the thinking rule %q, not none, dropped or kept", r.Model, r.Thinking)
}

// Rules finds the rules of a model: those of the longest name or pattern that
// matches, an exact name before any pattern, a later entry before an earlier
// one. A provider's name and a slash before the model's are left aside where
// nothing matches with them. It fails with configuration where none matches.
func (t *Table) Rules(name string) (Rules, error) {
	best, found := -1, -1
	for i, r := range t.entries {
		if n := match(r.Model, name); n >= 0 && n >= found {
			best, found = i, n
		}
	}
	if best >= 0 {
		return t.entries[best], nil
	}
	if _, bare, ok := strings.Cut(name, "/"); ok && bare != "" {
		return t.Rules(bare)
	}
	return Rules{}, &thread.Error{
		Code: thread.Configuration, Op: "model",
		Message: fmt.Sprintf("the model %q is not in the model table", name),
		Hint:    "add it to a table of your own",
	}
}

// match says how many characters of the pattern match the name; -1: it does
// not.
func match(pattern, name string) int {
	prefix, isPattern := strings.CutSuffix(pattern, "*")
	switch {
	case !isPattern && pattern == name:
		return len(name) + 1
	case isPattern && strings.HasPrefix(name, prefix):
		return len(prefix)
	}
	return -1
}

func strict(data []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return err
	}
	if _, err := dec.Token(); err != io.EOF {
		return errors.New("something follows the document")
	}
	return nil
}

func badTable(message string, err error) error {
	return &thread.Error{Code: thread.Configuration, Op: "model", Message: message, Err: err}
}
