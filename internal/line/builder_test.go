package line_test

import (
	"context"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeinhq/skein/internal/line"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/store/memory"
	"github.com/skeinhq/skein/thread"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a model that a test makes up. It sees which entries it is asked for.
type fake func(ctx context.Context, r *model.Request, ids []string) (string, error)

// callUsage is what every call of a fake takes: numbers that do not divide.
var callUsage = thread.Usage{Input: 101, CacheRead: 7, Output: 53, Cost: 0.01}

func (f fake) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		text, err := f(ctx, r, idsOf(r))
		if err != nil {
			yield(model.Event{}, err)
			return
		}
		yield(model.Event{Type: model.Done, Parts: []thread.Part{thread.Text(text)}, Stop: thread.StopEnd, Usage: callUsage}, nil)
	}
}

var (
	entryID   = regexp.MustCompile(`<entry id="(\d+\+\d+)">`)
	complaint = regexp.MustCompile(`(?m)^(\d+\+\d+): `)
)

// lastAsked is the newest message of a request.
func lastAsked(r *model.Request) string { return r.Messages[len(r.Messages)-1].Parts[0].Text }

func idsOf(r *model.Request) []string {
	find := entryID
	if len(r.Messages) > 1 {
		find = complaint
	}
	var ids []string
	for _, m := range find.FindAllStringSubmatch(lastAsked(r), -1) {
		ids = append(ids, m[1])
	}
	return ids
}

// each answers every entry with the same text.
func each(text string) fake {
	return func(_ context.Context, _ *model.Request, ids []string) (string, error) {
		var b strings.Builder
		for _, id := range ids {
			fmt.Fprintf(&b, "%s|%s\n", id, text)
		}
		return b.String(), nil
	}
}

// bench is a store with one thread, and a builder over it.
type bench struct {
	*testing.T
	store   store.Store
	key     thread.Key
	builder *line.Builder

	mu        sync.Mutex
	published []thread.Node
}

var start = time.Date(2026, 11, 30, 16, 0, 0, 0, time.UTC)

// newBench makes a bench; the config's store and observer are its own.
func newBench(t *testing.T, c line.Config) *bench {
	t.Helper()
	b := &bench{T: t, store: memory.New(memory.Options{Now: func() time.Time { return start }})}
	b.key = b.create("t")
	c.Store = b.store
	c.Published = func(_ thread.Thread, nodes []thread.Node) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.published = append(b.published, nodes...)
	}
	b.builder = line.NewBuilder(t.Context(), c)
	return b
}

// close ends the builder and checks the store.
func (b *bench) close() {
	b.Helper()
	b.builder.Close()
	for err := range b.store.Check(context.Background()) {
		b.Errorf("check: %v", err)
	}
}

func (b *bench) create(id string) thread.Key {
	b.Helper()
	t, err := b.store.Create(b.Context(), store.NewThread{Key: thread.Key{ID: id}})
	if err != nil {
		b.Fatal(err)
	}
	return t.Key
}

// say appends messages, each with its own line where it is short enough.
func (b *bench) say(key thread.Key, messages ...*thread.Message) {
	b.Helper()
	for _, m := range messages {
		e := store.New{Entry: thread.Say(*m)}
		if text, ok := line.Verbatim(m); ok {
			e.Line = text
		}
		if _, err := b.store.Append(b.Context(), key, store.Draft{Entries: []store.New{e}}); err != nil {
			b.Fatal(err)
		}
	}
}

func (b *bench) thread(key thread.Key) *thread.Thread {
	b.Helper()
	t, err := b.store.Thread(b.Context(), key.Space, key.ID)
	if err != nil {
		b.Fatal(err)
	}
	return &t
}

func (b *bench) node(span string) thread.Node {
	b.Helper()
	s, err := thread.ParseSpan(span)
	if err != nil {
		b.Fatal(err)
	}
	nodes, err := b.store.Nodes(b.Context(), b.thread(b.key), []thread.Span{s})
	if err != nil {
		b.Fatal(err)
	}
	if len(nodes) != 1 {
		b.Fatalf("%s is not built", span)
	}
	return nodes[0]
}

