package client_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/skeinhq/skein/view"
)

// javascript is where the other client is.
const javascript = "../web/client"

// node gives the command, and passes over the test where there is none.
func node(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("SKEIN_REQUIRE") == "all" {
			t.Fatalf("node is missing: %v", err)
		}
		t.Skipf("node is missing: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir = javascript
	cmd.Env = append(os.Environ(), "SKEIN_SHARED="+shared(t))
	return cmd
}

// shared is the folder of worked cases, as seen from anywhere.
func shared(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("SKEIN_SHARED")
	if dir == "" {
		dir = "../../shared"
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestTheJavaScriptClientsTests(t *testing.T) {
	s := open(t, 200)
	cmd := node(t, "--experimental-websocket", "--test", "--test-reporter=tap", "--test-timeout=120000")
	cmd.Env = append(cmd.Env, "SKEIN_URL="+s.url())
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "\n# fail 0\n") || strings.Contains(string(out), "\n# pass 0\n") {
		t.Fatalf("node --test: %v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "# SKIP") {
			t.Log(strings.TrimSpace(line))
		}
	}
}

// twin is a replica in JavaScript: a process that is told what happens and says what
// it then holds.
type twin struct {
	t   *testing.T
	in  *bufio.Writer
	out *bufio.Reader
}

// told is what a replica holds, or the code of what was wrong with what it was told.
type told struct {
	Fault   view.FaultCode `json:"fault,omitempty"`
	View    any            `json:"view"`
	Ranges  [][]int64      `json:"ranges"`
	Holes   []view.Hole    `json:"holes"`
	Earlier int64          `json:"earlier"`
	From    int64          `json:"from,omitempty"`
	Epoch   string         `json:"epoch,omitempty"`
}

func newTwin(t *testing.T) *twin {
	t.Helper()
	cmd := node(t, "testing/twin.js")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil && t.Context().Err() == nil {
			t.Errorf("the twin: %v", err)
		}
	})
	return &twin{t: t, in: bufio.NewWriter(in), out: bufio.NewReader(out)}
}

func (w *twin) tell(what map[string]any) told {
	w.t.Helper()
	if _, err := w.in.Write(append(encoded(what), '\n')); err != nil {
		w.t.Fatal(err)
	}
	if err := w.in.Flush(); err != nil {
		w.t.Fatal(err)
	}
	line, err := w.out.ReadBytes('\n')
	if err != nil {
		w.t.Fatal(err)
	}
	var out told
	if err := json.Unmarshal(line, &out); err != nil {
		w.t.Fatalf("%v: %s", err, line)
	}
	return out
}

// tells says what the replica in Go holds.
func tells(r *view.Replica, err error) told {
	v := r.View()
	out := told{Ranges: held(r.Ranges()), Holes: append([]view.Hole{}, r.Holes()...), Earlier: r.Earlier()}
	if v.Thread.Epoch != "" {
		v.Entries = append([]view.Entry{}, v.Entries...) // none are [], never null
		if err := json.Unmarshal(encoded(v), &out.View); err != nil {
			panic(err)
		}
	}
	if f, ok := err.(*view.Fault); ok {
		out.Fault = f.Code
	} else if err != nil {
		panic(err)
	}
	return out
}

