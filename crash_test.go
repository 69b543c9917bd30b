package skein_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/store/sqlite"
	"github.com/skeinhq/skein/strategy"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

// A child process talks in three threads of one database, as busily as it can,
// and says on its standard output what was acknowledged to it. The test kills
// it at a random moment, looks at what is there, and starts the next one on the
// same database.

const crashChild = "SKEIN_CRASH_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashChild); dir != "" {
		if err := talkUntilKilled(dir); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// busy is a model that streams, calls a tool that must not run twice, and looks
// things up. Its answer follows from the request's number alone.
type busy struct{}

func (busy) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		var parts []thread.Part
		stop := thread.StopEnd
		for i := range 6 {
			text := fmt.Sprintf("word %d of answer %d, ", i, r.Number)
			if err := model.Wait(ctx, time.Millisecond); err != nil {
				yield(model.Event{}, err)
				return
			}
			if !yield(model.Event{Type: model.TextDelta, Text: text}, nil) {
				return
			}
			if len(parts) == 0 {
				parts = append(parts, thread.Text(""))
			}
			parts[0].Text += text
		}
		id := func(n int) string { return fmt.Sprintf("call-%d-%d", r.Number, n) }
		switch r.Number % 4 {
		case 1:
			parts, stop = append(parts, thread.Call(id(1), "note", nil), thread.Call(id(2), "zoom", json.RawMessage(`{"id":0,"n":1}`))), thread.StopCalls
		case 3:
			parts, stop = append(parts, thread.Call(id(1), "zoom", json.RawMessage(`{"id":0,"n":2}`)), thread.Call(id(2), "search", json.RawMessage(`{"query":"word"}`)), thread.Call(id(3), "note", nil)), thread.StopCalls
		}
		yield(model.Event{Type: model.Done, Parts: parts, Stop: stop}, nil)
	}
}

// writer writes a line for whatever it is asked for, slowly.
type writer struct{}

func (writer) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if err := model.Wait(ctx, 2*time.Millisecond); err != nil {
			yield(model.Event{}, err)
			return
		}
		yield(model.Event{Type: model.Done, Parts: []thread.Part{thread.Text("a few words were exchanged")}, Stop: thread.StopEnd}, nil)
	}
}

// crashEngine opens the engine that parent and child use. Every run of the note
// tool leaves a line in a file.
func crashEngine(ctx context.Context, dir, lineModel string) (*skein.Engine, error) {
	note := tool.Tool{Name: "note", Description: "Notes that it ran.", Schema: json.RawMessage(`{"type":"object"}`)}
	note.Run = func(context.Context, json.RawMessage) (tool.Output, error) {
		f, err := os.OpenFile(filepath.Join(dir, "ran"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return tool.Output{}, err
		}
		_, err = fmt.Fprintln(f, time.Now().UnixNano())
		if err == nil {
			time.Sleep(3 * time.Millisecond)
			err = f.Close()
		}
		return tool.Output{Text: "noted"}, err
	}
	st, err := sqlite.Open(ctx, filepath.Join(dir, "t.db"), sqlite.Options{})
	if err != nil {
		return nil, err
	}
	return skein.Open(ctx, skein.Config{
		Store: st, Model: "echo-busy", Lease: 250 * time.Millisecond, LineModel: lineModel, Tools: []tool.Tool{note},
		Agents: []skein.Agent{
			{Name: "north"},
			{Name: "careful", Permissions: tool.Permissions{Rules: []tool.Rule{{Decision: tool.Ask, Tools: []string{"note"}}}}, Strategy: strategy.Chain{
				strategy.TruncateToolResults(strategy.Truncate{KeepRecent: 1, MaxCharacters: 200, BatchTokens: 60}),
				strategy.SummarizeHistory(strategy.Summarize{TriggerCharacters: 6000, KeepRecentMessages: 3}),
			}},
		},
		Models: func(name string) (model.Model, error) {
			if name == "echo-writer" {
				return writer{}, nil
			}
			return busy{}, nil
		},
	})
}

// crashThreads are the threads, and who answers in each: the one of the careful
// agent has its history summarized, and waits for approvals.
var crashThreads = map[string]string{"one": "north", "two": "north", "three": "careful"}

// answerAll answers what waits, deciding whatever is asked about.
func answerAll(ctx context.Context, t *skein.Thread) error {
	for n := 0; ; n++ {
		err := t.Reply(ctx)
		if thread.CodeOf(err) != thread.Permission {
			return err
		}
		asked, err := t.Pending(ctx)
		if err != nil {
			return err
		}
		for _, a := range asked {
			decide := t.Approve
			if n%3 == 2 {
				decide = func(ctx context.Context, by, call string) error { return t.Deny(ctx, by, call, "not this one") }
			}
			if err := decide(ctx, "ana", a.Call); err != nil {
				return err
			}
		}
	}
}

func crashSettings(agent string) skein.Settings {
	return skein.Settings{Agent: agent, Tail: skein.Marks{Low: 150, High: 400}, Outline: skein.Marks{Low: 200, High: 400}}
}

func talkUntilKilled(dir string) error {
	ctx := context.Background()
	e, err := crashEngine(ctx, dir, os.Getenv("SKEIN_CRASH_LINES"))
	if err != nil {
		return err
	}
	run := os.Getenv("SKEIN_CRASH_RUN")
	var out sync.Mutex
	said := func(id, key string, seq int64) {
		out.Lock()
		defer out.Unlock()
		fmt.Printf("%s %s %d\n", id, key, seq)
	}
	failed := make(chan error)
	for id, agent := range crashThreads {
		t, err := e.OpenThread(ctx, id, crashSettings(agent))
		if err != nil {
			return err
		}
		say := func(who string, reply bool) {
			for n := 0; ; n++ {
				key := fmt.Sprintf("%s-%s-%d", run, who, n)
				text := fmt.Sprintf("%s says %s: %s", who, key, strings.Repeat("something of note 4711, ", 1+n%40))
				entry, err := t.Say(ctx, who, text, skein.Key(key))
				if err != nil {
					failed <- err
					return
				}
				said(id, key, entry.Seq)
				if !reply {
					time.Sleep(time.Duration(1+n%7) * time.Millisecond)
					continue
				}
				if err := answerAll(ctx, t); err != nil {
					failed <- err
					return
				}
			}
		}
		go say("ana", true)
		go say("ben", false)
	}
	return <-failed
}

func TestNothingAcknowledgedIsLostWhenTheProcessIsKilled(t *testing.T) {
	kills := 12
	if s := os.Getenv("SKEIN_KILLS"); s != "" {
		var err error
		if kills, err = strconv.Atoi(s); err != nil {
			t.Fatalf("SKEIN_KILLS: %v", err)
		}
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d, %d kills", seed, kills)
	rnd := rand.New(rand.NewPCG(seed, 1))
	for done := 0; done < kills; done += 12 {
		dir := t.TempDir()
		acks := map[string]int64{}
		lines := []string{"", "echo-writer"}[rnd.IntN(2)]
		for run := 0; run < 12 && done+run < kills; run++ {
			killOne(t, dir, lines, fmt.Sprintf("run%d", run), time.Duration(20+rnd.IntN(280))*time.Millisecond, acks)
			examine(t, dir, lines, acks, run%4 == 3)
			if t.Failed() {
				t.Fatalf("seed %d, kill %d, lines by %q", seed, done+run, lines)
			}
		}
	}
}

// killOne runs a child for so long after its first word and kills it.
func killOne(t *testing.T, dir, lines, run string, after time.Duration, acks map[string]int64) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), crashChild+"="+dir, "SKEIN_CRASH_RUN="+run, "SKEIN_CRASH_LINES="+lines)
	var errs strings.Builder
	child.Stderr = &errs
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var timer *time.Timer
	words := bufio.NewScanner(out)
	for words.Scan() {
		if timer == nil {
			timer = time.AfterFunc(after, func() { child.Process.Kill() })
		}
		var id, key string
		var seq int64
		if n, _ := fmt.Sscan(words.Text(), &id, &key, &seq); n == 3 {
			acks[id+" "+key] = seq
		}
	}
	err = child.Wait()
	if timer == nil || !strings.Contains(fmt.Sprint(err), "killed") {
		t.Fatalf("the child ended by itself: %v\n%s", err, errs.String())
	}
}