// tree checks every node of the thread against what it was made from, and that
// none is missing, and gives them all.
func (b *bench) tree(messages []*thread.Message) []thread.Node {
	b.Helper()
	var all []thread.Node
	t := b.thread(b.key)
	for n := int64(1); n <= t.Length; n *= 2 {
		for id := int64(0); id+n <= t.Length; id += n {
			got := b.node(thread.Span{ID: id, N: n}.String())
			if n == 1 {
				check(b, got.Text, line.Leaf(messages[id]))
			} else {
				left, right := got.Span.Halves()
				check(b, got.Text, b.node(left.String()).Text, b.node(right.String()).Text)
			}
			all = append(all, got)
		}
	}
	if due, err := b.store.Due(b.Context(), t, 10); err != nil || len(due) > 0 {
		b.Errorf("due: %v, %v", due, err)
	}
	return all
}

// waitIdle lets all waits pass, in the time of the test's bubble.
func (b *bench) waitIdle() {
	time.Sleep(time.Hour)
	synctest.Wait()
}

func (b *bench) status() line.Status {
	b.Helper()
	s, err := b.builder.Status(b.Context(), b.key)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// long makes n messages that are too long for a line, each its own.
func long(n int) []*thread.Message {
	messages := make([]*thread.Message, n)
	for i := range messages {
		var text strings.Builder
		for k := range 12 {
			fmt.Fprintf(&text, "In note %d of %d we looked at src/part%d.go and found that the harbour was quiet. ", 100+k, 1000+i, i)
		}
		messages[i] = say("ana", "north", text.String())
	}
	return messages
}

func TestBuilderWithoutAModelWritesByRule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, line.Config{})
		defer b.close()
		messages := append(long(70), say("ana", "north", "short"))
		b.say(b.key, messages...)
		b.builder.Wake(b.key)
		synctest.Wait()
		for _, n := range b.tree(messages) {
			if n.By != thread.ByExtractive && n.By != thread.ByJoined && n.By != thread.ByVerbatim {
				t.Errorf("%s is by %s", n.Span, n.By)
			}
		}
		if s := b.status(); s != (line.Status{}) {
			t.Errorf("status %+v, want nothing left", s)
		}
	})
}

func TestPublishedHearsOfEveryNodeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, line.Config{})
		defer b.close()
		messages := long(32)
		b.say(b.key, messages...)
		b.builder.Wake(b.key)
		synctest.Wait()
		seen := map[thread.Span]bool{}
		for _, n := range b.published {
			if seen[n.Span] {
				t.Errorf("%s was published twice", n.Span)
			}
			seen[n.Span] = true
		}
		if all := b.tree(messages); len(seen) != len(all) {
			t.Errorf("%d nodes were published of %d", len(seen), len(all))
		}
	})
}

func TestModelWritesTheLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, most := 0, 0
		answer := each("the harbour was quiet")
		m := fake(func(ctx context.Context, r *model.Request, ids []string) (string, error) {
			calls++
			most = max(most, len(ids))
			leaves := 0
			for _, id := range ids {
				if strings.HasSuffix(id, "+1") {
					leaves++
				}
			}
			if len(ids) > 16 || leaves > 8 {
				t.Errorf("a call of %d entries, %d of them leaves: %q", len(ids), leaves, ids)
			}
			if r.Model != "tiny-1" || len(r.Tools) > 0 {
				t.Errorf("request for %q with %d tools", r.Model, len(r.Tools))
			}
			return answer(ctx, r, ids)
		})
		b := newBench(t, line.Config{Model: m, ModelName: "tiny-1"})
		defer b.close()
		messages := long(40)
		b.say(b.key, messages...)
		b.builder.Wake(b.key)
		synctest.Wait()
		var sum thread.Usage
		for _, n := range b.tree(messages) {
			switch {
			case n.Span.N == 1 && (n.By != "tiny-1" || n.Text != "ana → north: the harbour was quiet" || n.Version != line.ModelVersion):
				t.Errorf("%+v", n)
			case n.By == "tiny-1" && n.Usage == nil:
				t.Errorf("%s has no usage", n.Span)
			}
			if n.Usage != nil {
				sum.Add(*n.Usage)
			}
		}
		want := thread.Usage{}
		for range calls {
			want.Add(callUsage)
		}
		sum.Cost, want.Cost = round(sum.Cost), round(want.Cost)
		if sum != want {
			t.Errorf("the nodes took %+v, %d calls took %+v", sum, calls, want)
		}
		if most < 8 {
			t.Errorf("no call had more than %d entries", most)
		}
	})
}

