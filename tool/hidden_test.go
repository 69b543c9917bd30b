package tool_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/skeinhq/skein/tool"
)

// TestWhatIsHiddenIsWhatCouldNotBeCalledFor: of each path alone.
func TestWhatIsHiddenIsWhatCouldNotBeCalledFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		decision := rapid.SampledFrom([]tool.Decision{"", tool.Allow, tool.Deny, tool.Ask})
		p := tool.Permissions{
			Rules:   rapid.SliceOfN(someRule, 0, 6).Draw(t, "rules"),
			Default: decision.Draw(t, "default"), ReadOnly: decision.Draw(t, "read-only"),
		}
		if rapid.IntRange(0, 9).Draw(t, "fault") == 0 {
			p.Rules = append(p.Rules, tool.Rule{Decision: rapid.SampledFrom([]tool.Decision{"perhaps", tool.Allow}).Draw(t, "bad"), Paths: []string{"a", "["}})
		}
		look := reaching("two")
		look.ReadOnly = rapid.Bool().Draw(t, "reads")
		decideOf := func(path string) tool.Verdict {
			v, err := p.Decide(look, []byte(`{"Paths":["`+path+`"]}`))
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		call := decideOf(".")
		var allowed tool.Allowed
		if rapid.Bool().Draw(t, "always") {
			allowed = allowed.With(look, tool.Resources{})
		}
		hidden := p.Hides(look, call, allowed)
		for _, path := range []string{".", "a", "b", "a/a", "a/b", "b/b/b", "c", "./a//b", "x"} {
			v := decideOf(path)
			answered := allowed != nil || call.Decision == tool.Ask && call.Rule == v.Rule
			want := v.Decision == tool.Deny || v.Decision == tool.Ask && !answered
			if got := hidden != nil && hidden(path); got != want {
				t.Fatalf("%+v: %q is hidden: %v, and of itself %+v", p, path, got, v)
			}
		}
	})
}

func TestAFolderHidesWhatIsInIt(t *testing.T) {
	c := tool.Caller{Hidden: func(p string) bool { return p == "a/b" || p == "x" }}
	for _, each := range []struct {
		from, path, by string
		is             bool
	}{
		{".", "x", "x", true}, {".", "x/y/z", "x", true}, {".", "xy", "xy", false}, {".", "a/b/c", "a/b", true}, {"a", "a/b/c", "a/b", true}, {"a", "a/c", "a/c", false},
		{"a/b", "a/b/c", "a/b/c", false}, {"x", "x", "", false}, {".", "a", "a", false},
	} {
		if by, is := c.Hides(each.from, each.path); is != each.is || is && by != each.by {
			t.Errorf("from %s, %s: %q, %v", each.from, each.path, by, is)
		}
	}
	if _, is := (tool.Caller{}).Hides(".", "x"); is {
		t.Error("something is hidden from nobody in particular")
	}
}