// examine opens what a killed process left: every acknowledged message is
// there, once, where it was said to be; nothing else is wrong; and a turn that
// was cut off can be ended.
func examine(t *testing.T, dir, lines string, acks map[string]int64, finish bool) {
	t.Helper()
	ctx := context.Background()
	e, err := crashEngine(ctx, dir, lines)
	if err != nil {
		t.Fatalf("open after a kill: %v", err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}()
	found := map[string]int64{}
	calls := map[string]int{}
	cuts := map[string]int{}
	noted := 0
	for id := range crashThreads {
		th, err := e.Thread(ctx, id)
		if thread.CodeOf(err) == thread.NotFound {
			continue // killed before it was made
		}
		if err != nil {
			t.Fatal(err)
		}
		if finish {
			if err := answerAll(ctx, th); err != nil {
				t.Errorf("the turn cannot be ended: %v", err)
			}
		}
		for entry, err := range th.Entries(ctx, store.EntriesQuery{Inactive: true}) {
			if err != nil {
				t.Fatal(err)
			}
			if entry.Key != "" {
				if at, twice := found[id+" "+entry.Key]; twice {
					t.Errorf("%s stands at %d and at %d", entry.Key, at, entry.Seq)
				}
				found[id+" "+entry.Key] = entry.Seq
			}
			if entry.Cut != nil {
				cuts[entry.Cut.Strategy]++
			}
			if entry.Message == nil {
				continue
			}
			for _, r := range entry.Message.Results() {
				if calls[id+" "+r.Call]++; calls[id+" "+r.Call] > 1 {
					t.Errorf("the call %s has two results", r.Call)
				}
			}
			for _, c := range entry.Message.Calls() {
				if c.Name == "note" {
					noted++
				}
			}
		}
	}
	t.Logf("%d acknowledged, cuts %v", len(acks), cuts)
	for key, seq := range acks {
		if found[key] != seq {
			t.Errorf("%s was acknowledged at %d and is at %d", key, seq, found[key])
		}
	}
	ran, err := os.ReadFile(filepath.Join(dir, "ran"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if n := strings.Count(string(ran), "\n"); n > noted {
		t.Errorf("the tool ran %d times for %d calls", n, noted)
	}
	for err := range e.Check(ctx) {
		t.Errorf("check: %v", err)
	}
}
