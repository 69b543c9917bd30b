package tui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	tea "charm.land/bubbletea/v2"

	"github.com/skeinhq/skein/thread"
)

var update = flag.Bool("update", false, "write the golden screens anew")

// stage plays a sitting: it hands messages to the model and keeps what the model
// wants done.
type stage struct {
	t       testing.TB
	m       *model
	effects []effect
	keys    int
}

// noon is when everything is said.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

var testCommands = []Command{
	{"prompt", "[AGENT]", "show what the model would be sent"}, {"outline", "", "show the outline"},
	{"read", "ID [COUNT]", "read messages whole"}, {"rewind", "ID", "undo every message after that one"},
	{"search", "WORDS", "search everything said"}, {"threads", "", "list the threads"},
	{"help", "", "show keys and commands"}, {"exit", "", "leave"},
}

func play(t testing.TB, width, height int) *stage {
	t.Helper()
	s := &stage{t: t}
	s.m = newModel(Config{Me: "ana", Zone: time.UTC, Commands: testCommands, now: func() time.Time { return noon }, newKey: func() string {
		s.keys++
		return fmt.Sprintf("key-%d", s.keys)
	}})
	s.give(tea.WindowSizeMsg{Width: width, Height: height})
	return s
}

func (s *stage) give(msgs ...any) *stage {
	for _, msg := range msgs {
		s.effects = append(s.effects, s.m.update(msg)...)
	}
	return s
}

// opens opens the thread launch with these messages, all of which fit in a page.
func (s *stage) opens(messages ...message) *stage {
	return s.give(opened{sitting: 1, id: "launch", length: int64(len(messages)), draft: draft{Thread: "launch"},
		status: status{agent: "north", model: "echo", cached: -1, mine: true, tip: int64(len(messages)), length: int64(len(messages))},
		page:   pageRead{sitting: 1, messages: messages}})
}

// keyOf makes the message of a key's name.
func keyOf(name string) tea.KeyPressMsg {
	k := tea.KeyPressMsg{}
	for {
		mod, rest, ok := strings.Cut(name, "+")
		if !ok || rest == "" {
			break
		}
		k.Mod |= map[string]tea.KeyMod{"ctrl": tea.ModCtrl, "alt": tea.ModAlt, "shift": tea.ModShift}[mod]
		name = rest
	}
	codes := map[string]rune{"enter": tea.KeyEnter, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "tab": tea.KeyTab, "esc": tea.KeyEscape, "backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "f1": tea.KeyF1}
	if code, ok := codes[name]; ok {
		k.Code = code
		return k
	}
	k.Code = []rune(name)[0]
	if k.Mod == 0 {
		k.Text = name
	}
	return k
}

func (s *stage) press(names ...string) *stage {
	for _, n := range names {
		s.give(keyOf(n))
	}
	return s
}

func (s *stage) types(text string) *stage {
	for _, r := range text {
		s.give(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	return s
}

// wants takes the effects so far that are of a type.
func wanted[E any](s *stage) []E {
	var out []E
	for _, e := range s.effects {
		if e, ok := e.(E); ok {
			out = append(out, e)
		}
	}
	s.effects = nil
	return out
}

// text is the screen without styles.
func (s *stage) text() string {
	sc := s.m.screen()
	if len(sc.lines) != s.m.height {
		s.t.Errorf("the screen has %d lines, not %d", len(sc.lines), s.m.height)
	}
	var b strings.Builder
	for i, line := range sc.lines {
		if w := s.m.cells.width(line); w > s.m.width {
			s.t.Errorf("line %d is %d columns wide, not at most %d: %q", i, w, s.m.width, line)
		}
		b.WriteString(strings.TrimRight(ansi.Strip(line), " ") + "\n")
	}
	if sc.typed {
		fmt.Fprintf(&b, "(cursor at column %d, line %d)\n", sc.x, sc.y)
	}
	return b.String()
}

var styles = regexp.MustCompile(`\x1b\[([0-9;]*)m`)

// styledText is the screen with its styles in words.
func (s *stage) styledText() string {
	return styles.ReplaceAllString(s.m.screen().text(), "‹$1›") + "\n"
}

// golden compares with testdata/NAME.golden.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; -update writes it", err)
	}
	if string(want) != got {
		t.Errorf("%s is not as it was; -update writes it anew. Now:\n%s\nBefore:\n%s", path, got, want)
	}
}

// Messages, numbered by their place.
func numbered(ms ...message) []message {
	for i := range ms {
		ms[i].index = int64(i)
		ms[i].id = fmt.Sprintf("id-%d", i)
		ms[i].time = noon.Add(time.Duration(i) * time.Minute)
	}
	return ms
}

func from(e thread.Message) message {
	m := messageOf(&thread.Entry{Kind: thread.MessageKind, Message: &e}, "ana")
	return m
}

func user(text string) message {
	return from(thread.Message{Author: "ana", Role: thread.User, Parts: []thread.Part{thread.Text(text)}})
}

func agent(parts ...thread.Part) message {
	return from(thread.Message{Author: "north", Role: thread.Assistant, Stop: thread.StopEnd, Parts: parts})
}

func calling(parts ...thread.Part) message {
	return from(thread.Message{Author: "north", Role: thread.Assistant, Stop: thread.StopCalls, Parts: parts})
}

func tool(name, text string, failed bool) message {
	return from(thread.Message{Author: name, Role: thread.Tool, Parts: []thread.Part{thread.Result("c", name, text, failed)}})
}

func thinking(text string) thread.Part { return thread.Part{Type: thread.ThinkingPart, Text: text} }
