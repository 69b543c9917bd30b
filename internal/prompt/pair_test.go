package prompt_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/internal/prompt"
	"github.com/skeinhq/skein/thread"
)

// history gives the messages of the history section, one a line.
func history(p *prompt.Prompt) string { return lines(p.Sections[3].Messages) }

func TestResultsStandInTheCallsOrderRightAfterThem(t *testing.T) {
	l := newLog().say("ana", "Look")
	l.reply(call("a", "search", `{}`), call("b", "zoom", `{}`))
	l.result("b", "zoom", "second").say("ana", "meanwhile").result("a", "search", "first")
	want := `user {"type":"text","text":"ana: Look"}
assistant {"type":"toolCall","id":"a","name":"search","input":{}} {"type":"toolCall","id":"b","name":"zoom","input":{}}
tool {"type":"toolResult","name":"search","call":"a","parts":[{"type":"text","text":"first"}]} {"type":"toolResult","name":"zoom","call":"b","parts":[{"type":"text","text":"second"}]}
user {"type":"text","text":"ana: meanwhile"}
`
	if diff := cmp.Diff(want, history(l.build(t, north("echo")))); diff != "" {
		t.Error(diff)
	}
}

func TestACallWithoutResultGetsOneThatSaysSo(t *testing.T) {
	l := newLog().say("ana", "Look")
	l.reply(call("a", "search", `{}`)).say("ana", "What happened?").reply(thread.Text("I do not know"))
	got := history(l.build(t, north("echo")))
	if !strings.Contains(got, `"call":"a","parts":[{"type":"text","text":"No result of this call is recorded.`) || !strings.Contains(got, `"isError":true`) {
		t.Errorf("got\n%s", got)
	}
}

func TestAResultWithoutItsCallIsANote(t *testing.T) {
	l := newLog().say("ana", "Look").reply(thread.Text("Yes"))
	l.result("gone", "search", "found")
	if got := history(l.build(t, north("echo"))); !strings.Contains(got, `user {"type":"text","text":"search → north: found"}`) {
		t.Errorf("got\n%s", got)
	}
}

func TestRepeatedAndOddIDsBecomeUniqueOnes(t *testing.T) {
	l := newLog().say("ana", "Look")
	for range 2 {
		l.reply(call("call_0", "functions.exec", `"ls"`), call("odd id", "search", `{}`)).result("call_0", "functions.exec", "x").result("odd id", "search", "y")
	}
	var ids []string
	for _, m := range l.build(t, north("echo")).Request.Messages {
		for _, p := range m.Parts {
			if p.Type == thread.CallPart {
				ids = append(ids, p.ID+" "+p.Name+" "+string(p.Input))
			}
		}
	}
	want := []string{`call_0 functions_exec {"input":"ls"}`, `odd_id search {}`, `call_0_4 functions_exec {"input":"ls"}`, `odd_id_4 search {}`}
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Error(diff)
	}
}

func TestOthersAreHeardByName(t *testing.T) {
	l := newLog().say("ana", "Look")
	l.add(thread.Message{Author: "south", Role: thread.Assistant, Parts: []thread.Part{thread.Text("I will"), call("a", "search", `{"q": 1}`)}})
	l.add(thread.Message{Author: "search", To: []string{"south"}, Role: thread.Tool, Parts: []thread.Part{thread.Result("a", "search", "nothing", true)}})
	l.reply(thread.Text("Thanks"))
	want := `user {"type":"text","text":"ana: Look"}
user {"type":"text","text":"south: I will"} {"type":"text","text":"south → search: {\"q\":1}"}
user {"type":"text","text":"search → south: error: nothing"}
assistant {"type":"text","text":"Thanks"}
`
	if diff := cmp.Diff(want, history(l.build(t, north("echo")))); diff != "" {
		t.Error(diff)
	}
}

