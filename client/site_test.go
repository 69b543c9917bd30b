package client_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/client"
	"github.com/skeinhq/skein/internal/server"
	skeinmodel "github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/echo"
	"github.com/skeinhq/skein/store/sqlite"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// site is a real server over a real database.
type site struct {
	t      *testing.T
	path   string
	addr   string
	pace   float64 // tokens a second of the echo
	engine *skein.Engine
	close  func()
}

func open(t *testing.T, pace float64) *site {
	s := &site{t: t, path: filepath.Join(t.TempDir(), "skein.db"), addr: "127.0.0.1:0", pace: pace}
	s.start()
	t.Cleanup(func() { s.close() })
	return s
}

// start opens the database and serves it, where it was served before.
func (s *site) start() {
	s.t.Helper()
	must := func(err error) {
		s.t.Helper()
		if err != nil {
			s.t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	st, err := sqlite.Open(ctx, s.path, sqlite.Options{})
	must(err)
	s.engine, err = skein.Open(ctx, skein.Config{Store: st, Models: func(string) (skeinmodel.Model, error) { return echo.Model{Pace: s.pace}, nil }})
	must(err)
	cfg := server.Config{Engine: s.engine, Name: "ana"}
	cfg.Limits.Grace, cfg.Limits.Recheck = 50*time.Millisecond, 20*time.Millisecond
	srv, err := server.New(ctx, cfg)
	must(err)
	var ln net.Listener
	until(s.t, "the address is free", func() bool { // somebody who looks for the server may have it as his own for a moment
		ln, err = net.Listen("tcp", s.addr)
		return err == nil
	})
	s.addr = ln.Addr().String()
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(ctx, ln) }()
	var once sync.Once
	s.close = func() {
		once.Do(func() {
			stop()
			for _, err := range []error{<-ended, srv.Close(), s.engine.Close()} {
				if err != nil {
					s.t.Errorf("the server's end: %v", err)
				}
			}
		})
	}
}

func (s *site) url() string { return "http://" + s.addr }

func (s *site) client(transport client.Transport, token string) *client.Client {
	s.t.Helper()
	trip := &http.Transport{}
	s.t.Cleanup(trip.CloseIdleConnections)
	c, err := client.New(client.Config{URL: s.url(), Token: token, HTTP: &http.Client{Transport: trip}, Transport: transport, Pace: client.Pace{Min: 5 * time.Millisecond, Max: 50 * time.Millisecond}})
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

func texts(ranges []view.Range) []string {
	var out []string
	for _, r := range ranges {
		for _, e := range r.Entries {
			out = append(out, e.Message.Author+": "+e.Message.PlainText())
		}
	}
	return out
}

func TestATalkOverTheRealServer(t *testing.T) {
	for _, way := range []client.Transport{client.WebSocket, client.Events} {
		t.Run(string(way), func(t *testing.T) {
			s := open(t, 50) // slow enough that the answer is seen to grow
			c := s.client(way, "")
			ctx := t.Context()
			if _, err := c.Create(ctx, client.NewThread{ID: "launch", Title: "The launch"}); err != nil {
				t.Fatal(err)
			}
			w := follow(t, c.Watch("launch", client.WatchOptions{Tail: 4}))
			until(t, "live", w.live)
			said, err := c.Say(ctx, "launch", client.Message{Text: "Ship on the 12th 🚢", Key: "k1"})
			if err != nil {
				t.Fatal(err)
			}
			if again, err := c.Say(ctx, "launch", client.Message{Text: "Ship on the 12th 🚢", Key: "k1"}); err != nil || again.ID != said.ID {
				t.Errorf("said again it is %+v, %v; it was %+v", again, err, said)
			}
			until(t, "the answer", func() bool { return w.length() == 2 && w.View().Docs.Live == nil })
			got := texts(w.Ranges())
			if len(got) != 2 || got[0] != "ana: Ship on the 12th 🚢" || !strings.HasSuffix(got[1], "You said: ana: Ship on the 12th 🚢") {
				t.Errorf("the talk is %q", got)
			}
			w.mu.Lock()
			if len(w.texts) == 0 || !slices.IsSortedFunc(w.texts, func(a, b string) int { return len(a) - len(b) }) {
				t.Errorf("the answer grew as %q", w.texts)
			}
			w.mu.Unlock()
			s.close() // a drain: the client comes back by itself
			until(t, "offline", func() bool { state, _ := w.State(); return state != client.Live })
			s.start()
			until(t, "live again", w.live)
			if _, err := c.Say(ctx, "launch", client.Message{Text: "And the press?", Reply: new(bool)}); err != nil {
				t.Fatal(err)
			}
			until(t, "the third", func() bool { return w.length() == 3 })
			if got := texts(w.Ranges()); len(got) != 3 {
				t.Errorf("after the restart it holds %q", got)
			}
			if err := c.Delete(ctx, "launch"); err != nil {
				t.Fatal(err)
			}
			<-w.done
			if thread.CodeOf(w.err) != thread.NotFound {
				t.Errorf("deleted: %v", w.err)
			}
		})
	}
}

// line is a dialer whose connections can all be broken.
type line struct {
	mu    sync.Mutex
	conns []net.Conn
}

func (l *line) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, network, address)
	if err == nil {
		l.mu.Lock()
		l.conns = append(l.conns, c)
		l.mu.Unlock()
	}
	return c, err
}

