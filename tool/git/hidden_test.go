package git_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
	"github.com/skeinhq/skein/tool/git"
)

// under calls the tool for somebody from whom files are hidden.
func (r repo) under(hidden func(string) bool, input in) (string, bool) {
	r.t.Helper()
	t, err := git.Tool(r.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	raw, err := json.Marshal(input)
	if err != nil {
		r.t.Fatal(err)
	}
	ctx := tool.WithCaller(context.Background(), tool.Caller{Hidden: hidden})
	a, err := tool.Answer(ctx, []tool.Tool{t}, thread.Call("c", "git", raw))
	if err != nil {
		r.t.Fatal(err)
	}
	return a.Result.Parts[0].Text, a.Result.IsError
}

// rich is a history in which files are made, changed, moved and removed, become
// folders, and come together in a merge; each has contents of its own.
func rich(t *testing.T) repo {
	t.Helper()
	r := empty(t)
	n := 0
	put := func(names ...string) {
		for _, name := range names {
			n++
			r.put(name, fmt.Sprintf("%scontent-of-%s-%d\nend\n", strings.Repeat("common\n", 12), path.Base(name), n))
		}
	}
	commit := func() {
		r.git("add", "-A")
		r.git("commit", "-qm", fmt.Sprint("Commit ", n))
	}
	put("na1", "na2", "fo1/na3", "fo1/fo2/na4", "fo3/na5", "na6")
	commit()
	put("fo3/na5")
	commit()
	r.git("checkout", "-qb", "side")
	put("na1", "fo1/na3")
	commit()
	r.git("checkout", "-q", "main")
	put("na1", "na2", "fo3/na5")
	commit()
	if out, err := r.try("merge", "-q", "side"); err == nil {
		t.Fatalf("the branches fit together: %s", out)
	}
	put("na1", "fo1/na3") // differs from both
	commit()
	r.git("rm", "-q", "na6")
	put("na6/na7", "na6/na8")
	commit()
	r.git("mv", "fo1/fo2/na4", "na9")
	put("na9")
	commit()
	r.git("tag", "-am", "A tag", "v2")
	put("na1", "fo1/na3", "fo3/na5")
	r.git("add", "-A")
	put("na1", "na2", "fo3/na5", "na6/na7", "fo1/fresh1", "fo4/fresh2")
	return r
}

// looks are calls that show much.
func looks(r repo) []in {
	looks := []in{
		{"command": "status"}, {"command": "diff"}, {"command": "diff", "staged": true}, {"command": "log"}, {"command": "log", "stat": true, "limit": 3},
		{"command": "show"}, {"command": "show", "revision": "v2"}, {"command": "show", "revision": "HEAD:"}, {"command": "show", "revision": "HEAD:fo1"}, {"command": "diff", "staged": true, "revision": "HEAD~3"},
	}
	for _, revision := range []string{"HEAD~1", "HEAD~2", "HEAD~4", "side", "v2~3"} {
		looks = append(looks, in{"command": "show", "revision": revision}, in{"command": "diff", "revision": revision}, in{"command": "diff", "revision": revision + ".."}, in{"command": "diff", "revision": revision + "...side"})
	}
	for _, l := range looks {
		if l["command"] == "status" {
			continue
		}
		stat := in{"stat": true}
		for k, v := range l {
			stat[k] = v
		}
		looks = append(looks, stat)
	}
	for _, l := range looks {
		if revision, _ := l["revision"].(string); strings.Contains(revision, ":") {
			continue
		}
		within := in{"path": "fo1"}
		for k, v := range l {
			within[k] = v
		}
		looks = append(looks, within)
	}
	return looks
}

func TestWhereNothingIsHiddenAllIsShownAsEver(t *testing.T) {
	r := rich(t)
	for _, l := range looks(r) {
		want, wrong := r.call(l)
		got, failed := r.under(func(string) bool { return false }, l)
		if l["command"] == "status" || strings.HasSuffix(fmt.Sprint(l["revision"]), ":") || strings.Contains(fmt.Sprint(l["revision"]), ":") {
			want, got = strings.Join(strings.Fields(want)[2:], " "), strings.Join(strings.Fields(got)[2:], " ") // a tree is told by its hash
		}
		if got != want || failed != wrong {
			t.Errorf("%v gives\n%s\nwith what is hidden, and without\n%s", l, got, want)
		}
	}
}

// TestNothingHiddenIsEverShown: neither a byte of its own nor its name.
func TestNothingHiddenIsEverShown(t *testing.T) {
	r := rich(t)
	looks := looks(r)
	for _, hash := range strings.Split(strings.TrimSpace(r.git("cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)")), "\n") {
		kind, name, _ := strings.Cut(hash, " ")
		if kind == "blob" || kind == "tree" {
			looks = append(looks, in{"command": "show", "revision": name}, in{"command": "diff", "revision": name}, in{"command": "diff", "revision": name + "..HEAD"}, in{"command": "show", "revision": name, "path": "na1"}, in{"command": "log", "revision": name, "stat": true})
		}
	}
	looks = append(looks, in{"command": "show", "revision": "HEAD^{tree}"}, in{"command": "diff", "revision": "HEAD~1:fo1"})
	entries := []string{"na1", "na2", "fo1", "fo1/na3", "fo1/fo2", "fo1/fo2/na4", "fo3", "fo3/na5", "na6", "na6/na7", "na6/na8", "na9", "fo1/fresh1", "fo4", "fo4/fresh2"}
	glob := rapid.SampledFrom([]string{"*", "fo1", "fo1/*", "fo1/**", "**/fo2/**", "fo[13]/**", "**/na3", "na1", "na2", "na6", "na6/na7", "na9", "{fo3,fo4}/*", "**/fresh*", "**/na4"})
	decision := rapid.SampledFrom([]tool.Decision{tool.Deny, tool.Ask, tool.Allow})
	found, err := git.Tool(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		p := tool.Permissions{}
		for range rapid.IntRange(1, 3).Draw(t, "rules") {
			p.Rules = append(p.Rules, tool.Rule{Decision: decision.Draw(t, "decision"), Paths: rapid.SliceOfN(glob, 1, 3).Draw(t, "globs")})
		}
		l := rapid.SampledFrom(looks).Draw(t, "call")
		raw, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		v, err := p.Decide(found, raw)
		if err != nil || v.Decision != tool.Allow {
			t.Skip("the call is not allowed")
		}
		hidden := p.Hides(found, v, nil)
		if hidden == nil {
			t.Skip("nothing is hidden")
		}
		text, _ := r.under(hidden, l)
		for _, e := range entries {
			_, is := (tool.Caller{Hidden: hidden}).Hides(v.Resources.Paths[0], e)
			if is && strings.Contains(text, path.Base(e)) {
				t.Fatalf("%+v: %v shows %s:\n%s", p, l, e, text)
			}
		}
	})
}

