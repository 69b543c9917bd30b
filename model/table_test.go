package model_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

func rules(t *testing.T, table *model.Table, name string) model.Rules {
	t.Helper()
	r, err := table.Rules(name)
	if err != nil {
		t.Fatalf("rules of %s: %v", name, err)
	}
	return r
}

func TestTheLongestPatternThatMatchesCounts(t *testing.T) {
	for name, pattern := range map[string]string{
		"echo":                       "echo*",
		"scripted":                   "scripted*",
		"claude-sonnet-4-5":          "claude-sonnet-4-5*",
		"claude-sonnet-4-5-20250929": "claude-sonnet-4-5*",
		"claude-fable-5-2":           "claude-fable-5-2*",
		"claude-fable-5":             "claude-fable-5*",
		"claude-some-day":            "claude-*",
		"gpt-5":                      "gpt-5",
		"gpt-5-mini":                 "gpt-5-mini*",
		"gpt-5-unheard-of":           "gpt-*",
		"gpt-4o-mini-2024-07-18":     "gpt-4o-mini*",
		"anthropic/claude-opus-5-5":  "claude-opus-5-5*",
	} {
		if got := rules(t, model.BuiltIn(), name).Model; got != pattern {
			t.Errorf("%s is ruled by %q, want %q", name, got, pattern)
		}
	}
}

func TestAnUnknownModelIsAnErrorWithAHint(t *testing.T) {
	_, err := model.BuiltIn().Rules("llama-of-mine")
	if thread.CodeOf(err) != thread.Configuration || !strings.Contains(err.Error(), "llama-of-mine") {
		t.Fatalf("got %v", err)
	}
}

func TestEveryBuiltInModelHasWhatAPromptNeeds(t *testing.T) {
	for _, name := range []string{"echo", "scripted", "claude-fable-5-2", "claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-haiku-4-5", "gpt-6.2-astra", "gpt-6.2-sol", "gpt-6-luna", "gpt-4.1"} {
		r := rules(t, model.BuiltIn(), name)
		if r.Window == 0 || r.MaxOutput == 0 || r.MaxBody == 0 || r.Factor == 0 || len(r.Images.Types) == 0 || r.Room() <= 0 || r.Room() >= r.Window {
			t.Errorf("%s lacks something: %+v, room %d", name, r, r.Room())
		}
		if paid := r.Family == model.Anthropic || r.Family == model.OpenAI; paid != (r.Prices.Input > 0) {
			t.Errorf("%s has the prices %+v", name, r.Prices)
		}
		if marked := r.Family != model.OpenAI; marked != (r.MaxMarks == 4) {
			t.Errorf("%s takes %d marks", name, r.MaxMarks)
		}
	}
}

func TestAUsersTableGoesBeforeTheBuiltInOne(t *testing.T) {
	table, err := model.BuiltIn().Extend([]byte(`{
		"families": {"openai": {"maxBody": 1000}},
		"models": [
			{"model": "mine*", "family": "openai", "window": 32000, "maxOutput": 4000, "prices": {"input": 1, "output": 2, "cacheRead": 0.5, "cacheWrite": 1}},
			{"model": "echo*", "family": "echo", "window": 500, "maxOutput": 100}
		]}`))
	if err != nil {
		t.Fatal(err)
	}
	mine := rules(t, table, "mine-7b")
	if mine.Window != 32000 || mine.MaxBody != 1000 || mine.Thinking != model.ThinkingDropped || !mine.CacheKey {
		t.Errorf("mine: %+v", mine)
	}
	if got := rules(t, table, "echo").Window; got != 500 {
		t.Errorf("echo's window is %d, want 500", got)
	}
	if diff := cmp.Diff(rules(t, model.BuiltIn(), "gpt-5"), rules(t, table, "gpt-5")); diff != "" {
		t.Errorf("an entry made before changed:\n%s", diff)
	}
	if got := rules(t, model.BuiltIn(), "echo").Window; got == 500 {
		t.Error("extending a table changed the built-in one")
	}
}

func TestABadTableIsRefused(t *testing.T) {
	for name, data := range map[string]string{
		"no JSON":            `models: []`,
		"unknown field":      `{"models": [{"model": "a", "family": "echo", "windw": 1}]}`,
		"unknown family":     `{"models": [{"model": "a", "family": "acme"}]}`,
		"no family":          `{"models": [{"model": "a"}]}`,
		"no model":           `{"models": [{"family": "echo"}]}`,
		"star in the middle": `{"models": [{"model": "a*b", "family": "echo"}]}`,
		"negative":           `{"models": [{"model": "a", "family": "echo", "window": -1}]}`,
		"no room":            `{"models": [{"model": "a", "family": "echo", "window": 10, "maxOutput": 10}]}`,
		"thinking":           `{"models": [{"model": "a", "family": "echo", "thinking": "maybe"}]}`,
		"price":              `{"models": [{"model": "a", "family": "echo", "prices": {"input": -1}}]}`,
		"family's field":     `{"families": {"echo": {"windw": 1}}}`,
		"family's name":      `{"families": {"acme": {}}}`,
		"two documents":      `{"models": []} {"models": []}`,
	} {
		if _, err := model.BuiltIn().Extend([]byte(data)); thread.CodeOf(err) != thread.Configuration {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestCostCountsEachKindOfTokenAtItsPrice(t *testing.T) {
	r := model.Rules{Prices: model.Prices{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}}
	got := r.Cost(thread.Usage{Input: 1_000_000, Output: 200_000, Reasoning: 100_000, CacheRead: 2_000_000, CacheWrite: 400_000})
	if want := 3 + 3 + 0.6 + 1.5; got < want-1e-9 || got > want+1e-9 {
		t.Errorf("cost is %v, want %v", got, want)
	}
}

func TestRoomLeavesTheAnswerAndAReserve(t *testing.T) {
	for _, c := range []struct {
		rules model.Rules
		want  int
	}{
		{model.Rules{Window: 200_000, MaxOutput: 64_000, Factor: 1}, 126_000},
		{model.Rules{Window: 200_000, MaxOutput: 64_000, Factor: 1.4}, 90_000},
		{model.Rules{Window: 200_000, MaxOutput: 64_000}, 126_000},
		{model.Rules{}, 0},
	} {
		if got := c.rules.Room(); got != c.want {
			t.Errorf("the room of %+v is %d, want %d", c.rules, got, c.want)
		}
	}
}

func TestTakesLooksAtTypeAndSize(t *testing.T) {
	r := rules(t, model.BuiltIn(), "claude-opus-5-5")
	for _, c := range []struct {
		part thread.Part
		want bool
	}{
		{thread.Part{Type: thread.BlobPart, MediaType: "image/png", Size: 1000}, true},
		{thread.Part{Type: thread.BlobPart, MediaType: "image/png", Size: 50 << 20}, false},
		{thread.Part{Type: thread.BlobPart, MediaType: "image/tiff", Size: 1000}, false},
		{thread.Part{Type: thread.BlobPart, MediaType: "application/pdf", Size: 1000}, true},
		{thread.Part{Type: thread.BlobPart, MediaType: "video/mp4", Size: 1000}, false},
	} {
		if got := r.Takes(c.part); got != c.want {
			t.Errorf("%s of %d bytes: %v, want %v", c.part.MediaType, c.part.Size, got, c.want)
		}
	}
}
