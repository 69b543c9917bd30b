package guide_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/skeinhq/skein/guide"
	"github.com/skeinhq/skein/thread"
)

func TestLoaded(t *testing.T) {
	user := thread.Say(thread.Message{Author: "ana", Role: thread.User, Parts: []thread.Part{thread.Text("go on")}})
	imported := says("north", loads("1", "review"))
	imported.Message.Meta = json.RawMessage(`{"import":{"format":"pi"}}`)
	foreign := gave("1", false)
	foreign.Message.Meta = json.RawMessage(`{"import":{"format":"pi"}}`)
	said := loads("1", "review")
	faked := thread.Say(thread.Message{Author: "ana", Role: thread.User, Parts: []thread.Part{said, thread.Result("1", guide.LoadSkill, "…", false)}})
	git := thread.Call("2", "git", nil)
	odd := func(input string) thread.Entry {
		return says("north", thread.Call("1", guide.LoadSkill, json.RawMessage(input)))
	}
	cases := []struct {
		about    string
		messages []thread.Entry
		want     string
	}{
		{"nothing", nil, ""},
		{"call and result", []thread.Entry{user, says("north", said), gave("1", false)}, "review"},
		{"the call alone", []thread.Entry{says("north", said)}, ""},
		{"the result alone", []thread.Entry{gave("1", false)}, ""},
		{"the result before the call", []thread.Entry{gave("1", false), says("north", said)}, ""},
		{"an error", []thread.Entry{says("north", said), gave("1", true)}, ""},
		{"another agent's", []thread.Entry{says("south", said), gave("1", false)}, ""},
		{"another agent took the id since", []thread.Entry{says("north", said), says("south", said), gave("1", false)}, ""},
		{"in the order of their results", []thread.Entry{says("north", loads("1", "b"), loads("2", "a")), gave("2", false), gave("1", false)}, "a b"},
		{"once, where it was first", []thread.Entry{says("north", loads("1", "b")), gave("1", false), says("north", loads("1", "a")), gave("1", false), says("north", loads("1", "b")), gave("1", false)}, "b a"},
		{"failed, then loaded", []thread.Entry{says("north", said), gave("1", true), says("north", said), gave("1", false)}, "review"},
		{"the batch still runs", []thread.Entry{says("north", said, git), gave("1", false)}, ""},
		{"the batch still runs, somebody spoke", []thread.Entry{says("north", said, git), gave("1", false), user}, ""},
		{"the batch has ended", []thread.Entry{says("north", said, git), gave("1", false), gave("2", true)}, "review"},
		{"a later answer stands", []thread.Entry{says("north", said, git), gave("1", false), says("north", thread.Text("so"))}, "review"},
		{"a call of the next batch", []thread.Entry{says("north", said), gave("1", false), says("north", git)}, "review"},
		{"a file was read", []thread.Entry{odd(`{"name":"review","file":"a.md"}`), gave("1", false)}, ""},
		{"no name", []thread.Entry{odd(`{}`), gave("1", false)}, ""},
		{"an input of another shape", []thread.Entry{odd(`["review"]`), gave("1", false)}, ""},
		{"no JSON", []thread.Entry{odd(`{"name":"review"`), gave("1", false)}, ""},
		{"imported", []thread.Entry{imported, gave("1", false)}, ""},
		{"an imported result", []thread.Entry{says("north", said), foreign}, ""},
		{"a user's words", []thread.Entry{faked}, ""},
		{"a user's result", []thread.Entry{says("north", said), faked}, ""},
		{"erased", []thread.Entry{says("north", said), {Kind: thread.MessageKind}}, ""},
	}
	for _, c := range cases {
		if got := strings.Join(guide.Loaded("north", c.messages), " "); got != c.want {
			t.Errorf("%s: loaded %q, want %q of\n%s", c.about, got, c.want, shown(c.messages))
		}
	}
}

