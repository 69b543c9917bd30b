package skein_test

import (
	"context"
	"fmt"
	"iter"
	"log"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/store/memory"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
	"github.com/skeinhq/skein/view"
)

// viewer is a client of a view, with its replica.
type viewer struct {
	t       *testing.T
	watch   *skein.Watch
	replica view.Replica
}

func viewing(t *testing.T, th *skein.Thread, o skein.ViewOptions) *viewer {
	t.Helper()
	w, err := th.View(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return &viewer{t: t, watch: w}
}

// until takes frames until the view is as wanted.
func (v *viewer) until(what string, ok func(view.View) bool) view.View {
	v.t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	for {
		if got := v.replica.View(); got.N > 0 && ok(got) {
			return got
		}
		f, err := v.watch.Next(ctx)
		if err != nil {
			v.t.Fatalf("waiting for %s: %v\n%+v", what, err, v.replica.View())
		}
		b, err := f.Batch()
		if err != nil {
			v.t.Fatal(err)
		}
		if err := v.replica.Applied(b); err != nil {
			v.t.Fatal(err)
		}
	}
}

func has(n int) func(view.View) bool {
	return func(v view.View) bool { return len(v.Entries) == n }
}

func texts(entries []view.Entry) (out []string) {
	for _, e := range entries {
		out = append(out, e.Message.Author+": "+e.Message.PlainText())
	}
	return out
}

func TestATalkIsViewedByAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	a := engine(t, skein.Config{Store: openSQLite(t, path, nil)})
	b := engine(t, skein.Config{Store: openSQLite(t, path, nil)})
	here, there := open(t, a, "launch", skein.Settings{}), open(t, b, "launch", skein.Settings{})
	v, far := viewing(t, here, skein.ViewOptions{Tail: 10}), viewing(t, there, skein.ViewOptions{Tail: 10})
	ask(t, here, "one")
	ask(t, there, "two")
	ask(t, here, "three")
	settled := func(v view.View) bool {
		return len(v.Entries) == 6 && v.Docs.Usage.Requests == 3 && v.Docs.Live == nil && v.Docs.Agent.Turn == 0
	}
	ours, theirs := v.until("the talk", settled), far.until("the talk", settled)
	if d := cmp.Diff(ours, theirs, cmpopts.IgnoreFields(view.View{}, "N", "From"), cmpopts.IgnoreFields(view.Agent{}, "Backlog")); d != "" {
		t.Errorf("the processes show different views:\n%s", d)
	}
	if err := there.Rewind(context.Background(), 1, "ana"); err != nil {
		t.Fatal(err)
	}
	v.until("the rewind", has(2))
	if err := there.Delete(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, v := range []*viewer{v, far} {
		ended(t, v.watch, thread.NotFound)
	}
}

// ended reads a watch to its end.
func ended(t *testing.T, w *skein.Watch, code thread.Code) {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	for {
		if _, err := w.Next(ctx); err != nil {
			if thread.CodeOf(err) != code {
				t.Errorf("the watch ended with %v, not %s", err, code)
			}
			return
		}
	}
}

func TestTwoProcessesThatWriteAtOnceAreSeenWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	a := engine(t, skein.Config{Store: openSQLite(t, path, nil)})
	b := engine(t, skein.Config{Store: openSQLite(t, path, nil)})
	threads := []*skein.Thread{open(t, a, "launch", skein.Settings{}), open(t, b, "launch", skein.Settings{})}
	const each = 60
	var wg sync.WaitGroup
	var viewers []*viewer
	for i, th := range threads {
		viewers = append(viewers, viewing(t, th, skein.ViewOptions{Tail: 500}), viewing(t, th, skein.ViewOptions{Tail: 7}))
		for j := range 2 {
			wg.Go(func() {
				for k := range each {
					if _, err := th.Say(context.Background(), "ana", fmt.Sprintf("%d %d %d", i, j, k)); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	var want []view.Entry
	for i, v := range viewers {
		got := v.until("everything", func(v view.View) bool { return v.Length == 4*each })
		if i == 0 {
			want = got.Entries
		}
		if d := cmp.Diff(want[len(want)-len(got.Entries):], got.Entries); d != "" {
			t.Errorf("viewer %d:\n%s", i, d)
		}
	}
	wg.Wait()
	if len(want) != 4*each {
		t.Errorf("%d messages", len(want))
	}
}

// stepping is a model that says a word each time it is let.
type stepping struct{ words chan string }

func (m *stepping) Stream(ctx context.Context, _ *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		text := ""
		for {
			select {
			case w, more := <-m.words:
				if !more {
					yield(model.Event{Type: model.Done, Parts: []thread.Part{thread.Text(text)}, Stop: thread.StopEnd}, nil)
					return
				}
				text += w
				if !yield(model.Event{Type: model.TextDelta, Text: w}, nil) {
					return
				}
			case <-ctx.Done():
				yield(model.Event{}, ctx.Err())
				return
			}
		}
	}
}

func TestAnAnswerIsViewedAsItIsMade(t *testing.T) {
	m := &stepping{words: make(chan string)}
	e := engine(t, skein.Config{Models: func(string) (model.Model, error) { return m, nil }})
	th := open(t, e, "launch", skein.Settings{})
	answered := make(chan error, 1)
	go func() {
		_, err := th.Ask(context.Background(), "ana", "say three words")
		answered <- err
	}()
	m.words <- "one "
	first := viewing(t, th, skein.ViewOptions{})
	said := func(text string) func(view.View) bool {
		return func(v view.View) bool { return v.Docs.Live != nil && v.Docs.Live.Text == text }
	}
	got := first.until("the first word", said("one "))
	if got.Docs.Live.Author != "north" || got.Docs.Live.Turn == 0 || len(got.Entries) != 1 {
		t.Errorf("%+v", got)
	}
	m.words <- "two "
	id := first.until("the second word", said("one two ")).Docs.Live.ID
	joining := viewing(t, th, skein.ViewOptions{})
	joining.until("the text so far", said("one two "))
	m.words <- "three"
	close(m.words)
	for _, v := range []*viewer{first, joining} {
		got := v.until("the answer", has(2))
		if got.Docs.Live != nil || got.Entries[1].ID != id {
			t.Errorf("the answer %s came with %+v", got.Entries[1].ID, got.Docs.Live)
		}
	}
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

func TestAnAnswerToAFewIsNotViewedByOthers(t *testing.T) {
	m := &stepping{words: make(chan string)}
	e := engine(t, skein.Config{Models: func(string) (model.Model, error) { return m, nil }})
	th := open(t, e, "launch", skein.Settings{})
	bob, cem := viewing(t, th, skein.ViewOptions{Viewer: "bob"}), viewing(t, th, skein.ViewOptions{Viewer: "cem"})
	go func() {
		m.words <- "4711"
		close(m.words)
	}()
	if _, err := th.Ask(context.Background(), "ana", "the code?", skein.Audience("cem", "north")); err != nil {
		t.Fatal(err)
	}
	seen := cem.until("the answer", has(2))
	if d := cmp.Diff([]string{"ana: the code?", "north: 4711"}, texts(seen.Entries)); d != "" {
		t.Errorf("cem (-want +got):\n%s", d)
	}
	ctx := context.Background()
	for len(bob.replica.View().Entries) < 2 {
		f, err := bob.watch.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range f.Parts {
			if strings.Contains(string(p), "4711") || strings.Contains(string(p), "code?") {
				t.Errorf("bob was sent %s", p)
			}
		}
		b, err := f.Batch()
		if err != nil {
			t.Fatal(err)
		}
		if err := bob.replica.Applied(b); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhoAnswersIsViewed(t *testing.T) {
	var ran atomic.Int64
	e := engine(t, skein.Config{
		Agents: []skein.Agent{asking(), {Name: "west"}}, Tools: []tool.Tool{writes(t, "write", &ran)},
		Models: script(t, calls("write"), "It is written.", `{"error":{"code":"provider","message":"it broke"}}`),
	})
	th := open(t, e, "launch", skein.Settings{})
	v := viewing(t, th, skein.ViewOptions{})
	start := v.until("the agent", has(0)).Docs.Agent
	if start.Name != "north" || start.Model != "echo" || !strings.Contains(strings.Join(start.Tools, " "), "write") {
		t.Errorf("%+v", start)
	}
	_, err := th.Ask(context.Background(), "ana", "write it")
	waits(t, err)
	asked := v.until("the question", func(v view.View) bool { return len(v.Docs.Agent.Waiting) == 1 }).Docs.Agent
	if w := asked.Waiting[0]; w.Call != "write-0" || w.Tool != "write" || w.Reason == "" || asked.Turn == 0 {
		t.Errorf("%+v", asked)
	}
	if err := th.Approve(context.Background(), "ana", ""); err != nil {
		t.Fatal(err)
	}
	if err := th.Reply(context.Background()); err != nil {
		t.Fatal(err)
	}
	v.until("the end of the turn", func(v view.View) bool {
		return len(v.Docs.Agent.Waiting) == 0 && v.Docs.Agent.Turn == 0 && len(v.Entries) == 4 && v.Docs.Live == nil
	})
	if _, err := th.Ask(context.Background(), "ana", "once more"); err == nil {
		t.Fatal("the model should fail")
	}
	v.until("the failure", func(v view.View) bool {
		return v.Docs.Agent.Error != nil && strings.Contains(v.Docs.Agent.Error.Message, "it broke")
	})
	if err := th.Set(context.Background(), skein.Settings{Agent: "west"}); err != nil {
		t.Fatal(err)
	}
	v.until("another agent", func(v view.View) bool { return v.Docs.Agent.Name == "west" })
}

func TestClosingTheEngineEndsItsViews(t *testing.T) {
	e, err := skein.Open(context.Background(), skein.Config{Store: memory.New(memory.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	th := open(t, e, "launch", skein.Settings{})
	v := viewing(t, th, skein.ViewOptions{})
	v.until("the snapshot", has(0))
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	ended(t, v.watch, thread.Aborted)
	if _, err := th.View(context.Background(), skein.ViewOptions{}); thread.CodeOf(err) != thread.Aborted {
		t.Errorf("a view of a closed engine: %v", err)
	}
}

func TestPagesOfAThread(t *testing.T) {
	e := engine(t, skein.Config{})
	th := open(t, e, "launch", skein.Settings{})
	for i := range 7 {
		if _, err := th.Say(context.Background(), "ana", fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	q := skein.PageQuery{Limit: 3, Order: skein.OldestFirst}
	for {
		p, err := th.Page(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, texts(p.Items)...)
		if q.Cursor = p.Next; q.Cursor == "" {
			break
		}
	}
	if d := cmp.Diff("ana: 0 ana: 1 ana: 2 ana: 3 ana: 4 ana: 5 ana: 6", strings.Join(got, " ")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// A window of the newest messages is kept up: the first frame is a snapshot, what
// follows are changes.
func ExampleThread_View() {
	ctx := context.Background()
	engine, err := skein.Open(ctx, skein.Config{Store: memory.New(memory.Options{})})
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	th, err := engine.OpenThread(ctx, "launch", skein.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	watch, err := th.View(ctx, skein.ViewOptions{Tail: 20})
	if err != nil {
		log.Fatal(err)
	}
	defer watch.Close()
	if _, err := th.Say(ctx, "ana", "Where do we launch?"); err != nil {
		log.Fatal(err)
	}
	var replica view.Replica
	for len(replica.View().Entries) == 0 {
		frame, err := watch.Next(ctx)
		if err != nil {
			log.Fatal(err)
		}
		batch, err := frame.Batch()
		if err != nil {
			log.Fatal(err)
		}
		if err := replica.Applied(batch); err != nil {
			log.Fatal(err)
		}
	}
	for _, e := range replica.View().Entries {
		fmt.Println(e.Seq, e.Message.Author, e.Message.PlainText())
	}

	// Output:
	// 1 ana Where do we launch?
}
