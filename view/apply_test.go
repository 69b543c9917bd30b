package view_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// snapshot is a view of messages with the seqs 1, 2, 3… of a thread of that
// length, from an index on.
func snapshot(first, length int) *view.View {
	seqs := make([]int64, length)
	for i := range seqs {
		seqs[i] = int64(i + 1)
	}
	v := &view.View{Thread: view.Thread{ID: "launch", Epoch: "e"}, Entries: []view.Entry{}, Length: int64(length), From: int64(first + 1)}
	for i := first; i < length; i++ {
		v.Entries = append(v.Entries, entry(seqs, i))
	}
	if first > 0 {
		v.Before, v.Earlier = int64(first), true
	}
	v.Docs.Live = &view.Live{ID: "x", Text: "é", Tools: []view.Running{{Call: "c", Output: "o"}}}
	return v
}

func code(err error) view.FaultCode {
	var f *view.Fault
	if errors.As(err, &f) {
		return f.Code
	}
	return ""
}

func TestABatchThatCannotBeAppliedIsAFault(t *testing.T) {
	number := json.RawMessage("7")
	for name, c := range map[string]struct {
		n    int64
		ops  []view.Op
		want view.FaultCode
	}{
		"a gap":                       {3, nil, view.Gap},
		"a batch again":               {1, nil, view.Gap},
		"the next":                    {2, nil, ""},
		"no operation":                {2, []view.Op{{Code: "x"}}, view.BadOp},
		"a splice beyond the end":     {2, []view.Op{view.Splice(4, 0)}, view.BadIndex},
		"a splice before the start":   {2, []view.Op{view.Splice(-1, 0)}, view.BadIndex},
		"too much removed":            {2, []view.Op{view.Splice(2, 2)}, view.BadIndex},
		"a splice of something else":  {2, []view.Op{{Code: view.SpliceOp, Path: []string{"docs", "inbox"}}}, view.BadPath},
		"an append beyond the end":    {2, []view.Op{view.Append(3, "x", "docs", "live", "text")}, view.BadOffset},
		"an append in runes":          {2, []view.Op{view.Append(1, "x", "docs", "live", "text")}, view.BadOffset},
		"an append in bytes":          {2, []view.Op{view.Append(2, "x", "docs", "live", "text")}, ""},
		"an append to no text":        {2, []view.Op{view.Append(0, "x", "length")}, view.BadPath},
		"an append to a tool":         {2, []view.Op{view.Append(1, "x", "docs", "live", "tools", "0", "output")}, ""},
		"an append to no tool":        {2, []view.Op{view.Append(0, "x", "docs", "live", "tools", "1", "output")}, view.BadPath},
		"a value that does not fit":   {2, []view.Op{view.Set([]byte(`"x"`), "length")}, view.BadValue},
		"an unknown field":            {2, []view.Op{view.Set(number, "docs", "weather"), view.Delete("moon")}, ""},
		"a field of no answer":        {2, []view.Op{view.Set([]byte("null"), "docs", "live"), view.Append(0, "x", "docs", "live", "text")}, view.BadPath},
		"a hole in the window":        {2, []view.Op{view.Splice(1, 1)}, view.Broken},
		"a message before the window": {2, []view.Op{view.Set(number, "from")}, view.Broken},
		"before without earlier":      {2, []view.Op{view.Set([]byte("false"), "earlier")}, view.Broken},
		"another length":              {2, []view.Op{view.Set(number, "length")}, view.Broken},
		"a snapshot of nothing":       {2, []view.Op{{Code: view.ReplaceOp}}, view.BadValue},
	} {
		t.Run(name, func(t *testing.T) {
			v := view.View{}
			if err := view.Apply(&v, view.Batch{N: 1, Ops: []view.Op{view.Replace(snapshot(1, 4))}}); err != nil {
				t.Fatal(err)
			}
			was, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			if got := code(view.Apply(&v, view.Batch{N: c.n, Ops: c.ops})); got != c.want {
				t.Fatalf("fault %q, want %q", got, c.want)
			}
			if c.want == "" {
				return
			}
			if is, err := json.Marshal(v); err != nil || string(is) != string(was) || v.N != 1 {
				t.Errorf("a fault has changed the view: %v\n%s", err, cmp.Diff(string(was), string(is)))
			}
		})
	}
}