// shown prints messages for a failing test.
func shown(messages []thread.Entry) string {
	data, err := json.MarshalIndent(messages, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// batch is what a conversation is drawn from: calls, and how many have results.
type batch struct {
	agent  string
	skills []string // of each call; "" is another tool's
	errs   []bool
	given  int
}

func (b batch) messages(n int) []thread.Entry {
	var calls []thread.Part
	for i, name := range b.skills {
		id := fmt.Sprintf("%d.%d", n, i)
		if name == "" {
			calls = append(calls, thread.Call(id, "git", nil))
			continue
		}
		calls = append(calls, loads(id, name))
	}
	out := []thread.Entry{says(b.agent, calls...)}
	for i := range b.given {
		out = append(out, gave(fmt.Sprintf("%d.%d", n, i), b.errs[i]))
	}
	return out
}

// conversation draws batches, all of which are answered but perhaps the last.
func conversation(t *rapid.T) []batch {
	out := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) batch {
		b := batch{
			agent:  rapid.SampledFrom([]string{"north", "north", "south"}).Draw(t, "agent"),
			skills: rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b", "c"}), 1, 4).Draw(t, "skills"),
		}
		b.errs = rapid.SliceOfN(rapid.Bool(), len(b.skills), len(b.skills)).Draw(t, "errors")
		b.given = len(b.skills)
		return b
	}), 0, 8).Draw(t, "batches")
	if n := len(out); n > 0 {
		out[n-1].given = rapid.IntRange(0, len(out[n-1].skills)).Draw(t, "given")
	}
	return out
}

func spoken(batches []batch) []thread.Entry {
	var out []thread.Entry
	for n, b := range batches {
		out = append(out, b.messages(n)...)
	}
	return out
}

// wanted says it another way: the skills of whole batches, without errors.
func wanted(batches []batch) []string {
	var out []string
	for _, b := range batches {
		for i, name := range b.skills {
			if b.agent == "north" && b.given == len(b.skills) && !b.errs[i] && name != "" && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

func TestLoadedIsReadFromTheMessagesAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batches := conversation(t)
		messages := spoken(batches)
		got := guide.Loaded("north", messages)
		if diff := cmp.Diff(wanted(batches), got); diff != "" {
			t.Fatalf("%s\nof %s", diff, shown(messages))
		}
		// A restart reads the log anew; a fork has the same messages by other ids.
		data, err := json.Marshal(messages)
		if err != nil {
			t.Fatal(err)
		}
		var again []thread.Entry
		if err := json.Unmarshal(data, &again); err != nil {
			t.Fatal(err)
		}
		for i := range again {
			again[i].ID, again[i].Branch = "another", 7
		}
		if diff := cmp.Diff(got, guide.Loaded("north", again)); diff != "" {
			t.Fatalf("after a restart and in a fork: %s", diff)
		}
		// More messages lock nothing, and load nothing before their batch ends.
		var before []string
		for n := range messages {
			now := guide.Loaded("north", messages[:n])
			if len(now) < len(before) || !slices.Equal(now[:len(before)], before) {
				t.Fatalf("%d messages loaded %v, one fewer %v: %s", n, now, before, shown(messages[:n]))
			}
			before = now
		}
	})
}

func TestASkillIsLockedWhenItsPairHasLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batches := conversation(t)
		loaded := guide.Loaded("north", spoken(batches))
		gone := rapid.IntRange(0, len(batches)).Draw(t, "gone")
		staying := spoken(batches)[len(spoken(batches[:gone])):]
		open := guide.Loaded("north", staying)
		proved := wanted(batches[gone:])
		for _, name := range loaded {
			if slices.Contains(open, name) != slices.Contains(proved, name) {
				t.Fatalf("%s of %v: open %v, proved %v by %s", name, loaded, open, proved, shown(staying))
			}
		}
		// Half a pair proves nothing either.
		for at, e := range spoken(batches) {
			if len(e.Message.Results()) == 0 {
				continue
			}
			rest := slices.Delete(spoken(batches), at, at+1)
			if n := len(guide.Loaded("north", rest)); n > len(loaded) {
				t.Fatalf("without result %d, %d are loaded, before %d", at, n, len(loaded))
			}
		}
	})
}
