package sqlite

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
	"pgregory.net/rapid"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// logOf makes up where the messages of a branch lie: now and then other entries
// lie between two of them.
func logOf(t *rapid.T) (seqs []int64) {
	seq := rapid.Int64Range(0, 5).Draw(t, "before")
	for _, gap := range rapid.SliceOfN(rapid.SampledFrom([]int64{1, 1, 1, 1, 1, 1, 2, 3}), 1, 60).Draw(t, "gaps") {
		seq += gap
		seqs = append(seqs, seq)
	}
	return seqs
}

func TestWhatIsKnownOfPlacesIsSo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPlaces()
		start := rapid.Int64Range(0, 100).Draw(t, "start")
		logs := map[branch][]int64{{1, 0}: logOf(t), {1, 7}: logOf(t), {2, 0}: logOf(t)}
		told := map[branch][]int{}
		for range rapid.IntRange(1, 80).Draw(t, "rounds") {
			b := rapid.SampledFrom([]branch{{1, 0}, {1, 7}, {2, 0}}).Draw(t, "branch")
			i := rapid.IntRange(0, len(logs[b])-1).Draw(t, "i")
			j := rapid.IntRange(i, len(logs[b])-1).Draw(t, "j")
			for logs[b][j]-logs[b][i] != int64(j-i) {
				j--
			}
			p.note(b, start+int64(i), start+int64(j), logs[b][i]-start-int64(i))
			if i < j {
				told[b] = append(told[b], i, j)
			}
		}
		size := len(p.on)
		for b, seqs := range logs {
			for i, seq := range seqs {
				found, n := p.find(b, start+int64(i))
				if n > 0 && found != seq {
					t.Fatalf("%v: message %d is said to lie at %d, not at %d", b, i, found, seq)
				}
				for k := range n {
					if i+int(k) >= len(seqs) || seqs[i+int(k)] != seq+k {
						t.Fatalf("%v: %d messages from %d on are said to lie without a gap: %v", b, n, i, seqs)
					}
				}
			}
			for _, i := range told[b] {
				if _, n := p.find(b, start+int64(i)); n == 0 {
					t.Errorf("%v: message %d was told, and is not known", b, i)
				}
			}
			for _, outside := range []int64{-1, int64(len(seqs))} {
				if _, n := p.find(b, start+outside); n > 0 {
					t.Errorf("%v: message %d is known, and there is none", b, outside)
				}
			}
			if p.on[b] == nil {
				continue
			}
			runs := p.on[b].runs
			for i, r := range runs {
				if r.first >= r.last || i > 0 && (runs[i-1].last >= r.first || runs[i-1].shift == r.shift) {
					t.Errorf("%v: the runs are not apart: %v", b, runs)
				}
			}
			size += len(runs)
		}
		if p.size != size {
			t.Errorf("%d branches and runs are counted, there are %d", p.size, size)
		}
	})
}

func TestWhatIsRememberedOfPlacesIsBounded(t *testing.T) {
	p := newPlaces()
	r := rand.New(rand.NewPCG(1, 1))
	for row := range int64(mostPlaced/mostRuns + 4) {
		b := branch{row, 0}
		p.note(b, 1, 100, 0)
		for range 2 * mostRuns {
			i := 1000 + 2*r.Int64N(1_000_000)
			p.note(b, i, i+1, i) // other entries lie after every second message
		}
		if n := len(p.on[b].runs); n > mostRuns {
			t.Fatalf("%d runs of a branch are remembered", n)
		}
		if _, n := p.find(b, 50); n == 0 {
			t.Error("of a branch, what says most was forgotten")
		}
	}
	for row := range int64(2 * mostPlaced) {
		p.note(branch{row, 1}, 1, 1, 0)
	}
	size := len(p.on)
	for _, k := range p.on {
		size += len(k.runs)
	}
	if size != p.size || size > mostPlaced {
		t.Errorf("%d branches and runs are remembered, %d are counted, %d may be", size, p.size, mostPlaced)
	}
}

// Where other entries lie between all messages, nothing is to be learnt by looking
// more of them up.
func TestMessagesAmongOtherEntriesAreLookedUpAlone(t *testing.T) {
	p := newPlaces()
	b := branch{1, 0}
	tries := 0
	for i := range int64(1000) {
		if p.worth(b) {
			tries++
			p.note(b, i, i, i)
		}
	}
	if tries > mostLuck+1000/mostRest {
		t.Errorf("%d times of 1000 it was worth it", tries)
	}
	for p.note(b, 5000, 5100, 0); !p.worth(b); {
		t.Fatal("luck does not come back")
	}
}

