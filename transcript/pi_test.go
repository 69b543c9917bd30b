package transcript_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/transcript"
)

func lines(l ...string) string { return strings.Join(l, "\n") + "\n" }

const (
	v1 = `{"type":"session","id":"S1","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/w"}`
	v3 = `{"type":"session","version":3,"id":"S3","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/w"}`
)

// said is an entry of a tree. parent "" is null.
func said(id, parent, message string) string {
	p := "null"
	if parent != "" {
		p = `"` + parent + `"`
	}
	return fmt.Sprintf(`{"type":"message","id":"%s","parentId":%s,"timestamp":"2026-01-02T03:04:05.678Z","message":%s}`, id, p, message)
}

func user(text string) string { return fmt.Sprintf(`{"role":"user","content":%q}`, text) }

func bot(text string) string {
	return fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":%q}],"provider":"p","model":"m","stopReason":"stop"}`, text)
}

func calls(ids ...string) string {
	var parts []string
	for _, id := range ids {
		parts = append(parts, fmt.Sprintf(`{"type":"toolCall","id":"%s","name":"ls","arguments":{"path":"."}}`, id))
	}
	return fmt.Sprintf(`{"role":"assistant","content":[%s],"provider":"p","model":"m","stopReason":"toolUse"}`, strings.Join(parts, ","))
}

func result(call, text string) string {
	return fmt.Sprintf(`{"role":"toolResult","toolCallId":"%s","toolName":"ls","content":[{"type":"text","text":%q}],"isError":false}`, call, text)
}

// flat is an entry of a list.
func flat(message string) string {
	return `{"type":"message","timestamp":"2026-01-02T03:04:05.678Z","message":` + message + `}`
}

func TestPiListKeepsEverything(t *testing.T) {
	l, report := read(t, lines(v1,
		flat(`{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","data":"aGk=","mimeType":"image/png"}],"timestamp":1}`),
		flat(`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"SIG=="},{"type":"toolCall","id":"c1","name":"ls","arguments":{"b":1, "a":"ü"},"partialJson":"{"}],"api":"x","provider":"anthropic","model":"opus","usage":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"totalTokens":10,"cost":{"total":0.5}},"stopReason":"toolUse","timestamp":2}`),
		flat(`{"role":"toolResult","toolCallId":"c1","toolName":"ls","content":[{"type":"text","text":"a.go"}],"details":{"n":1},"isError":true}`),
		flat(`{"role":"assistant","content":[],"provider":"anthropic","model":"opus","stopReason":"aborted","errorMessage":"Request was aborted."}`),
	))
	wantLog(t, l, `
user user: look | blob image/png 6869
assistant assistant: thinks hm sig=SIG== | call c1 ls {"b":1, "a":"ü"}
tool ls: result c1 a.go
assistant assistant:`)
	wantNotes(t, report)
	a := l.entries[1]
	want := thread.Message{
		Author: "assistant", Role: thread.Assistant, Model: "opus", Stop: thread.StopCalls,
		Usage: &thread.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, Cost: 0.5},
		Parts: []thread.Part{
			{Type: thread.ThinkingPart, Text: "hm", Signature: "SIG==", Provider: "anthropic", Model: "opus"},
			thread.Call("c1", "ls", []byte(`{"b":1, "a":"ü"}`)),
		},
		Meta: []byte(`{"import":{"format":"pi","rest":{"api":"x"},"parts":{"1":{"partialJson":"{"}}}}`),
	}
	if diff := cmp.Diff(&want, a.Message); diff != "" {
		t.Errorf("the answer differs (-want +got):\n%s", diff)
	}
	if want := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC); !a.Time.Equal(want) || a.Key != "import:pi:S1:@3" {
		t.Errorf("time %v, key %q", a.Time, a.Key)
	}
	r := l.entries[2].Message
	if !r.Parts[0].IsError || r.To[0] != "assistant" || string(origin(t, l.entries[2]).Rest) != `{"details":{"n":1}}` {
		t.Errorf("the result is %s", show(l.entries[2]))
	}
	if last := l.entries[3]; last.Message.Stop != thread.StopAborted || origin(t, last).Error != "Request was aborted." {
		t.Errorf("the aborted answer is %s", show(last))
	}
}