func TestWhatIsNotHiddenIsShown(t *testing.T) {
	r := rich(t)
	hidden := func(p string) bool { return p == "fo3/na5" || p == "na1" || p == "fo4" }
	for _, c := range []struct {
		input in
		want  []string
	}{
		{in{"command": "status"}, []string{"## main\n", "M  fo1/na3\n", " M na2\n", "?? fo1/fresh1\n", "[3 files or folders are left out"}},
		{in{"command": "diff"}, []string{"+content-of-na2-", "+content-of-na7-", "[2 files or folders"}},
		{in{"command": "diff", "path": "fo3"}, []string{"[no differences]\n[1 files or folders"}},
		{in{"command": "show", "revision": "HEAD~2"}, []string{"Merge: ", "Commit 14", "++content-of-na3-", "[2 files or folders"}},
		{in{"command": "show", "revision": "main~4"}, []string{"commit "}},
		{in{"command": "log", "stat": true}, []string{"Commit 7", "Commit 6", "fo1/fo2/na4 | 14 +++", "[2 files or folders"}}, // Commit 7 changes what is hidden alone
		{in{"command": "show", "revision": "HEAD:fo3"}, []string{"tree ", "[1 files or folders"}},
		{in{"command": "show", "revision": "HEAD:na2"}, []string{"content-of-na2-"}},
		{in{"command": "show", "revision": "v2"}, []string{"A tag", "rename from fo1/fo2/na4"}},
	} {
		got, isError := r.under(hidden, c.input)
		for _, want := range c.want {
			if isError || !strings.Contains(got, want) {
				t.Errorf("%v gives\n%s, want %q", c.input, got, want)
			}
		}
	}
	blob := strings.TrimSpace(r.git("rev-parse", "HEAD:na1"))
	r.git("tag", "-am", "x", "of-blob", blob)
	for input, words := range map[*in]string{
		{"command": "show", "revision": blob}:                "what is not a commit may be any of them",
		{"command": "show", "revision": "of-blob"}:           "what is not a commit may be any of them",
		{"command": "show", "revision": "HEAD^{tree}"}:       "what is not a commit may be any of them",
		{"command": "diff", "revision": blob}:                "what is not a commit cannot be compared",
		{"command": "diff", "revision": "HEAD:fo3"}:          "what is not a commit cannot be compared",
		{"command": "diff", "revision": "HEAD.." + blob}:     "what is not a commit cannot be compared",
		{"command": "show", "revision": "gone"}:              "there is no revision gone",
		{"command": "diff", "revision": "side~1^{tree}"}:     "what is not a commit cannot be compared",
		{"command": "show", "revision": blob, "path": "na2"}: "what is not a commit may be any of them",
	} {
		if text, isError := r.under(hidden, *input); !isError || !strings.Contains(text, words) || strings.Contains(text, "content-of") {
			t.Errorf("%v gives %q (error: %v), want %q", *input, text, isError, words)
		}
	}
	if text, isError := empty(t).under(hidden, in{"command": "diff", "staged": true}); isError || text != "[no differences]" {
		t.Errorf("without commits: %s", text)
	}
}