// A message that is found by the index costs a page of it, of which a long thread
// has more than a connection remembers.
func TestLinesOfMessagesWithoutAGapAreFoundWithoutTheIndex(t *testing.T) {
	s := storeOf(t, 1000)
	th, err := s.Thread(t.Context(), "", "a")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	const rounds = 1000
	for range rounds {
		i := r.Int64N(th.Length/2) * 2
		if nodes, err := s.Nodes(t.Context(), &th, []thread.Span{{ID: i, N: 1}, {ID: i + 1, N: 1}, {ID: i, N: 2}}); err != nil || len(nodes) != 3 {
			t.Fatal(nodes, err)
		}
		for e, err := range s.Messages(t.Context(), &th, i, i+1) {
			if err != nil || e.Index != i {
				t.Fatal(e, err)
			}
		}
	}
	indexed := 0
	for _, c := range s.readers.idle {
		for _, sql := range []string{selectNode, selectRun} {
			if read := c.stmts[sql]; read != nil {
				indexed += read.Status(sqlite3.STMTSTATUS_RUN, false)
			}
		}
	}
	if indexed == 0 || indexed > rounds/20 {
		t.Errorf("of %d reads %d looked messages up", 4*rounds, indexed)
	}
}

func storeOf(t *testing.T, n int) *Store {
	t.Helper()
	s, err := Open(t.Context(), t.TempDir()+"/skein.db", Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	th, err := s.Create(t.Context(), store.NewThread{Key: thread.Key{ID: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	var d store.Draft
	for range n {
		m := thread.Message{Author: "ana", Role: thread.User, Parts: []thread.Part{thread.Text("hello")}, Weight: 1}
		d.Entries = append(d.Entries, store.New{Entry: thread.Say(m), Line: "hello"})
	}
	if _, err := s.Append(t.Context(), th.Key, d); err != nil {
		t.Fatal(err)
	}
	return s
}

// What a store knows of places stays right when another process undoes messages
// and says others under the same indexes.
func TestPlacesStayRightWhateverOthersUndo(t *testing.T) {
	s := storeOf(t, 64)
	other, err := Open(t.Context(), s.path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	lines := func(th *thread.Thread) (out string) {
		t.Helper()
		for i := range th.Length {
			nodes, err := s.Nodes(t.Context(), th, []thread.Span{{ID: i, N: 1}})
			if err != nil || len(nodes) != 1 {
				t.Fatal(nodes, err)
			}
			for e, err := range s.Messages(t.Context(), th, i, i+1) {
				if err != nil || e.Seq != nodes[0].Seq || e.Message.Parts[0].Text != nodes[0].Text {
					t.Fatalf("message %d: %v and %v, %v", i, e, nodes[0], err)
				}
			}
			out += nodes[0].Text + "\n"
		}
		return out
	}
	state := func() *thread.Thread {
		t.Helper()
		th, err := s.Thread(t.Context(), "", "a")
		if err != nil {
			t.Fatal(err)
		}
		return &th
	}
	var states []*thread.Thread
	var read []string
	for round := range int64(4) {
		th := state()
		states, read = append(states, th), append(read, lines(th))
		to := 40 - 10*round
		kept, err := s.Nodes(t.Context(), th, []thread.Span{{ID: to, N: 1}})
		if err != nil {
			t.Fatal(err)
		}
		lease, err := other.Acquire(t.Context(), th.Key, "ana", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		d := store.Draft{Entries: []store.New{{Entry: thread.Entry{
			Kind: thread.RewindKind, Index: thread.NoIndex,
			Rewind: &thread.Rewind{To: kept[0].Seq, Index: to, By: "ana", Undid: th.Length - 1 - to},
		}}}}
		for i := range 30 {
			text := fmt.Sprintf("round %d, %d", round, i)
			m := thread.Message{Author: "ana", Role: thread.User, Parts: []thread.Part{thread.Text(text)}, Weight: 1}
			d.Entries = append(d.Entries, store.New{Entry: thread.Say(m), Line: text})
		}
		if _, err := other.Commit(t.Context(), th.Key, d, store.Guard{Fence: lease.Fence, Tip: th.Tip}); err != nil {
			t.Fatal(err)
		}
		for i, past := range states {
			if now := lines(past); now != read[i] {
				t.Errorf("round %d: the lines as of round %d became\n%swere\n%s", round, i, now, read[i])
			}
		}
		if now := lines(state()); !strings.Contains(now, fmt.Sprintf("round %d, 29", round)) || strings.Contains(now, fmt.Sprintf("round %d, 29", round-1)) {
			t.Errorf("round %d: the lines are\n%s", round, now)
		}
	}
}
