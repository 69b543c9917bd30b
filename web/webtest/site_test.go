package webtest

import (
	"context"
	"iter"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/internal/server"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/scripted"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/store/sqlite"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
	"github.com/skeinhq/skein/web"
)

// site is a server with the page, on a real socket, over a real database.
type site struct {
	testing.TB
	path, address string
	actor         *actor
	engine        *skein.Engine
	server        *server.Server
	mounts        []server.Mount // what is served beside the page
	stop          context.CancelFunc
	browser       context.Context // one without anybody else's cookies
	ended         chan error
	huge          bool // too long to be checked whole
}

// open opens a site on a new database.
func open(t testing.TB) *site {
	t.Helper()
	s := &site{TB: t, path: filepath.Join(t.TempDir(), "skein.db"), address: "127.0.0.1:0", actor: &actor{answers: map[string]scripted.Reply{}}}
	s.start()
	t.Cleanup(s.kill)
	return s
}

func (s *site) url() string { return "http://" + s.address }

// start begins serving, at the address that it had before.
func (s *site) start() {
	s.Helper()
	st, err := sqlite.Open(context.Background(), s.path, sqlite.Options{})
	s.must(err)
	north := skein.Agent{
		Name:        "north",
		Permissions: tool.Permissions{Default: tool.Allow, Rules: []tool.Rule{{Decision: tool.Ask, Tools: []string{"deploy", "edit_file"}, Reason: "It changes what others use."}}},
	}
	s.engine, err = skein.Open(context.Background(), skein.Config{
		Store: st, Agents: []skein.Agent{north, {Name: "south"}}, Tools: tools(s), // the actor is called echo, which the rule table knows
		Models: func(string) (model.Model, error) { return s.actor, nil },
	})
	s.must(err)
	s.server, err = server.New(context.Background(), server.Config{
		Engine: s.engine, Name: "ana",
		Mounts: append([]server.Mount{{Pattern: "/", Handler: web.Handler()}}, s.mounts...),
		Limits: server.Limits{Rate: 1000, Burst: 10_000, AddressRate: 1000, AddressBurst: 10_000, Grace: 20 * time.Millisecond},
	})
	s.must(err)
	ln, err := net.Listen("tcp", s.address)
	s.must(err)
	s.address = ln.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	s.stop, s.ended = stop, make(chan error, 1)
	go func() { s.ended <- s.server.Serve(ctx, ln) }()
}

// kill ends the server; what it acknowledged is kept.
func (s *site) kill() {
	if s.stop == nil {
		return
	}
	s.stop()
	s.stop = nil
	if err := <-s.ended; err != nil {
		s.Errorf("serve: %v", err)
	}
	if err := s.server.Close(); err != nil {
		s.Errorf("close the server: %v", err)
	}
	if !s.huge {
		for err := range s.engine.Check(context.Background()) {
			s.Errorf("check: %v", err)
		}
	}
	if err := s.engine.Close(); err != nil {
		s.Errorf("close the engine: %v", err)
	}
}

func (s *site) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// thread makes a thread, and says what is given in it: ana's and north's words in
// turn.
func (s *site) thread(id, title string, said ...string) *skein.Thread {
	s.Helper()
	ctx := context.Background()
	t, err := s.engine.Create(ctx, id, title, skein.Settings{})
	s.must(err)
	for i := 0; i < len(said); i += 2 {
		if i+1 < len(said) {
			s.actor.answer(said[i], scripted.Reply{Text: said[i+1]})
		}
		if _, err := t.Ask(ctx, "ana", said[i]); err != nil {
			s.Fatal(err)
		}
	}
	return t
}

// messages are the texts of a thread's active messages.
func (s *site) messages(id string) (texts []string) {
	s.Helper()
	t, err := s.engine.Thread(context.Background(), id)
	s.must(err)
	for e, err := range t.Messages(context.Background(), 0, 1<<40) {
		s.must(err)
		texts = append(texts, e.Message.PlainText())
	}
	return texts
}

// logged counts the entries of a kind.
func (s *site) logged(id string, kind thread.Kind) (n int) {
	s.Helper()
	t, err := s.engine.Thread(context.Background(), id)
	s.must(err)
	for _, err := range t.Entries(context.Background(), store.EntriesQuery{Kinds: []thread.Kind{kind}, Inactive: true}) {
		s.must(err)
		n++
	}
	return n
}

