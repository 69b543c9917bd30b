package transcript_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/skeinhq/skein/transcript"
)

func TestCallWithoutResultIsClosedBeforeTheNextMessage(t *testing.T) {
	l, report := read(t, lines(v1, flat(calls("c1", "c2", "c3")), flat(result("c2", "two")), flat(user("go on"))))
	wantLog(t, l, `
assistant assistant: call c1 ls {"path":"."} | call c2 ls {"path":"."} | call c3 ls {"path":"."}
tool ls: result c2 two
tool ls [made result]: result c1 The transcript has no result of this call.
tool ls [made result]: result c3 The transcript has no result of this call.
user user: go on`)
	if !l.entries[2].Message.Parts[0].IsError {
		t.Error("the result made is no error")
	}
	wantNotes(t, report,
		`2: call "c1" to ls has no result; an error result was made`,
		`2: call "c3" to ls has no result; an error result was made`)
}

func TestResultAfterOtherMessagesIsMovedToItsCall(t *testing.T) {
	l, report := read(t, lines(v1, flat(calls("c1")), flat(user("meanwhile")), flat(result("c1", "one"))))
	wantLog(t, l, `
assistant assistant: call c1 ls {"path":"."}
tool ls: result c1 one
user user: meanwhile`)
	wantNotes(t, report, "4: result of the call on line 2 stands after later messages; moved to it")
}

func TestResultWithoutACallIsANote(t *testing.T) {
	l, report := read(t, lines(v1, flat(result("c1", "early")), flat(calls("c1")), flat(result("c1", "one")), flat(result("c1", "twice"))))
	wantLog(t, l, `
user ls [made note]: Result of ls (its call is not in the transcript): | early
assistant assistant: call c1 ls {"path":"."}
tool ls: result c1 one
user ls [made note]: Result of ls (its call is not in the transcript): | twice`)
	wantNotes(t, report,
		`2: result without a call "c1" before it; kept as a note`,
		`5: result without a call "c1" before it; kept as a note`)
}

func TestOneIDInTwoMessages(t *testing.T) {
	l, _ := read(t, lines(v1, flat(calls("c1")), flat(calls("c1")), flat(result("c1", "second"))))
	wantLog(t, l, `
assistant assistant: call c1 ls {"path":"."}
tool ls [made result]: result c1 The transcript has no result of this call.
assistant assistant: call c1 ls {"path":"."}
tool ls: result c1 second`)
}

func TestCallsWithoutIDsGetThem(t *testing.T) {
	l, _ := read(t, lines(v1, flat(calls("", "")), flat(result("", "one")), flat(result("", "two"))))
	ids := l.entries[0].Message.Calls()
	if ids[0].ID == ids[1].ID || l.entries[1].Message.Parts[0].Call != ids[0].ID || l.entries[2].Message.Parts[0].Call != ids[1].ID {
		t.Errorf("ids do not match in\n%s", l)
	}
}

// TestResultThatCameLater guards against two results of one call, and against
// losing the real one, when a session is imported while it still runs.
func TestResultThatCameLater(t *testing.T) {
	l, _ := read(t, lines(v1, flat(calls("c1"))))
	grown := lines(v1, flat(calls("c1")), flat(result("c1", "one")), flat(bot("done")))
	for range 2 {
		if _, _, err := l.load(strings.NewReader(grown), transcript.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	wantLog(t, l, `
assistant assistant: call c1 ls {"path":"."}
tool ls [made result]: result c1 The transcript has no result of this call.
user ls [made note]: Result of ls (it came after an earlier import had closed its call): | one
assistant assistant: done`)
}

// TestShorterCopyAfterwards: a call that has its result is not closed again.
func TestShorterCopyAfterwards(t *testing.T) {
	l, _ := read(t, lines(v1, flat(calls("c1")), flat(result("c1", "one"))))
	_, added, err := l.load(strings.NewReader(lines(v1, flat(calls("c1")))), transcript.Options{})
	if err != nil || added != 0 {
		t.Errorf("the shorter copy adds %d: %v", added, err)
	}
}

func TestManyMessagesAreNotHeldForAResult(t *testing.T) {
	source := lines(v1, flat(calls("c1")))
	for i := range 200 {
		source += lines(flat(user(fmt.Sprint(i))))
	}
	l, _ := read(t, source+lines(flat(result("c1", "late"))))
	last := l.entries[len(l.entries)-1]
	if len(l.entries) != 203 || origin(t, last).Made != transcript.MadeNote {
		t.Errorf("%d entries, the last %s", len(l.entries), brief(last))
	}
}

// sessions draws sessions in which anything may be missing or out of place.
var sessions = rapid.Custom(func(t *rapid.T) []string {
	ids := rapid.SampledFrom([]string{"c1", "c2", "c3", ""})
	line := rapid.Custom(func(t *rapid.T) string {
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0:
			return flat(user(rapid.StringN(0, 5, -1).Draw(t, "text")))
		case 1:
			return flat(bot("b"))
		case 2, 3:
			return flat(calls(rapid.SliceOfN(ids, 1, 3).Draw(t, "ids")...))
		case 4, 5:
			return flat(result(ids.Draw(t, "id"), "r"))
		}
		return rapid.SampledFrom([]string{"", "{", `{"type":"compaction"}`, "\x00", flat(`{"role":"?"}`), flat(`{"role":"user","content":[3]}`)}).Draw(t, "odd")
	})
	return append([]string{v1}, rapid.SliceOfN(line, 0, 90).Draw(t, "lines")...)
})

// TestAnySessionBecomesAValidConversation, imported at once or as it grows, and
// nothing that was said is lost on the way.
func TestAnySessionBecomesAValidConversation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		session := sessions.Draw(t, "session")
		ends := rapid.SliceOfN(rapid.IntRange(1, len(session)), 0, 3).Draw(t, "ends")
		slices.Sort(ends)
		grown := &log{}
		var report transcript.Report
		for _, end := range append(ends, len(session)) {
			var err error
			report, _, err = grown.load(strings.NewReader(lines(session[:end]...)), transcript.Options{})
			if err != nil {
				t.Fatal(err)
			}
		}
		if report.Read != report.Kept+report.Skipped {
			t.Fatalf("the report does not add up: %+v", report)
		}
		if err := paired(grown.entries); err != nil {
			t.Fatalf("%v in\n%s", err, grown)
		}
		made := 0
		for _, e := range grown.entries {
			if o, _ := transcript.OriginOf(e.Message); o.Made == transcript.MadeResult {
				made++
			}
		}
		if len(grown.entries) != report.Kept+made {
			t.Fatalf("%d records kept and %d results made are %d entries:\n%s", report.Kept, made, len(grown.entries), grown)
		}
		if _, again, err := grown.load(strings.NewReader(lines(session...)), transcript.Options{}); err != nil || again != 0 {
			t.Fatalf("once more adds %d: %v", again, err)
		}
	})
}
