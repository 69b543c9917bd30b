package skein_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// narrow is a model whose provider counts more tokens than we do: it refuses
// prompts above a weight of its own. It answers with the words it is given, the
// first answers with calls.
type narrow struct {
	most    int
	answers []thread.Part
	asked   []int // the weights of the requests
}

func (m *narrow) Stream(_ context.Context, r *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		m.asked = append(m.asked, r.Weigh())
		if r.Weigh() > m.most {
			yield(model.Event{}, model.Refused("acme", r.Model, model.Failure{Status: 400}, "prompt is too long"))
			return
		}
		answer := thread.Text("ok")
		if len(m.answers) > 0 {
			answer, m.answers = m.answers[0], m.answers[1:]
		}
		yield(model.Event{Type: model.Done, Parts: []thread.Part{answer}, Stop: thread.StopEnd}, nil)
	}
}

// full is a thread with sixty messages of about 300 tokens, none cut, and a
// model that takes at most so many.
func full(t *testing.T, most int, answers ...thread.Part) (*skein.Thread, *narrow) {
	t.Helper()
	m := &narrow{most: most, answers: answers}
	e := engine(t, skein.Config{Models: func(string) (model.Model, error) { return m, nil }})
	th := open(t, e, "main", skein.Settings{})
	for i := range 60 {
		if _, err := th.Say(context.Background(), "ana", fmt.Sprintf("note %d: %s", i, strings.Repeat("the venue is the harbour hall ", 40))); err != nil {
			t.Fatal(err)
		}
	}
	return th, m
}

func cuts(t *testing.T, th *skein.Thread) (all []thread.Cut) {
	t.Helper()
	for e, err := range th.Entries(context.Background(), store.EntriesQuery{Kinds: []thread.Kind{thread.CutKind}}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, *e.Cut)
	}
	return all
}

func TestAPromptThatTheProviderFindsTooLargeIsCutOnceAndSentAgain(t *testing.T) {
	th, m := full(t, 16_000)
	if got := ask(t, th, "and now?"); got != "ok" {
		t.Errorf("the answer is %q", got)
	}
	made := cuts(t, th)
	if len(m.asked) != 2 || len(made) != 1 || made[0].Reason != "overflow" || made[0].After.Tail > made[0].Before.Tail/2 {
		t.Errorf("requests of %v tokens, cuts %+v", m.asked, made)
	}
	state, err := th.State(context.Background())
	if err != nil || state.Length != 62 || state.Turn != 0 {
		t.Errorf("the thread has %d messages, turn %d: %v", state.Length, state.Turn, err)
	}
}

func TestAPromptThatStaysTooLargeIsATypedError(t *testing.T) {
	th, m := full(t, 10)
	_, err := th.Ask(context.Background(), "ana", "and now?")
	if thread.CodeOf(err) != thread.Limit || !model.Overflows(err) || len(m.asked) != 2 || len(cuts(t, th)) != 1 {
		t.Errorf("requests of %v tokens: %v", m.asked, err)
	}
	m.most = 1 << 20
	if err := th.Reply(context.Background()); err != nil {
		t.Errorf("the message is not answered later: %v", err)
	}
}

// Our own count answers as the provider's does: instructions that no mark knows
// of leave less room than the marks think there is.
func TestAPromptThatWeFindTooLargeIsCutOnceAndSent(t *testing.T) {
	table, err := model.BuiltIn().Extend([]byte(`{"models": [{"model": "echo", "family": "echo", "window": 20000, "maxOutput": 1000}]}`))
	if err != nil {
		t.Fatal(err)
	}
	m := &narrow{most: 1 << 20}
	e := engine(t, skein.Config{
		Models: func(string) (model.Model, error) { return m, nil }, Rules: table,
		Agents: []skein.Agent{{Name: "north", Instructions: strings.Repeat("You are north. ", 3000)}},
	})
	th := open(t, e, "main", skein.Settings{Tail: skein.Marks{Low: 9000, High: 11_000}})
	for i := range 35 {
		if _, err := th.Say(context.Background(), "ana", fmt.Sprintf("note %d: %s", i, strings.Repeat("the venue is the harbour hall ", 40))); err != nil {
			t.Fatal(err)
		}
	}
	if got := ask(t, th, "and now?"); got != "ok" {
		t.Errorf("the answer is %q", got)
	}
	if made := cuts(t, th); len(m.asked) != 1 || len(made) != 1 || made[0].Reason != "overflow" {
		t.Errorf("requests of %v tokens, cuts %+v", m.asked, made)
	}
}

func TestWhereNothingCanLeaveThereIsNoSecondRequest(t *testing.T) {
	m := &narrow{most: 10}
	e := engine(t, skein.Config{Models: func(string) (model.Model, error) { return m, nil }})
	th := open(t, e, "main", skein.Settings{})
	_, err := th.Ask(context.Background(), "ana", "hello")
	if thread.CodeOf(err) != thread.Limit || len(m.asked) != 1 || len(cuts(t, th)) != 0 {
		t.Errorf("requests of %v tokens: %v", m.asked, err)
	}
}

// The cut comes in the middle of the turn; the call that runs keeps its result.
func TestARunningCallStaysWholeWhereThePromptOverflows(t *testing.T) {
	th, m := full(t, 1<<20, thread.Call("c1", "read", []byte(`{"id":0,"count":10}`)))
	if _, err := th.Say(context.Background(), "ana", "read it"); err != nil {
		t.Fatal(err)
	}
	p, err := th.Prompt(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	m.most = p.Request.Weigh() + 100 // the result of the call is more
	if err := th.Reply(context.Background()); err != nil {
		t.Fatal(err)
	}
	made := cuts(t, th)
	if len(m.asked) != 3 || len(made) != 1 || made[0].Reason != "overflow" {
		t.Errorf("requests of %v tokens, at most %d; cuts %+v", m.asked, m.most, made)
	}
	if made[0].Boundary > 61 {
		t.Errorf("the cut at %d parts the call from what stays", made[0].Boundary)
	}
}