func round(cost float64) float64 { return float64(int64(cost*1e6+0.5)) / 1e6 }

func TestCallsAtOnceOverAllThreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, most := 0, 0
		answer := each("quiet")
		m := fake(func(ctx context.Context, r *model.Request, ids []string) (string, error) {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			now--
			mu.Unlock()
			return answer(ctx, r, ids)
		})
		b := newBench(t, line.Config{Model: m, ModelName: "tiny", Concurrency: 3})
		defer b.close()
		for i := range 10 {
			key := b.create(fmt.Sprint("t", i))
			b.say(key, long(2)...)
			b.builder.Wake(key)
		}
		b.waitIdle()
		if most != 3 {
			t.Errorf("%d calls ran at once, want 3", most)
		}
		if keys, err := b.store.DueThreads(t.Context(), 10); err != nil || len(keys) > 0 {
			t.Errorf("still due: %v, %v", keys, err)
		}
	})
}

func TestAFailingModelIsLeftAloneAfterThreeFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		var sizes []int
		broken := true
		begin := time.Now()
		answer := each("quiet")
		m := fake(func(ctx context.Context, r *model.Request, ids []string) (string, error) {
			if !broken {
				return answer(ctx, r, ids)
			}
			at = append(at, time.Since(begin))
			sizes = append(sizes, len(ids))
			return "", &thread.Error{Code: thread.Provider, Message: "overloaded"}
		})
		b := newBench(t, line.Config{Model: m, ModelName: "tiny", Now: time.Now})
		defer b.close()
		messages := long(10)
		b.say(b.key, messages...)
		b.builder.Wake(b.key)
		synctest.Wait()
		b.builder.Wake(b.key) // does not cut the wait short
		b.waitIdle()
		if want := []time.Duration{0, 2 * time.Second, 10 * time.Second}; !slices.Equal(at, want) {
			t.Errorf("it was called at %v, want %v", at, want)
		}
		if want := []int{8, 4, 1}; !slices.Equal(sizes, want) {
			t.Errorf("with %v entries, want %v", sizes, want)
		}
		s := b.status()
		if !s.Paused || s.Backlog != 10 || thread.CodeOf(s.Err) != thread.Provider || s.At.Sub(begin) != 10*time.Second {
			t.Errorf("status %+v", s)
		}
		for _, n := range b.published {
			t.Errorf("%s was built by %s", n.Span, n.By)
		}

		broken = false
		b.builder.Wake(b.key)
		synctest.Wait()
		b.tree(messages)
		if s := b.status(); s != (line.Status{}) {
			t.Errorf("after it works again: %+v", s)
		}
	})
}

func TestFillWritesByRuleAtOnceAndForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := each("the model came late")
		m := fake(func(ctx context.Context, r *model.Request, ids []string) (string, error) {
			time.Sleep(time.Minute)
			return answer(ctx, r, ids)
		})
		b := newBench(t, line.Config{Model: m, ModelName: "tiny"})
		defer b.close()
		messages := long(12)
		b.say(b.key, messages...)
		b.builder.Wake(b.key)
		synctest.Wait()
		if err := b.builder.Fill(t.Context(), b.thread(b.key), 8); err != nil {
			t.Fatal(err)
		}
		for _, span := range []string{"0+1", "7+1", "0+2", "0+4", "4+4", "0+8"} {
			if n := b.node(span); n.By != thread.ByExtractive {
				t.Errorf("%s is by %s", span, n.By)
			}
		}
		if s := b.status(); s.Backlog != 4 {
			t.Errorf("%d are due, want the 4 leaves above", s.Backlog)
		}
		b.waitIdle()
		if n := b.node("3+1"); n.By != thread.ByExtractive {
			t.Errorf("a late model took the place of a line: %+v", n)
		}
		if n := b.node("9+1"); n.By != "tiny" {
			t.Errorf("9+1 is by %s", n.By)
		}
		b.tree(messages)
	})
}

func TestFillEndsWithItsContext(t *testing.T) {
	b := newBench(t, line.Config{})
	defer b.close()
	b.say(b.key, long(4)...)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.builder.Fill(ctx, b.thread(b.key), 4); err == nil {
		t.Error("it did not say that it was stopped")
	}
}

func TestLargeFill(t *testing.T) {
	b := newBench(t, line.Config{})
	defer b.close()
	messages := long(700)
	b.say(b.key, messages...)
	if err := b.builder.Fill(t.Context(), b.thread(b.key), 700); err != nil {
		t.Fatal(err)
	}
	b.tree(messages)
}

func TestResumeWakesWhatIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, line.Config{})
		defer b.close()
		b.say(b.key, long(3)...)
		other := b.create("other")
		b.say(other, long(3)...)
		gone := b.create("gone")
		b.say(gone, long(3)...)
		if err := b.store.Delete(t.Context(), gone); err != nil {
			t.Fatal(err)
		}
		if err := b.builder.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.builder.Wake(gone)
		b.builder.Wake(thread.Key{ID: "never made", Root: "never made"})
		synctest.Wait()
		for key, want := range map[thread.Key]int64{b.key: 0, other: 0, gone: 3} {
			if got := b.thread(key).Backlog; got != want {
				t.Errorf("%s has %d due, want %d", key.ID, got, want)
			}
		}
	})
}

func TestAForkWritesLinesOfItsOrigin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, line.Config{})
		defer b.close()
		messages := long(4)
		b.say(b.key, messages...)
		f, err := b.store.Fork(t.Context(), b.thread(b.key), 3, "fork", "")
		if err != nil {
			t.Fatal(err)
		}
		b.builder.Wake(f.Key)
		synctest.Wait()
		b.tree(messages)
	})
}

func TestWritesSaysForWhichThreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, line.Config{Model: each("quiet"), ModelName: "tiny", Writes: func(t *thread.Thread) bool { return t.ID != "t" }})
		defer b.close()
		b.say(b.key, long(1)...)
		b.builder.Wake(b.key)
		synctest.Wait()
		if n := b.node("0+1"); n.By != thread.ByExtractive {
			t.Errorf("it is by %s", n.By)
		}
	})
}

func TestCloseStopsACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := fake(func(ctx context.Context, _ *model.Request, _ []string) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		})
		b := newBench(t, line.Config{Model: m, ModelName: "tiny"})
		b.say(b.key, long(1)...)
		b.builder.Wake(b.key)
		synctest.Wait()
		b.close()
		b.builder.Wake(b.key)
		b.builder.Close()
		if got := b.thread(b.key).Backlog; got != 1 {
			t.Errorf("%d are due, want 1", got)
		}
	})
}

// noting is a store that notes which lines were stored together.
type noting struct {
	store.Store
	mu   sync.Mutex
	puts []string
}

func (n *noting) stored() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.puts)
}

func (n *noting) PutNodes(ctx context.Context, t *thread.Thread, nodes []thread.Node) ([]thread.Node, error) {
	var spans []string
	for _, node := range nodes {
		spans = append(spans, node.Span.String())
	}
	n.mu.Lock()
	n.puts = append(n.puts, strings.Join(spans, " "))
	n.mu.Unlock()
	return n.Store.PutNodes(ctx, t, nodes)
}

