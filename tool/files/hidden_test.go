package files_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/skeinhq/skein/tool"
)

// judged calls a tool as an agent with these permissions does. ok: it was not
// denied; what is asked about is approved.
func (r room) judged(p tool.Permissions, name string, input in) (text string, v tool.Verdict, ok bool) {
	r.t.Helper()
	found, _ := tool.Find(r.tools, name)
	raw, err := json.Marshal(input)
	if err != nil {
		r.t.Fatal(err)
	}
	if v, err = p.Decide(found, raw); err != nil || v.Decision == tool.Deny {
		return "", v, false
	}
	ctx := tool.WithCaller(context.Background(), tool.Caller{Thread: "t", Hidden: p.Hides(found, v, nil)})
	text, _ = r.under(ctx, name, input)
	return text, v, true
}

func TestSearchAndListLeaveOutWhatIsDenied(t *testing.T) {
	r := open(t, map[string]string{"secrets/a.key": "PASS=1\n", "src/main.go": "// PASS\n", "b.key": "PASS=2\n"})
	r.link("secrets/a.key", "to-key")
	r.link("src/main.go", "to-main")
	p := tool.Permissions{Rules: []tool.Rule{{Decision: tool.Deny, Paths: []string{"secrets/**"}}, {Decision: tool.Ask, Paths: []string{"*.key"}}}}
	const note = "files or folders are left out: the permissions keep them from this tool; a call that names one is refused, or somebody is asked]\n"
	for _, c := range []struct {
		name  string
		input in
		want  string
	}{
		{"search_files", in{"pattern": "PASS"}, "src/main.go:1: // PASS\n[1 hits in 1 of 1 files]\n[2 " + note},
		{"search_files", in{"pattern": "none"}, "[no hits in 1 files]\n[2 " + note},
		{"search_files", in{"pattern": "PASS", "path": "src"}, "src/main.go:1: // PASS\n[1 hits in 1 of 1 files]\n"},
		{"search_files", in{"pattern": "PASS", "path": "b.key"}, "b.key:1: PASS=2\n[1 hits in 1 of 1 files]\n"}, // asked about and approved
		{"list_files", in{}, "src/\nto-main -> src/main.go\n[3 " + note},
		{"list_files", in{"glob": "*.key"}, "[nothing matches]\n[3 " + note},
		{"list_files", in{"glob": "s*"}, "src/\n[3 " + note}, // a glob tells nothing of what is hidden
	} {
		if got, _, ok := r.judged(p, c.name, c.input); !ok || got != c.want {
			t.Errorf("%s %v gives\n%s, want\n%s", c.name, c.input, got, c.want)
		}
	}
	if _, v, ok := r.judged(p, "search_files", in{"pattern": "PASS", "path": "secrets"}); ok {
		t.Errorf("what is denied is searched: %+v", v)
	}
	if _, v, ok := r.judged(p, "list_files", in{"path": "to-key"}); ok {
		t.Errorf("a link to what is denied is listed: %+v", v)
	}
}

// TestAnApprovedCallShowsWhatItWasAskedFor: where all is asked about, an approval
// is for all but what is denied or asked about for itself.
func TestAnApprovedCallShowsWhatItWasAskedFor(t *testing.T) {
	r := open(t, map[string]string{"a": "", "b": "", "c": ""})
	p := tool.Permissions{Rules: []tool.Rule{{Decision: tool.Deny, Paths: []string{"b"}}, {Decision: tool.Ask, Paths: []string{"c"}}}, Default: tool.Ask}
	if got, v, _ := r.judged(p, "list_files", in{}); v.Decision != tool.Ask || !strings.HasPrefix(got, "a\n[2 files") {
		t.Errorf("%+v gives %s", v, got)
	}
}