func TestPiNamesAuthorsAsAsked(t *testing.T) {
	l := &log{}
	_, _, err := l.load(strings.NewReader(lines(v1, flat(user("hi")), flat(bot("ho")))), transcript.Options{User: "ana", Agent: "north"})
	if err != nil {
		t.Fatal(err)
	}
	wantLog(t, l, "user ana: hi\nassistant north: ho")
}

func TestPiTreeFollowsTheLastEntry(t *testing.T) {
	l, report := read(t, lines(v3,
		said("a", "", user("one")),
		said("b", "a", bot("left")),
		said("c", "b", user("left too")),
		said("d", "a", bot("right")),
		`{"type":"label","id":"e","parentId":"d","targetId":"a","label":"here"}`,
	))
	wantLog(t, l, "user user: one\nassistant assistant: right")
	wantNotes(t, report,
		"3: on a branch that was left",
		"4: on a branch that was left",
		"6: label: no message; the next one carries it in its meta",
		"0: a record that is no message stands at the end; no message carries it")
	if report.Kept != 2 || report.Skipped != 3 {
		t.Errorf("counts: %+v", report)
	}
}

func TestPiSeveralRoots(t *testing.T) {
	l, report := read(t, lines(v3, said("a", "", user("old")), said("b", "", user("new")), said("c", "b", bot("yes"))))
	wantLog(t, l, "user user: new\nassistant assistant: yes")
	wantNotes(t, report, "2: on a branch that was left")
}

func TestPiOrphanBeginsTheConversation(t *testing.T) {
	l, report := read(t, lines(v3, said("a", "", user("old")), said("c", "gone", user("new"))))
	wantLog(t, l, "user user: new")
	wantNotes(t, report, "2: on a branch that was left", "3: the entry's parent is not in the file; the conversation begins with it")
	if report.Repaired != 1 {
		t.Errorf("counts: %+v", report)
	}
}

// TestPiUnreadableLineKeepsWhatIsBeforeIt guards the past of a conversation whose
// file was damaged in the middle: by the parents alone, all before it is lost.
func TestPiUnreadableLineKeepsWhatIsBeforeIt(t *testing.T) {
	l, report := read(t, lines(v3, "",
		said("a", "", user("one")),
		`{"type":"message","id":"b","parentId":"a","mess`,
		"\x00\x00\x00",
		said("c", "b", user("three"))))
	wantLog(t, l, "user user: one\nuser user: three")
	wantNotes(t, report,
		"4: not a JSON object: unexpected end of JSON input",
		"6: the entry's parent could not be read; the entry follows the one before it")
}

func TestPiDamagedLinesOfAList(t *testing.T) {
	l, report := read(t, "\ufeff"+lines(v1, flat(user("a\u2028b")), "", "null", "[1]", "\x00\x00"+flat(user("c"))+"\x00", flat("7"), `{"no":"type"}`, flat(`{"role":"wizard"}`))+`{"type":"mess`)
	wantLog(t, l, "user user: a\u2028b\nuser user: c")
	wantNotes(t, report,
		"4: not a JSON object: null",
		"5: not a JSON object: json: cannot unmarshal array into Go value of type transcript.object",
		"7: message that is no object: no message; the next one carries it in its meta",
		"8: entry without a type: no message; the next one carries it in its meta",
		`9: message of the unknown role "wizard": no message; the next one carries it in its meta`,
		"10: not a JSON object: unexpected end of JSON input",
		"0: 3 of the records that are no messages stand at the end; no message carries them")
}

func TestPiOneIDTwice(t *testing.T) {
	l, _ := read(t, lines(v3, said("a", "", user("one")), said("a", "a", user("two")), said("b", "a", user("three"))))
	wantLog(t, l, "user user: one\nuser user: two\nuser user: three")
}