func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		_ = c.Close()
	}
	l.conns = nil
}

// Whatever is said, undone, held and lost, the watch ends as the real server has the
// thread, and no hole is left unmarked.
func TestTheRealServerInAnyWeather(t *testing.T) {
	for _, way := range []client.Transport{client.WebSocket, client.Events} {
		t.Run(string(way), func(t *testing.T) {
			s := open(t, 2000)
			c := s.client(client.AnyTransport, "") // whose line holds
			ctx := t.Context()
			var lost line
			trip := &http.Transport{DialContext: lost.dial}
			t.Cleanup(trip.CloseIdleConnections)
			watching, err := client.New(client.Config{URL: s.url(), HTTP: &http.Client{Transport: trip}, Transport: way, Pace: client.Pace{Min: time.Millisecond, Max: 20 * time.Millisecond}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Create(ctx, client.NewThread{ID: "t"}); err != nil {
				t.Fatal(err)
			}
			active := func() []view.Entry {
				var all []view.Entry
				for q := (client.PageQuery{Order: "asc", Limit: 200}); ; {
					page, err := c.Page(ctx, "t", q)
					if err != nil {
						t.Fatal(err)
					}
					for _, e := range page.Items {
						if !e.Past {
							all = append(all, e)
						}
					}
					if q.Cursor = page.Next; q.Cursor == "" {
						return all
					}
				}
			}
			w := follow(t, watching.Watch("t", client.WatchOptions{Tail: 4}))
			r := rand.New(rand.NewPCG(7, 0)) //nolint:gosec // a seed makes it happen again
			var did []string
			for range 150 {
				var err error
				switch x := r.IntN(20); {
				case x < 8:
					did = append(did, "say")
					_, err = c.Say(ctx, "t", client.Message{Text: fmt.Sprint("message ", len(did)), Reply: new(bool)})
				case x < 11:
					did = append(did, "ask")
					_, err = c.Say(ctx, "t", client.Message{Text: fmt.Sprint("question ", len(did), " 👋")})
				case x < 14:
					all := active()
					if len(all) == 0 {
						continue
					}
					did = append(did, "rewind")
					_, err = c.Rewind(ctx, "t", all[r.IntN(len(all))].Seq)
				case x == 14 && r.IntN(4) == 0:
					did = append(did, "reset")
					_, err = c.Reset(ctx, "t")
				case x == 15:
					did = append(did, "cut")
					lost.cut()
				case x == 16:
					did = append(did, "hold")
					w.Hold(r.IntN(2) == 0)
				case x == 17:
					did = append(did, "earlier")
					_, _ = w.Earlier(ctx, 3) // the line may be cut, or the page be of before a rewind
				default:
					time.Sleep(time.Duration(r.IntN(5)) * time.Millisecond)
				}
				switch thread.CodeOf(err) {
				case "", thread.Conflict, thread.NotFound: // a turn runs, or a rewind has overtaken it
				default:
					t.Fatalf("after %q: %v", did, err)
				}
			}
			w.Hold(false)
			if _, err := c.Say(ctx, "t", client.Message{Text: "the end", Reply: new(bool)}); err != nil {
				t.Fatal(err)
			}
			same := func() bool { // an answer may still be on its way
				state, err := c.Thread(ctx, "t")
				if err != nil {
					t.Fatal(err)
				}
				v := w.View()
				return w.live() && state.Turn == 0 && len(state.Inbox) == 0 && v.Length == state.Length &&
					len(v.Entries) > 0 && v.Entries[len(v.Entries)-1].Seq == state.Last
			}
			until(t, fmt.Sprintf("the end, after %q", did), same)
			for holes := w.Holes(); len(holes) > 0; holes = w.Holes() {
				if _, err := w.Fetch(ctx, holes[len(holes)-1].Before, 50); err != nil {
					t.Fatal(err)
				}
			}
			for more := true; more; {
				if more, err = w.Earlier(ctx, 50); err != nil {
					t.Fatal(err)
				}
			}
			var diff string
			for range 100 {
				if diff = cmp.Diff([][]int64{seqs(active())}, held(w.Ranges())); diff == "" {
					return
				}
				until(t, "an answer that came late", same)
			}
			t.Errorf("after %q (- server, + client): %s", did, diff)
		})
	}
}

func TestEveryCallOfTheRealServer(t *testing.T) {
	s := open(t, 0)
	c := s.client(client.AnyTransport, "")
	ctx := t.Context()
	must := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	_, err := c.Create(ctx, client.NewThread{ID: "t", Meta: []byte(`{"a":1}`)})
	must("create", err)
	if _, err := c.Create(ctx, client.NewThread{ID: "t"}); thread.CodeOf(err) != thread.Conflict {
		t.Errorf("made twice: %v", err)
	}
	title := "Plans"
	state, err := c.Change(ctx, "t", client.Change{Title: &title, Settings: &client.Settings{Tail: &client.Marks{Low: 40, High: 80}}})
	must("change", err)
	if state.Title != title {
		t.Errorf("the title is %q", state.Title)
	}
	for _, text := range []string{"Venue is the old harbour hall", "Budget is 12,400 euros", "Invite the press on the 3rd"} {
		_, err := c.Say(ctx, "t", client.Message{Text: text, Reply: new(bool)})
		must("say", err)
	}
	must("reply", c.Reply(ctx, "t"))
	until(t, "the answer", func() bool {
		state, err = c.Thread(ctx, "t")
		must("thread", err)
		return state.Length == 4 && state.Turn == 0
	})
	page, err := c.Page(ctx, "t", client.PageQuery{Limit: 3})
	must("page", err)
	if len(page.Items) != 3 || page.Next == "" {
		t.Fatalf("the page is %+v", page)
	}
	page, err = c.Page(ctx, "t", client.PageQuery{Limit: 3, Cursor: page.Next})
	must("page", err)
	if len(page.Items) != 1 || page.Items[0].Prev != 0 || page.Next != "" {
		t.Errorf("the second page is %+v", page)
	}
	first := page.Items[0].Seq
	e, err := c.Entry(ctx, "t", first)
	must("entry", err)
	if e.Message.PlainText() != "Venue is the old harbour hall" {
		t.Errorf("the first entry is %+v", e)
	}
	z, err := c.Zoom(ctx, "t", thread.Span{ID: 0, N: 2}, 0)
	must("zoom", err)
	if len(z.Lines) != 2 {
		t.Errorf("0+2 opens to %+v", z)
	}
	z, err = c.Zoom(ctx, "t", thread.Span{ID: 1, N: 1}, 0)
	must("zoom", err)
	if z.Message == nil || !strings.Contains(z.Message.Text, "12,400") {
		t.Errorf("1+1 opens to %+v", z)
	}
	if _, err := c.Zoom(ctx, "t", thread.Span{ID: 512, N: 1}, 0); thread.CodeOf(err) != thread.NotFound {
		t.Errorf("a line that is none: %v", err)
	}
	messages, next, err := c.Read(ctx, "t", 0, 2)
	must("read", err)
	if len(messages) != 2 || next != 0 {
		t.Errorf("reading gives %+v, and then %d", messages, next)
	}
	found, err := c.Search(ctx, "t", client.SearchQuery{Text: "harbour", Limit: 3})
	must("search", err)
	if len(found.Hits) == 0 || found.Hits[0].ID != 0 {
		t.Errorf("found: %+v", found)
	}
	all, err := c.SearchAll(ctx, "harbour", 3)
	must("search all", err)
	if len(all) != 1 || all[0].Thread != "t" {
		t.Errorf("found in all: %+v", all)
	}
	o, err := c.Outline(ctx, "t")
	must("outline", err)
	if o.Messages != 4 || o.Tail.High != 80 {
		t.Errorf("the outline is %+v", o)
	}
	p, err := c.Prompt(ctx, "t", "", 0)
	must("prompt", err)
	if !strings.Contains(string(p), `"sections"`) {
		t.Errorf("the prompt is %s", p)
	}
	u, err := c.Usage(ctx, "t")
	must("usage", err)
	if u.Requests != 1 {
		t.Errorf("the usage is %+v", u)
	}
	part, err := c.PutBlob(ctx, "t", "plan.txt", "text/plain", []byte("a plan"))
	must("put a blob", err)
	_, err = c.Say(ctx, "t", client.Message{Blobs: []client.Blob{{Hash: part.Hash, Name: "plan.txt"}}, Reply: new(bool)})
	must("say a blob", err)
	f, err := c.Fork(ctx, "t", client.NewFork{Seq: first, ID: "f"})
	must("fork", err)
	if f.Length != 1 {
		t.Errorf("the fork is %+v", f)
	}
	state, err = c.Rewind(ctx, "t", first)
	must("rewind", err)
	if state.Length != 1 {
		t.Errorf("rewound it is %+v", state)
	}
	state, err = c.Reset(ctx, "t")
	must("reset", err)
	if state.Length != 0 {
		t.Errorf("reset it is %+v", state)
	}
	must("stop", c.Stop(ctx, "t"))
	if err := c.Approve(ctx, "t", "no/such call", thread.ScopeOnce); thread.CodeOf(err) == "" {
		t.Errorf("approving nothing: %v", err)
	}
	if err := c.Deny(ctx, "t", "none", "no"); thread.CodeOf(err) == "" {
		t.Errorf("denying nothing: %v", err)
	}
	names, answers, err := c.Agents(ctx)
	must("agents", err)
	if len(names) == 0 || !slices.Contains(names, answers) {
		t.Errorf("the agents are %q, and %q answers", names, answers)
	}
	var ids []string
	for state, err := range c.Threads(ctx) {
		must("threads", err)
		ids = append(ids, state.ID)
	}
	slices.Sort(ids)
	if !slices.Equal(ids, []string{"f", "t"}) {
		t.Errorf("the threads are %q", ids)
	}
}

func TestATokenIsNeededAndItsEndIsTold(t *testing.T) {
	s := open(t, 0)
	secret, token, err := s.engine.CreateToken(t.Context(), "ben", []string{skein.ScopeRead, skein.ScopeWrite}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := s.client(client.AnyTransport, secret)
	if _, err := c.Create(t.Context(), client.NewThread{ID: "t"}); err != nil {
		t.Fatal(err)
	}
	until(t, "the server needs a token", func() bool {
		_, err := s.client(client.AnyTransport, "").Thread(t.Context(), "t")
		return thread.CodeOf(err) == thread.Permission
	})
	w := follow(t, c.Watch("t", client.WatchOptions{}))
	until(t, "live", w.live)
	if _, err := c.Say(t.Context(), "t", client.Message{Text: "hi", Reply: new(bool)}); err != nil {
		t.Fatal(err)
	}
	until(t, "the message", func() bool { return w.length() == 1 })
	if got := texts(w.Ranges()); got[0] != "ben: hi" {
		t.Errorf("it was said as %q", got)
	}
	if err := c.Delete(t.Context(), "t"); thread.CodeOf(err) != thread.Permission {
		t.Errorf("deleting without the scope: %v", err)
	}
	if err := s.engine.RevokeToken(t.Context(), token.ID); err != nil {
		t.Fatal(err)
	}
	<-w.done
	if thread.CodeOf(w.err) != thread.Permission {
		t.Errorf("revoked: %v", w.err)
	}
}

func TestAWatchEndsWhereATokenIsNeededFromNowOn(t *testing.T) {
	s := open(t, 0)
	c := s.client(client.AnyTransport, "")
	if _, err := c.Create(t.Context(), client.NewThread{ID: "t"}); err != nil {
		t.Fatal(err)
	}
	w := follow(t, c.Watch("t", client.WatchOptions{}))
	until(t, "live", w.live)
	if _, _, err := s.engine.CreateToken(t.Context(), "ben", []string{skein.ScopeRead}, nil); err != nil {
		t.Fatal(err)
	}
	<-w.done
	if thread.CodeOf(w.err) != thread.Permission || !strings.HasSuffix(w.err.Error(), "the server ended the watch: token") {
		t.Errorf("it ended with %v", w.err)
	}
}

func TestNobodyThere(t *testing.T) {
	trip := &http.Transport{}
	defer trip.CloseIdleConnections()
	c, err := client.New(client.Config{URL: "http://127.0.0.1:1", HTTP: &http.Client{Transport: trip}, Pace: client.Pace{Min: time.Millisecond, Max: time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Thread(t.Context(), "t")
	if thread.CodeOf(err) != thread.Aborted || !strings.Contains(err.Error(), "gave no answer") {
		t.Errorf("a call: %v", err)
	}
	tries := 0
	for u, err := range c.Watch("t", client.WatchOptions{}).Updates(t.Context()) {
		if err != nil {
			t.Fatalf("a watch gives up: %v", err)
		}
		if u.State == client.Offline {
			if tries++; tries == 3 {
				break
			}
		}
	}
	for _, url := range []string{"", "localhost:8417", "ftp://x", "http://", ":"} {
		if _, err := client.New(client.Config{URL: url}); thread.CodeOf(err) != thread.Invalid {
			t.Errorf("the address %q: %v", url, err)
		}
	}
}