// TestNothingHiddenIsEverShown: neither a byte of its own nor its name, whatever the
// rules and the call; and what is not hidden is shown.
func TestNothingHiddenIsEverShown(t *testing.T) {
	folders := []string{"", "fo1/", "fo1/fo2/", "fo3/"}
	content, entries := map[string]string{}, []string{"fo1", "fo1/fo2", "fo3"}
	for i, folder := range folders {
		for j := range 3 {
			p := fmt.Sprintf("%sna%d%d", folder, i, j)
			content[p] = fmt.Sprintf("text\ntext of-%d%d\n", i, j)
			entries = append(entries, p)
		}
	}
	r := open(t, content)
	links := map[string]string{"li1": "fo1/na10", "fo3/li2": "../fo1/fo2", "fo1/li3": "li4", "fo1/li4": "fo2/../na11", "li5": "nowhere"}
	for p, to := range links {
		r.link(to, p)
		entries = append(entries, p)
	}
	glob := rapid.SampledFrom([]string{".", "**", "*", "fo1", "fo1/**", "fo1/*", "**/fo2/**", "fo[13]", "**/na?1", "**/na1*", "na00", "fo3/na3{0,2}", "**/li*", "*/*", "nowhere"})
	decision := rapid.SampledFrom([]tool.Decision{tool.Allow, tool.Deny, tool.Ask})
	rapid.Check(t, func(t *rapid.T) {
		p := tool.Permissions{Default: decision.Draw(t, "default")}
		for range rapid.IntRange(1, 4).Draw(t, "rules") {
			p.Rules = append(p.Rules, tool.Rule{Decision: decision.Draw(t, "decision"), Paths: rapid.SliceOfN(glob, 1, 2).Draw(t, "globs")})
		}
		name := rapid.SampledFrom([]string{"search_files", "list_files"}).Draw(t, "tool")
		input := in{"path": rapid.SampledFrom([]string{".", "fo1", "fo1/fo2", "fo3", "fo3/li2"}).Draw(t, "path")}
		from := input["path"].(string)
		if from == "fo3/li2" {
			from = "fo1/fo2"
		}
		if name == "search_files" {
			input["pattern"] = rapid.SampledFrom([]string{"text of", "."}).Draw(t, "pattern")
		} else {
			input["depth"] = 9
		}
		text, verdict, ok := r.judged(p, name, input)
		if !ok {
			t.Skip("the call is denied")
		}
		found, _ := tool.Find(r.tools, name)
		alone := func(at string) bool { // whether nothing hides a path
			for q := at; q != from && q != "."; q = path.Dir(q) {
				raw, err := json.Marshal(tool.Resources{Paths: []string{q}})
				if err != nil {
					t.Fatal(err)
				}
				only := tool.Tool{Name: found.Name, ReadOnly: true, Resources: func(raw json.RawMessage) (r tool.Resources, err error) {
					err = json.Unmarshal(raw, &r)
					return r, err
				}}
				v, err := p.Decide(only, raw)
				if err != nil {
					t.Fatal(err)
				}
				if v.Decision == tool.Deny || v.Decision == tool.Ask && (verdict.Decision != tool.Ask || verdict.Rule != v.Rule) {
					return false
				}
			}
			return true
		}
		for _, e := range entries {
			inside := from == "." || strings.HasPrefix(e, from+"/")
			shows := alone(e)
			if from == e || strings.HasPrefix(from, e+"/") {
				continue // the call names it
			}
			if !shows && inside && (strings.Contains(text, path.Base(e)) || content[e] != "" && strings.Contains(text, strings.TrimPrefix(content[e], "text\ntext"))) {
				t.Fatalf("%+v: %s %v shows %s:\n%s", p, name, input, e, text)
			}
			if _, isLink := links[e]; shows && inside && !isLink && !strings.Contains(text, path.Base(e)) && (name == "list_files" || content[e] != "") {
				t.Fatalf("%+v: %s %v leaves out %s:\n%s", p, name, input, e, text)
			}
		}
	})
}
