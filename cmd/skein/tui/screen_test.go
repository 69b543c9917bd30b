package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

// plan is a conversation with everything in it.
func plan() []message {
	return numbered(
		user("Where do we meet, and what does it cost?\n\nKeep my   spaces."),
		calling(thinking("The user asks about the venue.\nLine 0 should say."), thread.Text("I look."), thread.Call("c", "zoom", []byte(`{"id":0,"n":1}`))),
		tool("zoom", "ana → north\nWhere do we meet?", false),
		calling(thread.Call("d", "shell", []byte(`{"run":"cat cost.txt"}`))),
		tool("shell", "cat: cost.txt: No such file", true),
		agent(thread.Text("# Plan\n\nThe venue is the **old harbour hall**.\n\n1. Call `harbour.book()`\n2. Wait for the *mail*\n\n```go\nfunc main() {\n\tprintln(\"<b>\")\n}\n```\n\n| what | cost |\n|---|---|\n| hall | 1200 |\n\n> quoted\n\n- [x] booked\n- [ ] paid\n\nSee [the site](https://example.com/a), <div> and &lt;.")),
	)
}

func withStatus(s *stage) *stage {
	return s.give(statusRead{sitting: 1, status: status{agent: "north", model: "claude-sonnet-5", prompt: 12_400, cached: 97, cost: 0.0123, backlog: 3, mine: true, tip: 99, length: s.m.transcript.length}})
}

func TestScreens(t *testing.T) {
	cases := []struct {
		name          string
		width, height int
		run           func(*stage)
	}{
		{"empty", 80, 12, func(s *stage) { s.opens() }},
		{"opening", 80, 6, func(s *stage) { s.types("typed early") }},
		{"talk", 80, 44, func(s *stage) { withStatus(s.opens(plan()...)) }},
		{"narrow", 40, 30, func(s *stage) { withStatus(s.opens(plan()...)) }},
		{"tiny", 12, 5, func(s *stage) { withStatus(s.opens(plan()...)) }},
		{"wide", 160, 40, func(s *stage) { withStatus(s.opens(plan()...)) }},
		{"unfolded", 80, 56, func(s *stage) { s.opens(plan()...).press("ctrl+r", "ctrl+x") }},
		{"chosen", 80, 20, func(s *stage) { s.opens(plan()[:3]...).press("tab", "tab", "enter") }},
		{"typing", 60, 14, func(s *stage) {
			s.opens(plan()[:1]...).types("first line").press("alt+enter")
			s.give(tea.PasteMsg{Content: "pasted\r\n\twith a tab, and a line that is long enough to be wrapped on this screen"})
		}},
		{"answering", 80, 16, func(s *stage) {
			s.opens(plan()[:1]...).give(answering{sitting: 1, on: true}, pieces("n", "thinking", "Hm.\nLet me see"), pieces("n", "text", "It is **half"))
		}},
		{"queued", 80, 16, func(s *stage) {
			s.opens(plan()[:1]...).give(answering{sitting: 1, on: true}, pieces("n", "text", "One moment")).types("and hurry").press("enter")
			s.give(said{sitting: 1, key: "key-1", seq: 9, queued: true})
		}},
		{"failed", 80, 12, func(s *stage) {
			s.opens(plan()[:1]...).give(answering{sitting: 1, on: true}, answering{sitting: 1, err: &thread.Error{Code: thread.Quota, Message: "the provider wants money", Hint: "pay, then Enter"}})
		}},
		{"failed-at-length", 50, 16, func(s *stage) {
			s.opens(plan()[:1]...).give(answering{sitting: 1, err: &thread.Error{Code: thread.Quota, Message: "the account at anthropic has nothing left: Your credit balance is too low to access the API", Hint: "add credit there, then /retry; or take another model"}})
		}},
		{"leaving", 80, 8, func(s *stage) { s.opens(plan()[:1]...).press("ctrl+c") }},
		{"scrolled", 80, 16, func(s *stage) { s.opens(many(200)...).press("pgup", "pgup") }},
		{"scrolled-narrow", 40, 12, func(s *stage) { s.opens(many(200)...).press("pgup", "pgup") }},
		{"commands", 60, 8, func(s *stage) { s.opens().types("/re") }},
		{"help", 80, 58, func(s *stage) { s.opens().press("ctrl+g") }},
		{"outline", 80, 16, func(s *stage) { outlined(s) }},
		{"outline-open", 60, 20, func(s *stage) {
			outlined(s).press("up", "right")
			s.give(lineOpened{sitting: 1, span: thread.Span{ID: 4, N: 2}, zoomed: zoomed(thread.Span{ID: 4, N: 2})})
			s.press("down", "right")
			s.give(lineOpened{sitting: 1, span: thread.Span{ID: 4, N: 1}, zoomed: zoomed(thread.Span{ID: 4, N: 1})})
		}},
		{"outline-none", 60, 10, func(s *stage) {
			s.opens(plan()...).press("ctrl+o").give(outlineRead{sitting: 1, outline: skein.Outline{Messages: 6, Tail: skein.Tail{High: 40000}}})
		}},
		{"search", 60, 12, func(s *stage) { found(s) }},
		{"threads", 80, 12, func(s *stage) { listed(s) }},
		{"threads-new", 60, 10, func(s *stage) { listed(s).types("harbour") }},
		{"pager", 60, 10, func(s *stage) {
			s.opens().types("/usage").press("enter").give(commandRan{sitting: 1, text: "/usage", output: "2 requests: input 7\x1b[2J tokens\n"})
		}},
		{"scripts", 50, 24, func(s *stage) {
			s.opens(numbered(
				user("שלום עולם, זה משפט ארוך מאוד שצריך לגלוש לשורה הבאה"), agent(thread.Text("مرحبا بالعالم، هذه **جملة** طويلة يجب أن تلتف إلى السطر التالي")),
				user("世界世界世界世界世界世界世界世界世界世界世界世界世界世界世界世界"), agent(thread.Text("日本語の**文章**です。長い行は折り返されます。折り返されます。")),
				user("👩‍👩‍👧 é e\u0301 ﷺ नमस्ते"),
			)...).types("typed 世界 שלום e\u0301")
		}},
		{"hostile", 70, 24, func(s *stage) { s.opens(hostile()...) }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := play(t, c.width, c.height)
			c.run(s)
			golden(t, c.name, s.text())
		})
	}
}