func TestTheFirstBatchIsASnapshot(t *testing.T) {
	for _, ops := range [][]view.Op{nil, {view.Set([]byte("1"), "length")}} {
		if got := code(view.Apply(&view.View{}, view.Batch{N: 1, Ops: ops})); got != view.Gap {
			t.Errorf("fault %q", got)
		}
	}
	if err := view.Apply(&view.View{}, view.Batch{N: 9, Ops: []view.Op{view.Replace(snapshot(0, 1))}}); err != nil {
		t.Errorf("a snapshot may have any number: %v", err)
	}
}

func TestACopyStaysWhatItWas(t *testing.T) {
	v := view.View{}
	must := func(n int64, ops ...view.Op) {
		t.Helper()
		if err := view.Apply(&v, view.Batch{N: n, Ops: ops}); err != nil {
			t.Fatal(err)
		}
	}
	must(1, view.Replace(snapshot(0, 3)))
	was := v
	before, err := json.Marshal(was)
	if err != nil {
		t.Fatal(err)
	}
	other := entry([]int64{1, 2, 9}, 2)
	must(2, view.Splice(2, 1), view.Set([]byte("2"), "length"))
	must(3, view.Splice(2, 0, other), view.Set([]byte("3"), "length"), view.Append(2, " no", "docs", "live", "text"))
	must(4, view.Append(1, "ut", "docs", "live", "tools", "0", "output"), view.Set([]byte(`"t"`), "thread", "title"))
	if after, err := json.Marshal(was); err != nil || string(after) != string(before) {
		t.Errorf("the copy has changed:\n%s", cmp.Diff(string(before), string(after)))
	}
	if v.Docs.Live.Text != "é no" || v.Docs.Live.Tools[0].Output != "out" || v.Thread.Title != "t" || v.Entries[2].Seq != 9 {
		t.Errorf("%+v", v)
	}
}

func TestOperationsAreArrays(t *testing.T) {
	for want, o := range map[string]view.Op{
		`["p",["entries"],3,0,[{"seq":4,"id":"i","prev":3,"index":3}]]`: view.Splice(3, 0, view.Entry{Seq: 4, ID: "i", Prev: 3, Index: 3}),
		`["p",["entries"],0,2,[]]`:                                      view.Splice(0, 2),
		`["s",["length"],812]`:                                          view.Set([]byte("812"), "length"),
		`["d",["head"]]`:                                                view.Delete("head"),
		`["a",["docs","live","text"],14," <you>"]`:                      view.Append(14, " <you>", "docs", "live", "text"),
	} {
		data, err := thread.Encode(o)
		if err != nil || string(data) != want {
			t.Errorf("%s, %v; want %s", data, err, want)
		}
		var back view.Op
		if err := json.Unmarshal([]byte(want), &back); err != nil {
			t.Errorf("%s: %v", want, err)
		}
		if again, err := thread.Encode(back); err != nil || string(again) != want {
			t.Errorf("%s came back as %s, %v", want, again, err)
		}
	}
	for _, bad := range []string{`[]`, `{}`, `["x"]`, `[1]`, `["p",["entries"],0]`, `["s","length",1]`, `["a",["x"],"0","t"]`} {
		var o view.Op
		if got := code(json.Unmarshal([]byte(bad), &o)); got != view.BadOp {
			t.Errorf("%s: fault %q", bad, got)
		}
	}
}

