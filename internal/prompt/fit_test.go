package prompt_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/internal/prompt"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

func TestAPromptOverTheWindowIsOneErrorThatNamesItsParts(t *testing.T) {
	rules := model.Rules{Family: model.Echo, Window: 1000, MaxOutput: 100, Factor: 2, Thinking: model.ThinkingKept}
	l := newLog().say("ana", strings.Repeat("four", 500))
	_, err := prompt.Build(north("tiny"), l.past(), prompt.Turn{Time: l.now}, rules)
	e, ok := err.(*thread.Error)
	if !ok || e.Code != thread.Limit || e.Hint == "" || !strings.Contains(e.Message, "history 1004") {
		t.Fatalf("got %v", err)
	}
	want := prompt.Overflow{
		Window: 1000, MaxOutput: 100, Tokens: 1112,
		Parts: []prompt.Load{{"tools", 60}, {"instructions", 8}, {"contexts", 0}, {"history", 1004}, {"turn", 40}},
	}
	got := e.Details.(prompt.Overflow)
	want.Body = got.Body
	if diff := cmp.Diff(want, got); diff != "" || got.Body < 2000 {
		t.Error(diff, got.Body)
	}
}

func TestABodyOverItsLimitIsAnError(t *testing.T) {
	rules := model.Rules{Family: model.Echo, MaxBody: 1000, Thinking: model.ThinkingKept}
	l := newLog().say("ana", strings.Repeat("four", 500))
	_, err := prompt.Build(north("tiny"), l.past(), prompt.Turn{Time: l.now}, rules)
	if thread.CodeOf(err) != thread.Limit || !strings.Contains(err.Error(), "body") {
		t.Fatalf("got %v", err)
	}
}

func TestTheSmallerOutputCounts(t *testing.T) {
	def := north("echo")
	for asked, want := range map[int]int{0: 8000, 500: 500, 9000: 8000} {
		def.MaxOutput = asked
		if got := newLog().say("ana", "Hello").build(t, def).Request.MaxOutput; got != want {
			t.Errorf("asked for %d: %d, want %d", asked, got, want)
		}
	}
}

func TestAPastThatIsNotWholeIsRefused(t *testing.T) {
	for name, damage := range map[string]func(*prompt.Past){
		"a line missing":      func(p *prompt.Past) { p.Outline = p.Outline[1:] },
		"the last missing":    func(p *prompt.Past) { p.Outline = p.Outline[:2] },
		"all lines missing":   func(p *prompt.Past) { p.Outline = nil },
		"a message missing":   func(p *prompt.Past) { p.Messages = p.Messages[1:] },
		"the newest missing":  func(p *prompt.Past) { p.Length++ },
		"an entry of a kind":  func(p *prompt.Past) { p.Messages[0].Kind = thread.TurnKind },
		"the boundary beyond": func(p *prompt.Past) { p.Boundary++ },
	} {
		l := newLog()
		for range 5 {
			l.say("ana", "word")
		}
		past := l.cutAt(3).past()
		damage(&past)
		if _, err := prompt.Build(north("echo"), past, prompt.Turn{Time: l.now}, rulesOf(t, "echo")); thread.CodeOf(err) != thread.Storage {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestADefinitionWithABadSchemaIsRefused(t *testing.T) {
	def := north("echo")
	def.Tools = []model.Tool{{Name: "bad", Schema: []byte("{")}}
	if _, err := prompt.Build(def, newLog().say("ana", "Hi").past(), prompt.Turn{}, rulesOf(t, "echo")); thread.CodeOf(err) != thread.Configuration {
		t.Errorf("got %v", err)
	}
	if _, err := prompt.DecodeDefinition([]byte("{")); thread.CodeOf(err) != thread.Storage {
		t.Errorf("got %v", err)
	}
}
