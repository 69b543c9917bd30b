package prompt_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/skeinhq/skein/internal/prompt"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

func TestSinceSaysWhereWholeMessagesStart(t *testing.T) {
	seen := func(weights ...int) []prompt.Seen {
		var out []prompt.Seen
		for _, w := range weights {
			out = append(out, prompt.Seen{Weight: max(w, -w), Legal: w > 0}) // negative: no legal start
		}
		return out
	}
	for name, c := range map[string]struct {
		known prompt.Known
		want  int64 // -1: not known yet
	}{
		"empty":                      {prompt.Known{}, 0},
		"known from the start":       {prompt.Known{Length: 3, Seen: seen(1, 2, 3)}, 0},
		"cut":                        {prompt.Known{Length: 9, Cut: &thread.Cut{Boundary: 7}}, 7},
		"not read yet":               {prompt.Known{Length: 9, First: 9}, -1},
		"half read":                  {prompt.Known{Length: 9, First: 7, Seen: seen(5, 5)}, -1},
		"behind":                     {prompt.Known{Length: 9, First: 5, Seen: seen(5, 5, 5, 5), Behind: true, Low: 10}, 7},
		"behind, illegal start":      {prompt.Known{Length: 9, First: 5, Seen: seen(5, 5, -5, 5), Behind: true, Low: 10}, 6},
		"behind, too little read":    {prompt.Known{Length: 9, First: 7, Seen: seen(5, 4), Behind: true, Low: 10}, -1},
		"behind, not read":           {prompt.Known{Length: 9, First: 9, Behind: true, Low: 10}, -1},
		"behind, less than a window": {prompt.Known{Length: 2, Seen: seen(1, 1), Behind: true, Low: 10}, 0},
		"behind, a gap at the end":   {prompt.Known{Length: 9, First: 5, Seen: seen(50, 50), Behind: true, Low: 10}, -1},
	} {
		got, err := prompt.Since(c.known)
		if c.want < 0 {
			if !errors.Is(err, prompt.ErrNotKnownYet) || thread.CodeOf(err) == "" {
				t.Errorf("%s: got %d, %v", name, got, err)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%s: got %d, %v; want %d", name, got, err, c.want)
		}
	}
}

func TestAPlainWindowNeedsNoLines(t *testing.T) {
	l := newLog().say("ana", "one").reply(thread.Text("two")).say("ana", "three")
	past := l.past()
	past.Boundary, past.Messages = 1, past.Messages[1:]
	p, err := prompt.Build(north("echo"), past, prompt.Turn{Time: l.now}, rulesOf(t, "echo"))
	if err != nil {
		t.Fatal(err)
	}
	if err := prompt.Validate(&p.Request, rulesOf(t, "echo")); err != nil {
		t.Errorf("%v\n%s", err, lines(p.Request.Messages))
	}
}

func TestALaterPluginsFunctionReplacesAnEarlierOnes(t *testing.T) {
	l := newLog().say("ana", "one").say("ana", "two").say("ana", "three").cutAt(2)
	shout := prompt.Plugin{
		Name:    "shout",
		Summary: func(n thread.Node) string { return strings.ToUpper(n.Text) + "\n9+1|<b>" },
		Message: func(dst []model.Message, _ *prompt.Layout, e *thread.Entry) []model.Message {
			return append(dst, model.Message{Role: thread.User, Parts: []thread.Part{thread.Text(strings.ToUpper(e.Message.PlainText()))}})
		},
	}
	whisper := prompt.Plugin{Name: "whisper", Summary: func(n thread.Node) string { return strings.ToLower(n.Text) }}
	build := func(plugins ...prompt.Plugin) string {
		p, err := prompt.Build(north("echo"), l.past(), prompt.Turn{Time: l.now}, rulesOf(t, "echo"), plugins...)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(chatLines(p), "; ") + " | " + p.Sections[3].Messages[1].Parts[0].Text
	}
	if got, want := build(shout), "0+1|ANA: ONE 9+1|&lt;b&gt;; 1+1|ANA: TWO 9+1|&lt;b&gt; | THREE"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := build(shout, whisper), "0+1|ana: one; 1+1|ana: two | THREE"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := prompt.Merge(shout, whisper).Name; got != "whisper" {
		t.Errorf("the merged plugin is %q", got)
	}
}

func TestAPluginLaysOutHistoryAndMakesTheWhole(t *testing.T) {
	l := newLog().say("ana", "one").say("ana", "two")
	newest := prompt.Plugin{History: func(l *prompt.Layout) {
		l.Say(model.Message{Role: thread.User, Parts: []thread.Part{thread.Text("Only the newest:")}})
		l.Whole(&l.Messages[len(l.Messages)-1])
	}}
	counted := 0
	counting := prompt.Plugin{Prompt: func(in prompt.Input, p prompt.Plugin) (*prompt.Prompt, error) {
		counted++
		return prompt.Merge().Prompt(in, p)
	}}
	p, err := prompt.Build(north("echo"), l.past(), prompt.Turn{Time: l.now}, rulesOf(t, "echo"), newest, counting)
	if err != nil {
		t.Fatal(err)
	}
	want := `user {"type":"text","text":"Only the newest:"}
user {"type":"text","text":"ana: two"}
`
	if got := history(p); got != want || counted != 1 {
		t.Errorf("counted %d, got\n%s", counted, got)
	}
}

// TestAPluginsMessagesArePutInOrderAndTheLogStays gives the log's own parts,
// too long and with odd ids.
func TestAPluginsMessagesArePutInOrderAndTheLogStays(t *testing.T) {
	l := newLog().say("ana", "Look").reply(call("odd id", "search", `{}`)).result("odd id", "search", strings.Repeat("long ", 400_000))
	before := show(l.messages)
	raw := prompt.Plugin{Message: func(dst []model.Message, _ *prompt.Layout, e *thread.Entry) []model.Message {
		return append(dst, model.Message{Role: e.Message.Role, Parts: e.Message.Parts})
	}}
	rules := rulesOf(t, "echo")
	p, err := prompt.Build(north("echo"), l.past(), prompt.Turn{Time: l.now}, rules, raw)
	if err != nil {
		t.Fatal(err)
	}
	if err := prompt.Validate(&p.Request, rules); err != nil {
		t.Error(err)
	}
	if show(l.messages) != before {
		t.Error("the log changed")
	}
}