func TestWithoutToolsCallsAreTold(t *testing.T) {
	l := newLog().say("ana", "Look").reply(call("a", "search", `{}`)).result("a", "search", "found")
	def := north("echo")
	def.Tools = nil
	want := `user {"type":"text","text":"ana: Look"}
assistant {"type":"text","text":"north → search: {}"}
user {"type":"text","text":"search → north: found"}
`
	if diff := cmp.Diff(want, history(l.build(t, def))); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsNotForTheAgentIsNotThere(t *testing.T) {
	l := newLog().say("ana", "Hello")
	l.add(thread.Message{Author: "ana", Role: thread.User, Audience: []string{"south"}, Parts: []thread.Part{thread.Text("secret one")}})
	l.add(thread.Message{Author: "south", Role: thread.Assistant, Audience: []string{"ana"}, Parts: []thread.Part{thread.Text("secret two"), call("x", "search", `{"q":"secret three"}`)}})
	l.add(thread.Message{Author: "search", Role: thread.Tool, Parts: []thread.Part{thread.Result("x", "search", "secret four", false)}})
	l.add(thread.Message{Author: "ana", Role: thread.User, Audience: []string{"north"}, Parts: []thread.Part{thread.Text("for you")}})
	want := `user {"type":"text","text":"ana: Hello"}
user {"type":"text","text":"ana: for you"}
`
	if diff := cmp.Diff(want, history(l.build(t, north("echo")))); diff != "" {
		t.Error(diff)
	}
}

func TestAConversationThatStartsWithTheReplyGetsAFirstWord(t *testing.T) {
	l := newLog().reply(thread.Text("Welcome"))
	p := l.build(t, north("echo"))
	l.say("ana", "Hello")
	q := l.build(t, north("echo"))
	if q.Request.Messages[0].Role != thread.User || !strings.HasPrefix(lines(q.Request.Messages), history(p)) {
		t.Errorf("first\n%s\nthen\n%s", history(p), lines(q.Request.Messages))
	}
	def := north("echo")
	def.Contexts = []thread.Context{{Name: "place", Text: "here"}}
	if r := l.build(t, def); r.Sections[3].Messages[0].Role != thread.Assistant {
		t.Errorf("with contexts before it nothing need be added:\n%s", lines(r.Request.Messages))
	}
}

func TestNothingEmptyGoesOut(t *testing.T) {
	l := newLog().say("ana", "Look").reply(thread.Text(" \n")).reply(call("a", "search", ``)).result("a", "search", "\t")
	l.add(thread.Message{Author: "ana", Role: thread.User})
	l.add(thread.Message{Author: "ana", Role: thread.User, Parts: []thread.Part{image("a.png", 10)}})
	l.messages = append(l.messages, thread.Entry{Kind: thread.MessageKind, Index: 6}) // erased
	want := `user {"type":"text","text":"ana: Look"}
assistant {"type":"toolCall","id":"a","name":"search","input":{}}
tool {"type":"toolResult","name":"search","call":"a","parts":[{"type":"text","text":"(no output)"}]}
user {"type":"text","text":"ana:"} {"type":"blob","name":"a.png","hash":"hash-of-a.png","mediaType":"image/png","size":10}
`
	if diff := cmp.Diff(want, history(l.build(t, north("echo")))); diff != "" {
		t.Error(diff)
	}
}

func TestALongResultShowsHeadAndTail(t *testing.T) {
	l := newLog().say("ana", "Look").reply(call("a", "search", `{}`), call("b", "search", `{}`))
	l.result("a", "search", "HEAD "+strings.Repeat("日本 ", 200_000)+" TAIL").result("b", "search", "short")
	p := l.build(t, north("echo"))
	results := p.Sections[3].Messages[2].Parts
	long := results[0].Parts[0].Text
	if !strings.HasPrefix(long, "HEAD ") || !strings.HasSuffix(long, " TAIL") || !strings.Contains(long, "[output cut from 600010 characters; zoom 2 1]") {
		t.Errorf("the long one is %.200q", long)
	}
	if room := rulesOf(t, "echo").Room(); thread.Weight(long) > room/2 || thread.Weight(long) < room/4 {
		t.Errorf("it weighs %d of a room of %d", thread.Weight(long), room)
	}
	if got := results[1].Parts[0].Text; got != "short" {
		t.Errorf("the short one is %q", got)
	}
}

func TestInputIsTheLogsOwn(t *testing.T) {
	l := newLog().say("ana", "Look").reply(call("a", "search", "{\n \"q\" : \"a  b\" }")).result("a", "search", "x").reply(thread.Text("ok"))
	before := show(l.messages)
	l.build(t, north("echo"))
	if after := show(l.messages); after != before {
		t.Error("building a prompt changed the log")
	}
	p := l.build(t, north("echo"))
	if got := string(p.Request.Messages[1].Parts[0].Input); got != `{"q":"a  b"}` || !json.Valid([]byte(got)) {
		t.Errorf("the input is %s", got)
	}
}

// A tool that ran at the provider's has its call and its result in one message of
// the assistant's: both are told as texts, nothing is said to be missing, and the
// messages after it may be the first.
func TestACallThatRanAtTheProvidersIsTold(t *testing.T) {
	def := north("claude-opus-5-5")
	l := newLog().say("ana", "Look it up").
		reply(call("srv", "web_search", `{"q":"studio"}`), thread.Result("srv", "web_search", "it is free on the 3rd", false), thread.Text("It is free.")).
		say("ana", "Book it").reply(thread.Text("Done"))
	l.now = l.now.Add(48 * time.Hour)
	l.say("ana", "And now?")
	p := l.build(t, def)
	shown := lines(p.Request.Messages)
	if strings.Contains(shown, prompt.NoResult) || !strings.Contains(shown, "it is free on the 3rd") || strings.Contains(shown, "toolCall") {
		t.Errorf("the prompt:\n%s", shown)
	}
	if err := prompt.Validate(&p.Request, rulesOf(t, def.Model)); err != nil {
		t.Error(err)
	}
	def.MaxAge = 24 * time.Hour
	if shown := lines(l.build(t, def).Request.Messages); strings.Contains(shown, "It is free") || !strings.Contains(shown, "And now?") {
		t.Errorf("within a day:\n%s", shown)
	}
}
