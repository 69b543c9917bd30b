package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/cmd/skein/tui"
	"github.com/skeinhq/skein/thread"
)

// sit runs the command with what is typed, in a home of its own, and gives its
// exit code and what it printed.
func sit(t *testing.T, typed string, args ...string) (code int, out, errs string) {
	t.Helper()
	home := t.TempDir()
	for name, value := range map[string]string{
		"HOME": home, "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": "", "SKEIN_CONFIG": "", "ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": "",
	} {
		t.Setenv(name, value)
	}
	os.Unsetenv("SKEIN_CONFIG") // set above, so that the test's end puts it back
	var o, e bytes.Buffer
	args = append(args, "--db", filepath.Join(home, "t.db"), "--agents", home, "--me", "ana")
	if !slices.Contains(args, "--model") {
		args = append(args, "--model", "echo")
	}
	code = run(args, strings.NewReader(typed), &o, &e)
	return code, o.String(), e.String()
}

// eventsIn reads lines of JSON.
func eventsIn(t *testing.T, lines string) (events []thread.Event, types []thread.EventType) {
	t.Helper()
	for line := range strings.Lines(lines) {
		var e thread.Event
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(&e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		events, types = append(events, e), append(types, e.Type)
	}
	return events, types
}

func TestEventsAreAppendedToAFileOfTheOwners(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	for range 2 {
		code, out, errs := sit(t, "hello\n", "chat", "launch", "--events", path)
		if code != 0 || !strings.Contains(out, "You said: ana: hello") || errs != "" {
			t.Fatalf("%d: %s%s", code, out, errs)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info.Mode(), err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	events, types := eventsIn(t, string(data))
	finished := 0
	for i, e := range events {
		switch e.Type {
		case thread.FinishedEvent:
			finished++
		case thread.TextEvent:
			if e.Text != "You said: ana: hello" || e.Thread != "launch" {
				t.Errorf("event %d: %+v", i, e)
			}
		case thread.RequestEvent, thread.ResponseEvent:
			t.Errorf("event %d is verbose", i)
		}
	}
	if finished != 2 || !slices.Contains(types, thread.TextDeltaEvent) || !slices.Contains(types, thread.LineEvent) {
		t.Errorf("types %v", types)
	}
}

func TestVerboseEventsHoldThePrompt(t *testing.T) {
	code, _, errs := sit(t, "hello\n", "chat", "launch", "--events", "-", "--events-verbose")
	events, types := eventsIn(t, errs)
	at := slices.Index(types, thread.RequestEvent)
	if code != 0 || at < 0 || !slices.Contains(types, thread.ResponseEvent) {
		t.Fatalf("%d: types %v", code, types)
	}
	if !strings.Contains(string(events[at].Request), "hello") {
		t.Errorf("the request: %s", events[at].Request)
	}
}

func TestEventsAreHarmlessForATerminal(t *testing.T) {
	code, _, errs := sit(t, "turn \u202e and \u009b31m\n", "chat", "launch", "--events", "-")
	if code != 0 || strings.ContainsFunc(errs, tui.Harmful) {
		t.Errorf("%d: %q", code, errs)
	}
	events, types := eventsIn(t, errs)
	if i := slices.Index(types, thread.TextEvent); i < 0 || !strings.Contains(events[i].Text, "\u202e") {
		t.Errorf("types %v", types)
	}
}

func TestAFileOfEventsThatCannotBeOpenedIsRefused(t *testing.T) {
	code, out, errs := sit(t, "hello\n", "chat", "launch", "--events", filepath.Join(t.TempDir(), "no", "such", "folder"))
	if code != 2 || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "cannot be opened") {
		t.Errorf("%d: %s%s", code, out, errs)
	}
}

func TestAFullDiskIsToldOnceAndStopsNothing(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no /dev/full")
	}
	code, out, errs := sit(t, "hello\nagain\n", "chat", "launch", "--events", "/dev/full")
	if code != 0 || strings.Count(out, "You said") != 2 {
		t.Errorf("%d: %s", code, out)
	}
	if strings.Count(errs, "\n") != 1 || !strings.Contains(errs, "events are not written any more") {
		t.Errorf("told: %s", errs)
	}
}

// full is a disk that takes some lines and then no more.
type full struct {
	io.Writer
	room int
}

func (f *full) Write(p []byte) (int, error) {
	if f.room--; f.room < 0 {
		return 0, errors.New("no space left")
	}
	return f.Writer.Write(p)
}

func TestNoLineFollowsOneThatCouldNotBeWritten(t *testing.T) {
	var out, errs bytes.Buffer
	disk := &full{&out, 2}
	l := &eventLines{out: keptOpen{disk}, told: trouble{app: &app{errs: &errs}, what: "events"}}
	for i := range 5 {
		l.write(skein.Event{Type: thread.StepEvent, Step: i + 1})
		if i == 3 {
			disk.room = 9 // there is room again
		}
	}
	l.close()
	if events, _ := eventsIn(t, out.String()); len(events) != 2 {
		t.Errorf("%d lines: %s", len(events), out.String())
	}
	if errs.String() != "skein: events: no space left\n" {
		t.Errorf("told: %q", errs.String())
	}
}

// changing are what differs from one run to the next.
var changing = regexp.MustCompile(`"time":"[^"]*"|"id":"[0-9a-f]{8}-[^"]*"|"(input|output)":\d+`)

// TestDocsShowTrueEvents plays the talk of docs/events.md and compares its events
// with those that are shown there. When lines are built is not compared.
func TestDocsShowTrueEvents(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "events.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, shown, ok := strings.Cut(string(page), "<!-- events -->\n```\n")
	shown, _, ended := strings.Cut(shown, "```")
	if !ok || !ended {
		t.Fatal("docs/events.md shows no events")
	}
	replies := filepath.Join(t.TempDir(), "replies")
	if err := os.WriteFile(replies, []byte(`{"calls":[{"id":"c1","name":"read","input":{"id":0,"count":1}}]}`+"\nAt the harbour.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SKEIN_SCRIPT", replies)
	code, _, errs := sit(t, "Where is the hall?\n", "chat", "launch", "--model", "scripted", "--events", "-")
	if code != 0 {
		t.Fatalf("%d: %s", code, errs)
	}
	same := func(lines string) (out []string) {
		lines = strings.NewReplacer(`"time":"…"`, `"time":""`, `"id":"…"`, `"id":"00000000-"`).Replace(lines)
		for line := range strings.Lines(lines) {
			if !strings.HasPrefix(line, `{"type":"line"`) {
				out = append(out, changing.ReplaceAllStringFunc(line, func(s string) string { return s[:strings.Index(s, ":")] }))
			}
		}
		return out
	}
	if d := cmp.Diff(same(shown), same(errs)); d != "" {
		t.Errorf("docs/events.md (-shown +told):\n%s", d)
	}
}

func TestDocsNameEveryTypeOfEvent(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("..", "..", "thread", "event.go"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "events.md"))
	if err != nil {
		t.Fatal(err)
	}
	types := regexp.MustCompile(`EventType = "([^"]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(types) < 20 {
		t.Fatalf("only %d types", len(types))
	}
	for _, m := range types {
		if !strings.Contains(string(page), "| `"+m[1]+"` |") {
			t.Errorf("docs/events.md does not tell of %s", m[1])
		}
	}
}
