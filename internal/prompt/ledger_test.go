package prompt_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/internal/prompt"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

func TestTheLedgerNamesTheFirstBlockThatDiffers(t *testing.T) {
	const all, toTheTail, toTheFirstLines = -1, -2, -3
	base := func() (*log, prompt.Definition) {
		def := north("echo")
		def.Contexts = []thread.Context{{Name: "place", Text: "here"}, {Name: "team", Text: "ana and bob"}}
		l := newLog()
		for range 6 {
			l.say("ana", "a word or two")
		}
		l.cutAt(5)
		return l.answer(l.build(t, def), thread.Text("Yes")).say("ana", "And now?"), def
	}
	for name, c := range map[string]struct {
		change func(l *log, def *prompt.Definition)
		want   prompt.Ledger
	}{
		"nothing":        {func(*log, *prompt.Definition) {}, prompt.Ledger{Same: all}},
		"model":          {func(_ *log, d *prompt.Definition) { d.Model = "scripted" }, prompt.Ledger{Block: "model", Cause: "model"}},
		"effort":         {func(_ *log, d *prompt.Definition) { d.Thinking = "low" }, prompt.Ledger{Block: "model", Cause: "model"}},
		"tools":          {func(_ *log, d *prompt.Definition) { d.Tools = d.Tools[:1] }, prompt.Ledger{Block: "tools", Cause: "tools"}},
		"instructions":   {func(_ *log, d *prompt.Definition) { d.Instructions = "Be brief." }, prompt.Ledger{Same: 30, Block: "instructions", Cause: "instructions"}},
		"first context":  {func(_ *log, d *prompt.Definition) { d.Contexts[0].Text = "there" }, prompt.Ledger{Same: 34, Block: "context place", Cause: "contexts"}},
		"second context": {func(_ *log, d *prompt.Definition) { d.Contexts[1].Text = "ana" }, prompt.Ledger{Same: 44, Block: "context team", Cause: "contexts"}},
		"fewer contexts": {func(_ *log, d *prompt.Definition) { d.Contexts = d.Contexts[:1] }, prompt.Ledger{Same: 44, Block: "header", Cause: "contexts"}},
		"a cut":          {func(l *log, _ *prompt.Definition) { l.cutAt(6) }, prompt.Ledger{Same: toTheFirstLines, Block: "lines from 4+1", Cause: "cut"}},
		"a rewind": {func(l *log, _ *prompt.Definition) {
			l.messages = l.messages[:6]
			l.messages[5].Message.Parts[0].Text = "no"
		}, prompt.Ledger{Same: toTheTail, Block: "message 5", Cause: "history"}},
		"the first agent": {func(l *log, _ *prompt.Definition) { l.previous = nil; l.messages[6].Message.Request = nil }, prompt.Ledger{}},
	} {
		t.Run(name, func(t *testing.T) {
			l, def := base()
			before := l.messages[6].Message.Request.Tokens
			c.change(l, &def)
			p := l.build(t, def)
			got := p.Ledger
			if got.Tokens != p.Tokens || got.Same != p.Stamp.Same || got.Cause != p.Stamp.Cause || got.Block != p.Stamp.Block {
				t.Errorf("ledger %+v, prompt of %d tokens, stamp %+v", got, p.Tokens, p.Stamp)
			}
			c.want.Tokens = got.Tokens
			chat := p.Sections[3].Messages[0].Parts
			switch before3 := p.Sections[0].Tokens + p.Sections[1].Tokens + p.Sections[2].Tokens; c.want.Same {
			case all:
				c.want.Same = before
			case toTheTail: // all that stands before the whole messages
				c.want.Same = before3
				for _, part := range chat {
					c.want.Same += thread.Weight(part.Text)
				}
			case toTheFirstLines: // the header and a block of four
				c.want.Same = before3 + thread.Weight(chat[0].Text) + thread.Weight(chat[1].Text)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheFirstCutIsNamed(t *testing.T) {
	l := newLog().say("ana", "one")
	l.answer(l.build(t, north("echo")), thread.Text("two")).say("ana", "three").cutAt(2)
	if got := l.build(t, north("echo")).Ledger; got.Cause != prompt.CauseCut || got.Block != "header" || got.Same != 34 {
		t.Errorf("got %+v", got)
	}
}

func TestMarksStandWhereThePromptWillNotChange(t *testing.T) {
	l := newLog()
	for range 10 {
		l.say("ana", "a word or two")
	}
	l.cutAt(9)
	l.answer(l.build(t, north("echo")), thread.Text("Yes")).say("ana", "And now?")
	p := l.build(t, north("echo"))
	// Message 0 is the outline (nine lines: header, four, four, one, closing tag),
	// then the tail's first, what was told, the reply and the newest.
	want := []model.Mark{{Name: "instructions", Message: -1}, {Name: "outline", Message: 0, Part: 2}, {Name: "previous", Message: 2, Part: 0}, {Name: "end", Message: 4, Part: 0}}
	if diff := cmp.Diff(want, p.Request.Marks); diff != "" {
		t.Error(diff)
	}
	if p.Request.CacheKey == "" {
		t.Error("no cache key")
	}

	def := north("claude-opus-4-6")
	if got := l.build(t, def).Request.Marks; len(got) != 0 {
		t.Errorf("marks %v below what the model caches", got)
	}
	def.Model = "gpt-6.2-sol"
	q := l.build(t, def)
	if len(q.Request.Marks) != 0 || q.Request.CacheKey != p.Request.CacheKey {
		t.Errorf("marks %v, key %q", q.Request.Marks, q.Request.CacheKey)
	}
	def.Agent = "south"
	if r := l.build(t, def); r.Request.CacheKey == q.Request.CacheKey {
		t.Error("two agents share a cache key")
	}
}

func TestTheStampSaysFromWhatAReplyIsMade(t *testing.T) {
	l := newLog().say("ana", "one").say("ana", "two").cutAt(1)
	l.requests = 7
	def := north("echo")
	p := l.build(t, def)
	encoded, err := def.Encode()
	if err != nil {
		t.Fatal(err)
	}
	s := p.Stamp
	if s.Number != 8 || p.Request.Number != 8 || s.Cut != 1 || s.Length != 2 || !s.Time.Equal(l.now) || s.Tokens != p.Tokens || len(s.Blocks) != 8*5 || len(s.Hash) != 32 || len(s.Definition) != 64 {
		t.Errorf("the stamp is %+v", s)
	}
	again, err := prompt.DecodeDefinition(encoded)
	if err != nil {
		t.Fatal(err)
	}
	if q := l.build(t, again); q.Stamp != s {
		t.Errorf("a decoded definition makes %+v, not %+v", q.Stamp, s)
	}
}
