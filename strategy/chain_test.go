package strategy_test

import (
	"context"
	"strings"
	"testing"

	"github.com/skeinhq/skein/strategy"
	"github.com/skeinhq/skein/thread"
)

func noop(name string) strategy.Strategy {
	return strategy.Strategy{Name: name, Compact: func(context.Context, strategy.Input) (strategy.Result, error) { return strategy.Result{}, nil }}
}

func TestChainsAreReadByTheirNames(t *testing.T) {
	for _, c := range []struct {
		names    string
		own      []strategy.Strategy
		want     string
		outlined bool
		fails    string // what the error holds
	}{
		{names: "", want: "outline", outlined: true},
		{names: " ", want: "outline", outlined: true},
		{names: "outline", want: "outline", outlined: true},
		{names: "truncate, summarize", want: "truncate,summarize"},
		{names: "truncate,outline", want: "truncate,outline", outlined: true},
		{names: "sliding", want: "sliding"},
		{names: "mine,sliding", own: []strategy.Strategy{noop("mine")}, want: "mine,sliding"},
		{names: "truncate,outline", own: []strategy.Strategy{strategy.TruncateToolResults(strategy.Truncate{KeepRecent: 1})}, want: "truncate,outline", outlined: true},

		{names: "sumarize", fails: "did you mean summarize? known: outline, summarize, truncate, sliding"},
		{names: "mien", own: []strategy.Strategy{noop("mine")}, fails: "did you mean mine? known: mine, outline"},
		{names: "forget", fails: "known: outline"},
		{names: "truncate,,sliding", fails: `no strategy named ""`},
		{names: "truncate,truncate", fails: "twice"},
		{names: "outline,truncate", fails: "not the last"},
		{names: "summarize,outline", fails: "before the outline"},
		{names: "sliding,outline", fails: "before the outline"},
		{names: "mine,outline", own: []strategy.Strategy{noop("mine")}, fails: "before the outline"},
		{names: "truncate,outline", own: []strategy.Strategy{noop("truncate")}, fails: "before the outline"},
		{names: "outline", own: []strategy.Strategy{noop("outline")}, fails: "cannot be named outline"},
		{names: "empty", own: []strategy.Strategy{{Name: "empty"}}, fails: "has no function"},
		{names: "a b", own: []strategy.Strategy{noop("a b")}, fails: "no name for a strategy"},
	} {
		chain, err := strategy.Parse(c.names, c.own...)
		if c.fails != "" {
			if thread.CodeOf(err) != thread.Configuration || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%q: got %v, want a configuration error with %q", c.names, err, c.fails)
			}
			continue
		}
		if err != nil || chain.String() != c.want || chain.Outlined() != c.outlined {
			t.Errorf("%q: got %s (outlined %v), %v", c.names, chain, chain.Outlined(), err)
		}
	}
}

// FuzzParse holds that whatever is given, a chain that is read is one that can be
// written and read again.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "truncate,outline", "outline,outline", " sliding ,", "Truncate", "té"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, names string) {
		chain, err := strategy.Parse(names)
		if err != nil {
			if thread.CodeOf(err) != thread.Configuration {
				t.Fatalf("%q: %v", names, err)
			}
			return
		}
		again, err := strategy.Parse(chain.String())
		if err != nil || again.String() != chain.String() {
			t.Fatalf("%q was read as %s, and that as %s (%v)", names, chain, again, err)
		}
	})
}
