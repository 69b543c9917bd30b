package tui

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

// rowsOf are the rows of a call's card over a workspace, a line each.
func rowsOf(tool, input string, workspace fstest.MapFS) string {
	var out []string
	for _, r := range cardOf(asked("c", tool, input), workspace).rows {
		out = append(out, r.sign+r.text)
	}
	return strings.Join(out, "\n")
}

func TestTheCardOfAFileThatIsReplacedSaysWhatChanges(t *testing.T) {
	workspace := fstest.MapFS{
		"plan.md": {Data: []byte("one\ntwo\nthree\n")},
		"large":   {Data: []byte(strings.Repeat("x", maxReplaced+1))},
		"image":   {Data: []byte{0xff, 0xfe, 0}},
	}
	for input, want := range map[string]string{
		`{"path":"plan.md","content":"one\n2\nthree\n"}`:   "plan.md\nreplaces 3 lines\n  one\n- two\n+ 2\n  three",
		`{"path":"./plan.md","content":"one\n2\nthree\n"}`: "./plan.md\nreplaces 3 lines\n  one\n- two\n+ 2\n  three",
		`{"path":"new.md","content":"one\n"}`:              "new.md\n+ one",
		`{"path":"../plan.md","content":"one\n"}`:          "../plan.md\n+ one",
		`{"path":"large","content":"x"}`:                   "large\nreplaces a file of more than 256.0 KB\n+ x",
		`{"path":"image","content":"x"}`:                   "image\nreplaces a file that is no text\n+ x",
		`{"path":"plan.md","content":"one\n","mode":7}`:    "plan.md\nreplaces 3 lines\n  one\n- two\n- three\nmode: 7",
	} {
		if got := rowsOf("write_file", input, workspace); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", input, got, want)
		}
	}
}

func TestAlwaysSaysWhatIsAllowed(t *testing.T) {
	for input, want := range map[string]string{
		`write_file {"path":"a.txt","content":"x"}`: "write_file on every path in this thread",
		`shell {"command":"make  test"}`:            "that very command line in this thread",
		`git {"command":"log","path":"src"}`:        "git on every path in this thread",
		`book {"hall":"the new one"}`:               "every call of book in this thread",
	} {
		tool, in, _ := strings.Cut(input, " ")
		a := asked("c", tool, in)
		if tool == "git" {
			a.Question = "git: src" // a path is all that it reaches
		}
		if tool == "shell" {
			a.Question = "shell: make test"
		}
		if got := Always(a); got != want {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
}

func TestWhatServersAreAmissIsToldOnceAndCalmly(t *testing.T) {
	s := play(t, 80, 16).opens(plan()[:1]...)
	s.give(warned{"the MCP server gone cannot be reached\x1b[2J"}, warned{"the MCP server gone cannot be reached\x1b[2J"})
	if got := strings.Count(s.text(), "the MCP server gone cannot be reached"); got != 1 || strings.Contains(s.text(), "\x1b[2J") {
		t.Errorf("told %d times:\n%s", got, s.text())
	}
}

func TestTheStatusLineSaysWhoseWordTheModelIs(t *testing.T) {
	s := play(t, 100, 16).opens(plan()[:1]...)
	s.give(statusRead{sitting: 1, status: status{
		agent: "north", model: "echo", modelBy: skein.ByThread, strategy: "truncate, summarize", strategyBy: skein.ByAgent, cached: -1, tip: 9, length: 1,
	}})
	if !strings.Contains(s.text(), "launch · echo (thread) · truncate, summarize (agent's file)") {
		t.Error(s.text())
	}
}

func TestLinesOfALongResultAreAllCounted(t *testing.T) {
	text := strings.Repeat(strings.Repeat("x", 99)+"\n", 400)
	s := play(t, 80, 16).opens(numbered(user("Read it."), calling(thread.Call("c", "read_file", json.RawMessage(`{}`))), tool("read_file", text, false))...)
	if !strings.Contains(s.text(), "400 lines, 39.1 KB") {
		t.Error(s.text())
	}
}

func TestACallThatALimitStoppedWasNotRun(t *testing.T) {
	s := play(t, 80, 16).opens(numbered(user("Go."), calling(thread.Call("c", "shell", json.RawMessage(`{}`))),
		tool("shell", "This call was never run: its turn ended before it could be.", true))...)
	if got := s.text(); !strings.Contains(got, "shell  not run") || strings.Contains(got, "failed") {
		t.Error(got)
	}
}

func TestWhatIsQueuedWaitsWhereAnotherProcessStopsTheTurn(t *testing.T) {
	o := newOffice(oneOff, "uncalled-for")
	r := o.enter(t)
	r.types("go through").press("enter")
	r.shows("gate runs")
	<-o.entered
	r.types("and later?").press("enter")
	r.shows("queued · next")
	if err := o.elsewhere(t).Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.shows("Enter asks for the answer again")
	state, err := r.shellThread(t).State(t.Context())
	if err != nil || state.Turn != 0 || len(state.Inbox) != 1 || strings.Contains(r.text(), "uncalled-for") {
		t.Errorf("%+v, %v:\n%s", state, err, r.text())
	}
}