// Lines are stored with as few writes as can be: with those that became due first
// all above them, and then all of what was said within the tenth of a second after.
func TestLinesThatAreReadyAreStoredTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, line.Config{})
		b.builder.Close()
		note := &noting{Store: b.store}
		b.builder = line.NewBuilder(t.Context(), line.Config{Store: note})
		defer b.close()
		messages := long(7)
		b.say(b.key, messages[:4]...)
		b.builder.Wake(b.key)
		synctest.Wait()
		for _, m := range messages[4:] {
			b.say(b.key, m)
			b.builder.Wake(b.key)
			synctest.Wait()
		}
		first := []string{"0+1 1+1 2+1 3+1 0+2 2+2 0+4"}
		if got := note.stored(); !slices.Equal(got, first) {
			t.Errorf("at once %q were stored, want %q", got, first)
		}
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()
		if got, want := note.stored(), append(first, "4+1 5+1 6+1 4+2"); !slices.Equal(got, want) {
			t.Errorf("later %q were stored, want %q", got, want)
		}
		b.tree(messages)
	})
}

// Nobody may come back for long: what lingers when a builder is closed is written.
func TestLinesThatWaitAreWrittenAtClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, line.Config{})
		messages := long(3)
		for _, m := range messages {
			b.say(b.key, m)
			b.builder.Wake(b.key)
			synctest.Wait()
		}
		if got := b.thread(b.key).Backlog; got != 2 {
			t.Errorf("%d are due while others are waited for, want 2", got)
		}
		b.close()
		b.tree(messages)
	})
}

// rival is a store to which somebody else writes a line just before.
type rival struct {
	store.Store
	first []thread.Node
}

func (r *rival) PutNodes(ctx context.Context, t *thread.Thread, nodes []thread.Node) ([]thread.Node, error) {
	first := r.first
	r.first = nil
	if _, err := r.Store.PutNodes(ctx, t, first); err != nil {
		return nil, err
	}
	return r.Store.PutNodes(ctx, t, nodes)
}

// Two may write the same lines at once: whoever comes first, a line stands for the
// two that are stored.
func TestALineIsMadeOfTheLinesThatAreStored(t *testing.T) {
	b := newBench(t, line.Config{})
	b.builder.Close()
	theirs := thread.Node{Span: thread.Span{ID: 0, N: 1}, Text: "ana: " + strings.Repeat("other words ", 40), By: "small-model"}
	b.builder = line.NewBuilder(t.Context(), line.Config{Store: &rival{Store: b.store, first: []thread.Node{theirs}}})
	defer b.close()
	b.say(b.key, long(4)...)
	now := b.thread(b.key)
	if err := b.builder.Fill(t.Context(), now, now.Length); err != nil {
		t.Fatal(err)
	}
	if got := b.node("0+1"); got.By != "small-model" {
		t.Fatalf("0+1 is %+v", got)
	}
	for _, parent := range []string{"0+2", "2+2", "0+4"} {
		span, err := thread.ParseSpan(parent)
		if err != nil {
			t.Fatal(err)
		}
		left, right := span.Halves()
		if got, want := b.node(parent).Text, line.Merge(b.node(left.String()).Text, b.node(right.String()).Text); got != want {
			t.Errorf("%s is %q, and of its halves %q would be made", parent, got, want)
		}
	}
}

// breaking is a store that fails badly, so many times.
type breaking struct {
	store.Store
	times atomic.Int64
}

func (b *breaking) Due(ctx context.Context, t *thread.Thread, limit int) ([]thread.Span, error) {
	if b.times.Add(-1) >= 0 {
		panic("a fault of the program")
	}
	return b.Store.Due(ctx, t, limit)
}

