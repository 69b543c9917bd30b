package skein_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

// promised says whether an answer is due in the thread.
func promised(t *testing.T, e *skein.Engine, th *skein.Thread) bool {
	t.Helper()
	state, err := th.State(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	due, err := e.Promised(context.Background(), state)
	if err != nil {
		t.Fatal(err)
	}
	return due
}

func promise(t *testing.T, th *skein.Thread, text string, options ...skein.SayOption) thread.Entry {
	t.Helper()
	e, err := th.Promise(context.Background(), "ana", text, options...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// What keeps a promise, what takes it back, and what leaves it.
func TestAPromiseStandsUntilATurnBegins(t *testing.T) {
	type scene struct {
		*testing.T
		engine *skein.Engine
		thread *skein.Thread
		before int64 // index of the message before the promise
	}
	for name, c := range map[string]struct {
		then func(ctx context.Context, s scene) error
		due  bool
	}{
		"nothing":   {func(context.Context, scene) error { return nil }, true},
		"an answer": {func(ctx context.Context, s scene) error { return s.thread.Reply(ctx) }, false},
		"an answer that fails": {func(ctx context.Context, s scene) error {
			for range 3 { // the script has no more
				if err := s.thread.Reply(ctx); err == nil {
					promise(s.T, s.thread, "and then?")
				}
			}
			return nil
		}, false},
		"a stop":              {func(ctx context.Context, s scene) error { return s.thread.Stop(ctx) }, false},
		"a rewind of it":      {func(ctx context.Context, s scene) error { return s.thread.Rewind(ctx, s.before, "ana") }, false},
		"a rewind to itself":  {func(ctx context.Context, s scene) error { return s.thread.Rewind(ctx, s.before+1, "ana") }, true},
		"a reset":             {func(ctx context.Context, s scene) error { return s.thread.Reset(ctx, "ana") }, false},
		"a title":             {func(ctx context.Context, s scene) error { return s.thread.Title(ctx, "Ropes", "ana") }, true},
		"something else said": {func(ctx context.Context, s scene) error { _, err := s.thread.Say(ctx, "ben", "by the way"); return err }, true},
		"the same key":        {func(_ context.Context, s scene) error { promise(s.T, s.thread, "where?", skein.Key("k")); return nil }, true},
		"an answer, same key": {func(ctx context.Context, s scene) error {
			err := s.thread.Reply(ctx)
			promise(s.T, s.thread, "where?", skein.Key("k"))
			return err
		}, false},
		"a rewind, same key": {func(ctx context.Context, s scene) error {
			err := s.thread.Rewind(ctx, s.before, "ana")
			promise(s.T, s.thread, "where?", skein.Key("k"))
			return err
		}, false},
		"a rewind, then words": {func(ctx context.Context, s scene) error {
			err := s.thread.Rewind(ctx, s.before, "ana")
			_, said := s.thread.Say(ctx, "ana", "never mind")
			return firstOf(err, said)
		}, false},
		"plain words, and a rewind to it": {func(ctx context.Context, s scene) error {
			_, err := s.thread.Say(ctx, "ben", "by the way")
			return firstOf(err, s.thread.Rewind(ctx, s.before+1, "ana"))
		}, true},
		"another promise, and a rewind to it": {func(ctx context.Context, s scene) error {
			promise(s.T, s.thread, "and how?")
			return s.thread.Rewind(ctx, s.before+1, "ana")
		}, true},
		"many promises, and a rewind to it": {func(ctx context.Context, s scene) error {
			for range 40 {
				promise(s.T, s.thread, "and how?")
			}
			return s.thread.Rewind(ctx, s.before+1, "ana")
		}, true},
		"another promise, and a rewind of both": {func(ctx context.Context, s scene) error {
			promise(s.T, s.thread, "and how?")
			return s.thread.Rewind(ctx, s.before, "ana")
		}, false},
		"a rewind to it, then a stop": {func(ctx context.Context, s scene) error {
			promise(s.T, s.thread, "and how?")
			return firstOf(s.thread.Rewind(ctx, s.before+1, "ana"), s.thread.Stop(ctx))
		}, false},
		"an answer, and a rewind to it": {func(ctx context.Context, s scene) error {
			return firstOf(s.thread.Reply(ctx), s.thread.Rewind(ctx, s.before+1, "ana"))
		}, false},
		"plain words, a promised reply, and a rewind to it": {func(ctx context.Context, s scene) error {
			_, err := s.thread.Say(ctx, "ben", "by the way")
			return firstOf(err, s.thread.PromiseReply(ctx), s.thread.Rewind(ctx, s.before+1, "ana"))
		}, true},
		"a deletion and back": {func(ctx context.Context, s scene) error {
			return firstOf(s.thread.Delete(ctx), s.engine.Undelete(ctx, s.thread.ID()))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			e := engine(t, skein.Config{Model: "scripted", Models: script(t, "At noon.", "In the hall.")})
			th := open(t, e, "rope", skein.Settings{})
			ask(t, th, "when?")
			promise(t, th, "where?", skein.Key("k"))
			if !promised(t, e, th) {
				t.Fatal("nothing is promised")
			}
			if err := c.then(ctx, scene{t, e, th, 1}); err != nil {
				t.Fatal(err)
			}
			if got := promised(t, e, th); got != c.due {
				t.Errorf("an answer is due: %t, want %t", got, c.due)
			}
		})
	}
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Only what was promised is answered by whoever comes later.
func TestPlainWordsPromiseNothing(t *testing.T) {
	ctx := context.Background()
	e := engine(t, skein.Config{Model: "scripted", Models: script(t, "At noon.", "In the hall.")})
	th := open(t, e, "rope", skein.Settings{})
	if err := th.PromiseReply(ctx); err != nil || promised(t, e, th) {
		t.Fatalf("an empty thread promises an answer, %v", err)
	}
	if _, err := th.Say(ctx, "ana", "when?"); err != nil {
		t.Fatal(err)
	}
	if promised(t, e, th) {
		t.Error("what was only said is due")
	}
	if err := th.PromiseReply(ctx); err != nil || !promised(t, e, th) {
		t.Errorf("a reply was promised, but is not due: %v", err)
	}
	if err := th.Reply(ctx); err != nil || promised(t, e, th) {
		t.Errorf("it was answered, but is due: %v", err)
	}
	if err := th.PromiseReply(ctx); err != nil || promised(t, e, th) {
		t.Errorf("nothing waits, but an answer is due: %v", err)
	}
}

// Resume answers what is due, and that alone.
func TestWhoResumesAnswersOnlyWhatIsDue(t *testing.T) {
	ctx := context.Background()
	e := engine(t, skein.Config{Model: "scripted", Models: script(t, "At noon.", "In the hall.")})
	th := open(t, e, "rope", skein.Settings{})
	if _, err := th.Say(ctx, "ana", "when?"); err != nil {
		t.Fatal(err)
	}
	length := func() int64 {
		if err := th.Resume(ctx); err != nil {
			t.Fatal(err)
		}
		st, err := th.State(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return st.Length
	}
	if got := length(); got != 1 {
		t.Errorf("%d messages: what was only said is answered", got)
	}
	promise(t, th, "where?")
	if got := length(); got != 3 {
		t.Errorf("%d messages: what was promised is not answered", got)
	}
}

// What is promised while a turn waits is queued, and due as long as it is.
func TestAPromiseMayWaitInTheInbox(t *testing.T) {
	ctx := context.Background()
	var ran atomic.Int64
	e := engine(t, skein.Config{
		Agents: []skein.Agent{asking()}, Tools: []tool.Tool{writes(t, "write", &ran)}, Model: "scripted",
		Models: script(t, calls("write"), "Written.", "In the hall."),
	})
	th := open(t, e, "rope", skein.Settings{})
	_, err := th.Ask(ctx, "ana", "write it")
	waits(t, err)
	if queued := promise(t, th, "where?"); queued.Kind != thread.QueuedKind || !promised(t, e, th) {
		t.Fatalf("said as %s, and not due", queued.Kind)
	}
	if err := th.Approve(ctx, "ana", ""); err != nil {
		t.Fatal(err)
	}
	if err := th.Reply(ctx); err != nil {
		t.Fatal(err)
	}
	if promised(t, e, th) {
		t.Error("it was answered, but is due")
	}
}

// Who has heard in mid-turn what was promised has answered it.
func TestAPromiseHeardByTheTurnIsKept(t *testing.T) {
	ctx := context.Background()
	var ran atomic.Int64
	e := engine(t, skein.Config{
		Agents: []skein.Agent{asking()}, Tools: []tool.Tool{writes(t, "write", &ran)}, Model: "scripted",
		Models: script(t, calls("write"), "Written, in the hall."),
	})
	th := open(t, e, "rope", skein.Settings{})
	_, err := th.Ask(ctx, "ana", "write it")
	waits(t, err)
	promise(t, th, "in the hall", skein.Now())
	if err := th.Approve(ctx, "ana", ""); err != nil {
		t.Fatal(err)
	}
	if err := th.Reply(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := th.Say(ctx, "ana", "thank you"); err != nil {
		t.Fatal(err)
	}
	if promised(t, e, th) {
		t.Error("the turn has heard it, but it is due")
	}
}