// Whatever a server does, and however often the link is lost, both replicas hold the
// same after every step.
func TestBothReplicasHoldTheSame(t *testing.T) {
	js := newTwin(t)
	rapid.Check(t, func(t *rapid.T) {
		m := newModel("t")
		for range rapid.IntRange(0, 12).Draw(t, "said") {
			m.say("hi", 0)
		}
		var (
			r      view.Replica
			log    []string
			seat   *seat
			tail   = rapid.IntRange(1, 5).Draw(t, "tail")
			spoilt func(*view.Batch)
			faulty bool
		)
		same := func(what map[string]any, err error) {
			want, got := tells(&r, err), js.tell(what)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("after\n%s\nthe replicas differ (- Go, + JavaScript):\n%s", strings.Join(log, "\n"), diff)
			}
		}
		apply := func(b view.Batch) {
			if faulty {
				return // nobody listens any more
			}
			if spoilt != nil {
				b.Ops = slices.Clone(b.Ops)
				spoilt(&b)
				spoilt = nil
			}
			data := encoded(b)
			log = append(log, "  "+string(data))
			var read view.Batch
			err := json.Unmarshal(data, &read)
			if err == nil {
				err = r.Applied(read)
			}
			faulty = err != nil
			same(map[string]any{"apply": data}, err)
		}
		watch := func() {
			faulty = false
			from, epoch := int64(0), ""
			if r.View().Thread.Epoch != "" {
				from, epoch = r.Resume()
				got := js.tell(map[string]any{"resume": true})
				if got.From != from || got.Epoch != epoch {
					t.Fatalf("after\n%s\nGo resumes from %d %s, JavaScript from %d %s", strings.Join(log, "\n"), from, epoch, got.From, got.Epoch)
				}
			}
			log = append(log, fmt.Sprintf("watch from %d %s", from, epoch))
			seat = m.watch(tail, from, epoch, apply)
		}
		js.tell(map[string]any{"begin": true})
		watch()
		happens := map[string]func(*rapid.T){
			"say":    func(t *rapid.T) { m.say("hi", int64(rapid.IntRange(0, 2).Draw(t, "gap"))) },
			"say it": func(*rapid.T) { m.say("hi", 0) },
			"piece": func(t *rapid.T) {
				m.piece(rapid.SampledFrom([]string{"a", "é", "漢", "👩‍👩‍👧 "}).Draw(t, "text"))
			},
			"rewind": func(t *rapid.T) { m.rewind(rapid.IntRange(0, len(m.active)).Draw(t, "keep")) },
			"restore": func(t *rapid.T) {
				if rapid.IntRange(0, 3).Draw(t, "seldom") == 0 {
					m.restore(rapid.IntRange(0, len(m.active)).Draw(t, "keep"))
				}
			},
			"overflow": func(*rapid.T) { m.overflow() },
		}
		names := []string{"say", "say it", "piece", "rewind", "restore", "overflow"}
		steps := map[string]func(*rapid.T){
			"lost": func(t *rapid.T) {
				m.leave(seat)
				for _, name := range rapid.SliceOfN(rapid.SampledFrom(names), 0, 12).Draw(t, "meanwhile") {
					log = append(log, "meanwhile "+name)
					happens[name](t)
				}
				watch()
			},
			"fault": func(t *rapid.T) {
				spoilt = rapid.SampledFrom([]func(*view.Batch){
					func(b *view.Batch) { b.N++ },
					func(b *view.Batch) { b.N-- },
					func(b *view.Batch) { b.Ops = append(b.Ops, view.Append(1, "x", "docs", "live", "text")) },
					func(b *view.Batch) { b.Ops = append(b.Ops, view.Splice(1000, 0)) },
					func(b *view.Batch) { b.Ops = append(b.Ops, view.Splice(0, 1)) },
					func(b *view.Batch) { b.Ops = append(b.Ops, view.Set(encoded(-1), "length")) },
					func(b *view.Batch) { b.Ops = append(b.Ops, view.Set(encoded(1<<40), "from")) },
				}).Draw(t, "how")
				m.say("hi", 0)
				if faulty {
					m.leave(seat)
					watch()
				}
			},
			"page": func(t *rapid.T) {
				before := int64(rapid.IntRange(1, int(m.tip)+2).Draw(t, "before"))
				page := m.page(before, rapid.IntRange(1, 8).Draw(t, "limit"))
				switch rapid.IntRange(0, 9).Draw(t, "odd") {
				case 0:
					page.Branch++
				case 1:
					slices.Reverse(page.Items)
				}
				log = append(log, fmt.Sprintf("page %v", seqs(page.Items)))
				same(map[string]any{"page": page}, r.Fetched(page))
			},
		}
		for name, happen := range happens {
			steps[name] = happen
		}
		t.Repeat(steps)
	})
}
