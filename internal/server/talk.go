package server

import (
	"context"
	"encoding/json"
	"time"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// newMessage is the body that says something.
type newMessage struct {
	Author   string          `json:"author,omitempty" maxLength:"64" doc:"Only where no token is needed; else it is the token's name."`
	Text     string          `json:"text,omitempty" doc:"At most 4 MB."`
	To       []string        `json:"to,omitempty" maxItems:"32" doc:"Whom it is for; default: the agent that the text names with @, else the thread's."`
	Audience []string        `json:"audience,omitempty" maxItems:"32" doc:"Who may see it; default: everybody."`
	Blobs    []attachment    `json:"blobs,omitempty" maxItems:"32"`
	Key      string          `json:"key,omitempty" maxLength:"200" doc:"Makes a retry safe: the same key and content again says nothing, asks for no second answer, and gives the first place. What was only stored stays so: POST reply has it answered."`
	Meta     json.RawMessage `json:"meta,omitempty" doc:"Any JSON object, at most 64 KB."`
	When     string          `json:"when,omitempty" enum:"now,next" doc:"While a turn runs: heard by it (now), or after it (next, the default)."`
	Reply    *bool           `json:"reply,omitempty" doc:"false: it is only stored, and nobody answers."`
}

// said is where a message stands.
type said struct {
	ID    string `json:"id"`
	Seq   int64  `json:"seq"`
	Index *int64 `json:"index,omitempty" doc:"Its place among the active messages; absent while it waits for the turn that runs."`
}

type saidAnswer struct{ Body said }

func (s *Server) say(ctx context.Context, in *struct {
	InThread
	Body newMessage
}) (*saidAnswer, error) {
	t, err := s.thread(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	b := in.Body
	author, err := authorOf(by(ctx), b.Author)
	if err != nil {
		return nil, err
	}
	answered := b.Reply == nil || *b.Reply
	if answered { // who would answer must be there, so that nothing is said in vain
		if _, err := s.cfg.Engine.OpenThread(ctx, in.ID, skein.Settings{}); err != nil {
			return nil, err
		}
	}
	options, err := s.options(ctx, t, b)
	if err != nil {
		return nil, err
	}
	e, err := voice(t, answered)(ctx, author, b.Text, options...)
	if err != nil {
		return nil, err
	}
	if answered && b.Key != "" { // it may have been said, and answered, before
		if answered, err = s.promised(ctx, t); err != nil {
			return nil, err
		}
	}
	if answered {
		s.answer(t)
	}
	out := said{ID: e.ID, Seq: e.Seq}
	if e.IsMessage() {
		out.Index = &e.Index
	}
	return &saidAnswer{out}, nil
}

// voice is the way to say something: what is to be answered is answered even where
// this process ends first.
func voice(t *skein.Thread, answered bool) func(context.Context, string, string, ...skein.SayOption) (thread.Entry, error) {
	if answered {
		return t.Promise
	}
	return t.Say
}

// promised says whether an answer is still due in the thread: the turn that a killed
// process has left is gone on with by whoever is asked first.
func (s *Server) promised(ctx context.Context, t *skein.Thread) (bool, error) {
	state, err := t.State(ctx)
	if err != nil {
		return false, err
	}
	return s.cfg.Engine.Promised(ctx, state)
}

// authorOf is who speaks: the token's holder, or whom somebody at the machine
// says.
func authorOf(p *person, named string) (string, error) {
	switch {
	case named == "" || named == p.name:
		return p.name, nil
	case p.token == nil:
		return named, nil
	}
	return "", &thread.Error{Code: thread.Permission, Op: "say", Message: "the author is not the token's name", Hint: "leave the author out: it is " + p.name}
}

// mostMeta is the most bytes that a message's metadata may have.
const mostMeta = 64 << 10

func (s *Server) options(ctx context.Context, t *skein.Thread, b newMessage) ([]skein.SayOption, error) {
	var out []skein.SayOption
	if len(b.To) > 0 {
		out = append(out, skein.To(b.To...))
	}
	if len(b.Audience) > 0 {
		out = append(out, skein.Audience(b.Audience...))
	}
	if b.Key != "" {
		out = append(out, skein.Key(b.Key))
	}
	if b.When == thread.WhenNow {
		out = append(out, skein.Now())
	}
	if len(b.Meta) > 0 && string(b.Meta) != "null" {
		if err := checkMeta(b.Meta); err != nil {
			return nil, err
		}
		out = append(out, func(m *thread.Message, _ *store.New) { m.Meta = b.Meta })
	}
	for _, a := range b.Blobs {
		part, err := s.attach(ctx, t, a)
		if err != nil {
			return nil, err
		}
		out = append(out, skein.With(part))
	}
	return out, nil
}

// checkMeta refuses metadata that would make a message what it is not.
func checkMeta(meta json.RawMessage) error {
	var fields map[string]json.RawMessage
	err := json.Unmarshal(meta, &fields)
	if _, imported := fields["import"]; err != nil || imported || len(meta) > mostMeta {
		return &thread.Error{Code: thread.Invalid, Op: "say", Message: "the metadata cannot be kept", Hint: "write an object of at most 64 KB, without the field import", Err: err}
	}
	return nil
}

func (s *Server) reply(ctx context.Context, in *InThread) (*struct{}, error) {
	if _, err := s.thread(ctx, in.ID); err != nil {
		return nil, err
	}
	t, err := s.cfg.Engine.OpenThread(ctx, in.ID, skein.Settings{})
	if err != nil {
		return nil, err
	}
	if err := t.PromiseReply(ctx); err != nil {
		return nil, err
	}
	s.answer(t)
	return nil, nil
}

func (s *Server) stop(ctx context.Context, in *InThread) (*struct{}, error) {
	t, err := s.thread(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return nil, t.Stop(ctx)
}

// decision is the body that allows or denies a call.
type decision struct {
	Decision string `json:"decision" enum:"allow,deny"`
	Scope    string `json:"scope,omitempty" enum:"once,thread" doc:"allow: this call (once, the default), or every such call in this thread."`
	Reason   string `json:"reason,omitempty" maxLength:"4000" doc:"deny: for the model."`
}

func (s *Server) decide(ctx context.Context, in *struct {
	InThread
	CallID string `path:"callId" maxLength:"300" doc:"The call's id."`
	Body   decision
}) (*struct{}, error) {
	t, err := s.thread(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	name := by(ctx).name
	switch {
	case in.Body.Decision == "deny":
		err = t.Deny(ctx, name, in.CallID, in.Body.Reason)
	case in.Body.Scope == thread.ScopeThread:
		err = t.ApproveAlways(ctx, name, in.CallID)
	default:
		err = t.Approve(ctx, name, in.CallID)
	}
	if err != nil {
		return nil, err
	}
	s.answer(t)
	return nil, nil
}

func (s *Server) rewind(ctx context.Context, in *struct {
	InThread
	Body struct {
		Seq int64 `json:"seq" minimum:"1" doc:"The last message that stays."`
	}
}) (*threadAnswer, error) {
	t, err := s.thread(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	index, err := indexOf(ctx, t, in.Body.Seq)
	if err != nil {
		return nil, err
	}
	if err := settled(ctx, t, func() error { return t.Rewind(ctx, index, by(ctx).name) }); err != nil {
		return nil, err
	}
	return state(ctx, t)
}

func (s *Server) reset(ctx context.Context, in *InThread) (*threadAnswer, error) {
	t, err := s.thread(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if err := settled(ctx, t, func() error { return t.Reset(ctx, by(ctx).name) }); err != nil {
		return nil, err
	}
	return state(ctx, t)
}

// settled does what needs the thread's turn. Where the turn is over in the log and
// its owner only has not let go of it yet, that is waited for, for two seconds:
// clients see the end of a turn before that.
func settled(ctx context.Context, t *skein.Thread, do func() error) error {
	const wait, tries = 25 * time.Millisecond, 80
	for i := 0; ; i++ {
		err := do()
		if i == tries || thread.CodeOf(err) != thread.Conflict {
			return err
		}
		if st, failed := t.State(ctx); failed != nil || st.Turn != 0 {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return err
		}
	}
}