// A panic is an error of one thread's lines, told like others and tried again, and
// ends nothing else.
func TestAPanicFailsTheLinesOfItsThreadAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, line.Config{})
		b.builder.Close()
		broken := &breaking{Store: b.store}
		broken.times.Store(1)
		reported := make(chan error, 9)
		b.builder = line.NewBuilder(t.Context(), line.Config{Store: broken, Report: func(_ string, err error) { reported <- err }})
		defer b.close()
		messages := long(2)
		b.say(b.key, messages...)
		b.builder.Wake(b.key)
		synctest.Wait()
		status, err := b.builder.Status(t.Context(), b.key)
		if err != nil {
			t.Fatal(err)
		}
		if f := thread.FaultOf(status.Err); f == nil || f.Value != "a fault of the program" || len(f.Stack) == 0 {
			t.Errorf("the status tells %v", status.Err)
		}
		if n := len(reported); n != 1 || <-reported != status.Err {
			t.Errorf("%d were reported, want the one that the status tells", n)
		}
		time.Sleep(line.DefaultBackoff + time.Second)
		synctest.Wait()
		b.tree(messages)
	})
}

// Where many write at once, what one of them did not finish is missing and told.
func TestAPanicOfOneOfManyIsTold(t *testing.T) {
	var done atomic.Int64
	err := line.Spread(t.Context(), "t", 100, func(i int) {
		if i == 0 {
			panic("a fault of the program")
		}
		done.Add(1)
	})
	if f := thread.FaultOf(err); f == nil || f.Value != "a fault of the program" || done.Load() > 99 {
		t.Errorf("%d of 100 were done, and the error is %v", done.Load(), err)
	}
	if err := line.Spread(t.Context(), "t", 100, func(int) { done.Add(1) }); err != nil {
		t.Error(err)
	}
}

// latecomer is a store in which somebody speaks just after a worker found that
// nothing is due.
type latecomer struct {
	store.Store
	speak func()
}

func (l *latecomer) Due(ctx context.Context, t *thread.Thread, limit int) ([]thread.Span, error) {
	due, err := l.Store.Due(ctx, t, limit)
	if speak := l.speak; len(due) == 0 && speak != nil {
		l.speak = nil
		speak()
	}
	return due, err
}

func TestAWakeWhileAWorkerEndsIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, line.Config{})
		b.builder.Close()
		late := &latecomer{Store: b.store}
		b.builder = line.NewBuilder(t.Context(), line.Config{Store: late})
		defer b.close()
		messages := long(2)
		late.speak = func() {
			b.say(b.key, messages[1])
			b.builder.Wake(b.key)
		}
		b.say(b.key, messages[0])
		b.builder.Wake(b.key)
		synctest.Wait()
		b.tree(messages)
	})
}

func TestWakingIsNeverLost(t *testing.T) {
	b := newBench(t, line.Config{})
	defer b.close()
	messages := long(200)
	for _, m := range messages {
		b.say(b.key, m)
		b.builder.Wake(b.key)
	}
	deadline := time.Now().Add(time.Minute)
	for b.thread(b.key).Backlog > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("%d stay due", b.thread(b.key).Backlog)
		}
		time.Sleep(time.Millisecond)
	}
	b.tree(messages)
}

// BenchmarkBatch fills threads of 64 long messages: 64 leaves and the 63 lines
// above them.
func BenchmarkBatch(b *testing.B) {
	messages := long(64)
	s := memory.New(memory.Options{})
	builder := line.NewBuilder(b.Context(), line.Config{Store: s})
	defer builder.Close()
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		n++
		t, err := s.Create(b.Context(), store.NewThread{Key: thread.Key{ID: fmt.Sprint("t", n)}})
		if err != nil {
			b.Fatal(err)
		}
		var d store.Draft
		for _, m := range messages {
			d.Entries = append(d.Entries, store.New{Entry: thread.Say(*m)})
		}
		w, err := s.Append(b.Context(), t.Key, d)
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if err := builder.Fill(b.Context(), &w.Thread, 64); err != nil {
			b.Fatal(err)
		}
	}
}