// tools are look (read-only, which says its input), and deploy and edit_file (which
// are asked about).
func tools(t testing.TB) []tool.Tool {
	t.Helper()
	type in struct {
		What string `json:"what"`
	}
	look, err := tool.Make(tool.Tool{Name: "look", Description: "Looks at something.", ReadOnly: true}, func(_ context.Context, i in) (string, error) {
		return "I saw:\n" + i.What, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	deploy, err := tool.Make(tool.Tool{Name: "deploy", Description: "Deploys something."}, func(_ context.Context, i in) (string, error) {
		return "deployed " + i.What, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	type change struct {
		Path string `json:"path"`
		Old  string `json:"old"`
		New  string `json:"new"`
	}
	edit, err := tool.Make(tool.Tool{Name: "edit_file", Description: "Changes a file."}, func(_ context.Context, c change) (string, error) {
		return "changed " + c.Path, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return []tool.Tool{look, deploy, edit}
}

// actor answers what it was told to answer to a text, else "You said: " and the
// text. After a tool's result it says "Done: " and the result.
type actor struct {
	mu      sync.Mutex
	answers map[string]scripted.Reply
	pace    time.Duration // between two pieces
	piece   int           // characters of a piece; 0: 8
}

func (a *actor) answer(to string, with scripted.Reply) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers[to] = with
}

func (a *actor) at(pace time.Duration, piece int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pace, a.piece = pace, piece
}

func (a *actor) reply(r *model.Request) (scripted.Reply, time.Duration, int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	piece := a.piece
	if piece == 0 {
		piece = 8
	}
	for i := len(r.Messages) - 1; i >= 0; i-- {
		m := r.Messages[i]
		for j := len(m.Parts) - 1; j >= 0; j-- {
			switch p := m.Parts[j]; {
			case p.Type == thread.ResultPart:
				var texts []string
				for _, q := range p.Parts {
					texts = append(texts, q.Text)
				}
				return scripted.Reply{Text: "Done: " + strings.Join(texts, "\n")}, a.pace, piece
			case p.Type == thread.TextPart && m.Role == thread.User && !strings.HasPrefix(p.Text, "<context name="):
				_, text, _ := strings.Cut(p.Text, ": ")
				if reply, ok := a.answers[text]; ok {
					return reply, a.pace, piece
				}
				return scripted.Reply{Text: "You said: " + text}, a.pace, piece
			}
		}
	}
	return scripted.Reply{Text: "Nothing was said."}, a.pace, piece
}

// Stream answers in pieces.
func (a *actor) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		reply, pace, piece := a.reply(r)
		tell := func(kind model.EventType, text string) bool {
			for rest := []rune(text); len(rest) > 0; {
				n := min(piece, len(rest))
				if err := model.Wait(ctx, pace); err != nil {
					yield(model.Event{}, err)
					return false
				}
				if !yield(model.Event{Type: kind, Text: string(rest[:n])}, nil) {
					return false
				}
				rest = rest[n:]
			}
			return true
		}
		if !tell(model.ThinkingDelta, reply.Thinking) || !tell(model.TextDelta, reply.Text) {
			return
		}
		if reply.Error != nil {
			yield(model.Event{}, reply.Error)
			return
		}
		yield(done(r, reply), nil)
	}
}

func done(r *model.Request, reply scripted.Reply) model.Event {
	e := model.Event{Type: model.Done, Stop: thread.StopEnd, Usage: thread.Usage{Input: int64(r.Weigh()), Output: int64(thread.Weight(reply.Text))}}
	if reply.Thinking != "" {
		e.Parts = append(e.Parts, thread.Part{Type: thread.ThinkingPart, Text: reply.Thinking, Provider: "actor", Model: r.Model})
	}
	if reply.Text != "" {
		e.Parts = append(e.Parts, thread.Text(reply.Text))
	}
	for i, c := range reply.Calls {
		id := "call-" + string(rune('a'+i)) + "-" + time.Now().Format("150405.000000")
		e.Parts = append(e.Parts, thread.Call(id, c.Name, c.Input))
		e.Stop = thread.StopCalls
	}
	return e
}

// until waits until it is true.
func (s *site) until(what func() bool) {
	s.Helper()
	for end := time.Now().Add(patience); !what(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			s.Fatal("it did not come true")
		}
	}
}