func TestPiSecondVersionsHookMessages(t *testing.T) {
	l, _ := read(t, lines(strings.Replace(v3, `"version":3`, `"version":2`, 1),
		said("a", "", `{"role":"hookMessage","customType":"memo","content":"remember","display":false}`),
		`{"type":"custom_message","id":"b","parentId":"a","customType":"memo","content":[{"type":"text","text":"this"}],"display":true}`))
	wantLog(t, l, "user memo: remember\nuser memo: this")
}

func TestPiRecordsThatAreNoMessagesAreCarried(t *testing.T) {
	l, report := read(t, lines(v3,
		said("a", "", user("one")),
		`{"type":"compaction","id":"b","parentId":"a","summary":"they said one","firstKeptEntryId":"a","tokensBefore":9}`,
		`{"type":"model_change","id":"c","parentId":"b","modelId":"x"}`,
		`{"type":"session_info","id":"d","parentId":"c","name":"Numbers"}`,
		`{"type":"from_the_future","id":"e","parentId":"d"}`,
		`{"type":"branch_summary","id":"f","parentId":"e","fromId":"z","summary":"tried zero"}`,
		said("g", "f", user("two"))))
	wantLog(t, l, `
user user: one
user user: Summary of a branch of the conversation that was left:
tried zero
user user: two`)
	before := origin(t, l.entries[1]).Before
	if len(before) != 4 || !strings.Contains(string(before[0]), "they said one") || !strings.Contains(string(before[3]), "from_the_future") {
		t.Errorf("the branch's summary carries %s", before)
	}
	if report.Title != "Numbers" || report.Skipped != 4 || report.Kept != 3 {
		t.Errorf("counts: %+v", report)
	}
}

func TestPiCommandsOfTheUser(t *testing.T) {
	l, _ := read(t, lines(v1,
		flat(`{"role":"bashExecution","command":"ls","output":"a\nb\n","exitCode":0,"cancelled":false,"truncated":false}`),
		flat(`{"role":"bashExecution","command":"boom","output":"","exitCode":2,"cancelled":true,"truncated":true,"fullOutputPath":"/tmp/x","excludeFromContext":true}`)))
	wantLog(t, l, `
user user: $ ls
a
b
user user: $ boom
(exit code 2)
(cancelled)
(output cut; all of it: /tmp/x)`)
	if l.entries[0].Message.Audience != nil || !cmp.Equal(l.entries[1].Message.Audience, []string{"user"}) {
		t.Errorf("audiences: %v, %v", l.entries[0].Message.Audience, l.entries[1].Message.Audience)
	}
}

func TestPiPartsThatCannotBePlacedStayRaw(t *testing.T) {
	l, report := read(t, lines(v1,
		flat(`{"role":"user","content":[{"type":"hologram","x":1},"bare",{"type":"image","data":"%%%","mimeType":"image/png"},{"type":"text","text":7}]}`),
		flat(`{"role":"user","content":{"odd":true}}`)))
	wantLog(t, l, `
user user: raw {"type":"hologram","x":1} | raw "bare" | raw {"type":"image","data":"%%%","mimeType":"image/png"} | raw {"type":"text","text":7}
user user: raw {"odd":true}`)
	if report.Repaired != 5 {
		t.Errorf("counts: %+v", report)
	}
}

func TestPiSampleSession(t *testing.T) {
	f := sample(t, "pi/session-v1.jsonl")
	l := &log{}
	report, added, err := l.load(f, transcript.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if report.Kept != 990 || report.Skipped != 12 || report.Read != 1002 {
		t.Errorf("counts: %s", report)
	}
	if err := paired(l.entries); err != nil {
		t.Error(err)
	}
	made, results, usage := 0, 0, 0
	for _, e := range l.entries {
		if o := origin(t, e); o.Made == transcript.MadeResult {
			made++
		} else if e.Message.Role == thread.Tool {
			results++
		}
		if e.Message.Usage != nil {
			usage++
		}
	}
	if made != report.Repaired || made != 6 || results != 448 || usage != 484 || added != 990+made {
		t.Errorf("%d results made, %d read, %d usages, %d entries", made, results, usage, added)
	}
	if _, again, err := l.load(f, transcript.Options{}); err != nil || again != 0 {
		t.Errorf("a second import adds %d entries: %v", again, err)
	}
}