func TestStyles(t *testing.T) {
	s := withStatus(play(t, 72, 40).opens(plan()...))
	golden(t, "talk-styled", s.styledText())
}

func many(n int) []message {
	var out []message
	for i := range n {
		if i%2 == 0 {
			out = append(out, user(fmt.Sprintf("question %d", i)))
			continue
		}
		out = append(out, agent(thread.Text(fmt.Sprintf("answer %d", i))))
	}
	return numbered(out...)
}

func pieces(id, kind, text string) happened {
	return happened{sitting: 1, events: []event{{piece: &piece{id: id, author: "north", kind: kind, text: text}}}}
}

func outlined(s *stage) *stage {
	s.opens(plan()...).press("ctrl+o")
	return s.give(outlineRead{sitting: 1, outline: skein.Outline{Thread: "launch", Messages: 12, Boundary: 7, Lines: []skein.Line{
		{ID: 0, N: 4, Text: "ana plans the launch; the venue is the harbour hall"}, {ID: 4, N: 2, Text: "they book it for the 12th"}, {ID: 6, N: 1, Text: "ana → north: and the food?"},
	}}})
}

// zoomed is what a line opens to.
func zoomed(span thread.Span) skein.Zoomed {
	z := skein.Zoomed{Span: span}
	if span.N == 1 {
		z.Message = newPage("ana → north\nBook it for the 12th, please,\nand tell everybody about it before the week ends.")
		return z
	}
	left, right := span.Halves()
	z.Lines = append(z.Lines, newLine(left, "ana → north: Book it"), newLine(right, ""))
	z.Lines[1].Missing = true
	return z
}

func found(s *stage) *stage {
	s.opens(plan()...).press("ctrl+f").types("harbour").press("enter")
	r := skein.Results{Words: []string{"harbour"}}
	for i, text := range []string{"north → ana: The venue is the old harbour hall.", "ana → north: is the harbour\x1b[31m far?"} {
		r.Hits = append(r.Hits, newHit(int64(i*3), text, "harbour"))
	}
	return s.give(wordsFound{sitting: 1, query: "harbour", results: r})
}

func listed(s *stage) *stage {
	s.opens(plan()...).press("ctrl+t")
	return s.give(threadsRead{sitting: 1, threads: []thread.Thread{
		{Key: thread.Key{ID: "launch"}, Title: "The launch\x1b]0;x\a", Length: 6, Updated: noon},
		{Key: thread.Key{ID: "diary"}, Length: 1_000_000, Updated: noon.Add(-24 * time.Hour)},
	}})
}

// hostile are messages that try to reach the terminal.
func hostile() []message {
	evil := "\x1b[2J\x1b]0;owned\a\x9b31m\rgone \u202eturned"
	return numbered(
		from(thread.Message{Author: "mallory\x1b[2J", Role: thread.User, Parts: []thread.Part{thread.Text(evil)}}),
		agent(thread.Text(evil+" &#27;[31m &#x1b;]0;x&#7; <b>kept</b> [x](http://a/\x1b]8;;evil\a) `"+evil+"`\n\n```\x1b[2J\n"+evil+"\n```"), thinking(evil)),
		calling(thread.Call("c", "run\x1b[2J", []byte(`{"a":"`+"\x1b[2J"+`"}`))),
		tool("run\x1b[2J", evil, false),
	)
}

func TestHostileTextNeverReachesTheTerminal(t *testing.T) {
	s := play(t, 70, 60).opens(hostile()...).press("ctrl+r", "ctrl+x")
	s.give(pieces("n", "text", "split \x1b"), pieces("n", "text", "[2J sequence &#2"), pieces("n", "text", "7;[31m"))
	text := s.m.screen().text()
	if left := styles.ReplaceAllString(text, ""); strings.ContainsFunc(left, Harmful) {
		t.Errorf("a control character is on the screen: %q", left)
	}
	for _, seq := range styles.FindAllString(text, -1) {
		if strings.Contains(seq, "31") {
			t.Errorf("a colour that nothing here uses is on the screen: %q", seq)
		}
	}
}