func FuzzApply(f *testing.F) {
	add := func(ops ...view.Op) {
		data, err := thread.Encode(view.Batch{N: 2, Ops: ops})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	add(view.Replace(snapshot(2, 9)))
	add(view.Splice(3, 0, entry([]int64{1, 2, 3, 4, 5}, 4)), view.Set([]byte("5"), "length"))
	add(view.Append(2, "x", "docs", "live", "text"), view.Append(1, "x", "docs", "live", "tools", "0", "output"))
	add(view.Delete("docs", "live"), view.Set([]byte(`{"a":1}`), "docs", "usage"))
	f.Add([]byte(`{"n":2,"ops":[["r",null],["p",["entries"],0,-1,[]]]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var b view.Batch
		if err := json.Unmarshal(data, &b); err != nil {
			return
		}
		v := view.View{}
		if err := view.Apply(&v, view.Batch{N: 1, Ops: []view.Op{view.Replace(snapshot(1, 4))}}); err != nil {
			t.Fatal(err)
		}
		r := view.Replica{}
		if err := r.Applied(view.Batch{N: 1, Ops: []view.Op{view.Replace(snapshot(1, 4))}}); err != nil {
			t.Fatal(err)
		}
		err, err2 := view.Apply(&v, b), r.Applied(b)
		if (err == nil) != (err2 == nil) {
			t.Fatalf("%v, but %v", err, err2)
		}
		if err != nil && code(err) == "" {
			t.Fatalf("%v is no fault", err)
		}
		if err := v.Check(); err != nil {
			t.Fatalf("what was applied is no view: %v", err)
		}
		checkRanges(t, &r)
	})
}

// checkRanges says whether what a replica holds ascends, and each place where
// neighbours do not follow each other is a hole.
func checkRanges(t *testing.T, r *view.Replica) {
	t.Helper()
	last := int64(0)
	ranges, holes := r.Ranges(), r.Holes()
	if len(ranges) > 0 && len(holes) != len(ranges)-1 {
		t.Fatalf("%d ranges and the holes %v", len(ranges), holes)
	}
	for i, p := range ranges {
		before := p.Before
		for _, e := range p.Entries {
			if e.Prev != before || e.Seq <= last {
				t.Fatalf("message %d follows %d in a range, after %d", e.Seq, e.Prev, last)
			}
			before, last = e.Seq, e.Seq
		}
		if i > 0 && !slices.ContainsFunc(holes, func(h view.Hole) bool { return h.Before > h.After+1 || h.Before == p.Before+1 }) {
			t.Fatalf("an empty hole in %v", holes)
		}
	}
}

func TestLongPartsAreCut(t *testing.T) {
	long := strings.Repeat("é漢\x01\"", 60_000)
	input, err := json.Marshal(map[string]string{"text": long})
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]thread.Message{
		"one long text":       {Parts: []thread.Part{thread.Text(long)}},
		"a long one of three": {Parts: []thread.Part{thread.Text("short"), thread.Text(long), thread.Text("end")}},
		"a long result":       {Parts: []thread.Part{thread.Result("c", "shell", long, false)}},
		"a long input":        {Parts: []thread.Part{thread.Call("c", "write", input)}},
		"many parts":          {Parts: slices.Repeat([]thread.Part{thread.Text("a part")}, 20_000)},
		"a proof":             {Parts: []thread.Part{{Type: thread.ThinkingPart, Text: "hm", Signature: strings.Repeat("s", 400_000)}, thread.Text("so")}},
		"contexts":            {Parts: []thread.Part{thread.Text("hi")}, Contexts: []thread.Context{{Name: "n", Text: long}}},
		"many names":          {Audience: slices.Repeat([]string{"ana"}, 90_000)},
	} {
		t.Run(name, func(t *testing.T) {
			m.Author, m.Role = "ana", thread.User
			e := thread.Say(m)
			e.Seq, e.ID, e.Time, e.Index = 7, "id", time.Unix(0, 0).UTC(), 3
			v, data, err := view.Project(&e)
			if err != nil || !v.More || len(data) > view.MaxEntry || !json.Valid(data) {
				t.Fatalf("%d bytes, more %t, %v", len(data), v.More, err)
			}
			var back view.Entry
			if err := json.Unmarshal(data, &back); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(v, back); d != "" {
				t.Errorf("the JSON says something else:\n%s", d)
			}
			if strings.Contains(string(data), "\uFFFD") {
				t.Error("a rune was split")
			}
			if strings.HasPrefix(name, "one") && len(data) < view.MaxEntry*3/4 {
				t.Errorf("only %d bytes are left", len(data))
			}
			if strings.HasPrefix(name, "a long one") && (len(v.Message.Parts) != 3 || v.Message.Parts[0].Text != "short" || v.Message.Parts[2].Text != "end") {
				t.Error("short parts were cut")
			}
		})
	}
	short := thread.Say(thread.Message{Author: "ana", Parts: []thread.Part{thread.Text("hi")}})
	if v, _, err := view.Project(&short); err != nil || v.More {
		t.Errorf("a short message was cut: %v", err)
	}
}
