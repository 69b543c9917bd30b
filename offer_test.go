package skein_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/guide"
	"github.com/skeinhq/skein/store/memory"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

func TestAnOfferTellsToolsPermissionsAndSkills(t *testing.T) {
	ctx := context.Background()
	var ran atomic.Int64
	inspect, write := writes(t, "inspect", &ran), writes(t, "write", &ran)
	write.Resources = func(json.RawMessage) (tool.Resources, error) { return tool.Resources{Paths: []string{"a"}}, nil }
	north := skein.Agent{Name: "north", Tools: []string{"write", "inspect"}, Permissions: tool.Permissions{
		Rules: []tool.Rule{
			{Decision: tool.Deny, Tools: []string{"write"}, Paths: []string{"secrets/**"}},
			{Decision: tool.Ask, Tools: []string{"wr*"}},
			{Decision: tool.Deny, Tools: []string{"write"}},
		},
		Default: tool.Ask, ReadOnly: tool.Allow,
	}}
	e := engine(t, skein.Config{
		Store: memory.New(memory.Options{}), Agents: []skein.Agent{north}, Model: "scripted", Models: script(t, `{"calls":[{"name":"load_skill","input":{"name":"review"}}]}`, "loaded"),
		Sets: func(context.Context) []tool.Set {
			return []tool.Set{{Name: "both", Tools: []tool.Tool{write, inspect}}}
		},
		Skills: guide.Skills{{Name: "review", Description: "How we review.", Instructions: guide.Text("Look."), Tools: []tool.Tool{inspect}}},
	})
	th := open(t, e, "main", skein.Settings{})
	o, err := th.Offer(ctx)
	if err != nil {
		t.Fatal(err)
	}
	find := func(name string) skein.OfferedTool {
		i := slices.IndexFunc(o.Tools, func(x skein.OfferedTool) bool { return x.Name == name })
		if i < 0 || slices.ContainsFunc(o.Tools[i+1:], func(x skein.OfferedTool) bool { return x.Name == name }) {
			t.Fatalf("%s should be offered once: %+v", name, o.Tools)
		}
		return o.Tools[i]
	}
	for _, want := range []skein.OfferedTool{
		{Name: "zoom", ReadOnly: true, Decision: tool.Allow},
		{Name: "write", Decision: tool.Ask, Others: []string{"deny"}},
		{Name: "inspect", Decision: tool.Ask, Locked: "review"}, // though the agent names it, too
		{Name: "load_skill", ReadOnly: true, Decision: tool.Allow},
	} {
		got := find(want.Name)
		if got.Description == "" || !json.Valid(got.Schema) {
			t.Errorf("%s does not say what it is, or takes: %+v", want.Name, got)
		}
		got.Description, got.Schema = "", nil
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", want.Name, d)
		}
	}
	ask(t, th, "load it")
	if o, err = th.Offer(ctx); err != nil {
		t.Fatal(err)
	}
	if find("inspect").Locked != "" || len(o.Skills) != 1 || !o.Skills[0].Loaded {
		t.Errorf("loaded, it should be open: %+v", o)
	}
}

func TestAnAnswerMadeAgainIsHeardPieceByPiece(t *testing.T) {
	e := engine(t, skein.Config{Store: memory.New(memory.Options{}), Model: "scripted", Models: script(t, "first try", "second try")})
	th := open(t, e, "main", skein.Settings{})
	again := func() (string, error) {
		var text strings.Builder
		for p, err := range th.StreamRegenerate(context.Background(), "ana") {
			if err != nil {
				return "", err
			}
			text.WriteString(p.Text)
		}
		return text.String(), nil
	}
	if _, err := again(); thread.CodeOf(err) != thread.NotFound {
		t.Fatalf("there is nothing to make again: %v", err)
	}
	ask(t, th, "try")
	if got, err := again(); err != nil || got != "second try" {
		t.Fatalf("heard %q, %v", got, err)
	}
	if state, err := th.State(context.Background()); err != nil || state.Length != 2 {
		t.Fatalf("%+v, %v", state, err)
	}
}
