package agent_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/internal/agent"
	"github.com/skeinhq/skein/internal/outline"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

func TestParseAgent(t *testing.T) {
	cases := []struct {
		about, file string
		want        agent.Agent
	}{
		{"only instructions", "You are calm.\n", agent.Agent{Name: "n", Instructions: "You are calm."}},
		{"an empty front matter", "---\n---\nHi\n", agent.Agent{Name: "n", Instructions: "Hi"}},
		{"all fields, as Windows writes them", strings.ReplaceAll("---\nmodel: echo\nmax_output: 100\nthinking: low\ntools: [zoom, read]\nstrategy: outline\ntail: 40,80\noutline: [400, 800]\nmax_age: 30d\nlimits:\n  steps: 7\n---\n\nHi\n---\nthere\n", "\n", "\r\n"),
			agent.Agent{Name: "n", Instructions: "Hi\n---\nthere", Model: "echo", MaxOutput: 100, Thinking: "low", Tools: []string{"zoom", "read"},
				Tail: outline.Marks{Low: 40, High: 80}, Outline: outline.Marks{Low: 400, High: 800}, MaxAge: 30 * 24 * time.Hour, Limits: agent.Limits{Steps: 7}}},
		{"no tools at all", "---\ntools: []\n---\n", agent.Agent{Name: "n", Tools: []string{}}},
		{"front matter alone", "---\nmodel: echo\n---", agent.Agent{Name: "n", Model: "echo"}},
	}
	for _, c := range cases {
		got, err := agent.Parse("n", []byte(c.file))
		if err != nil {
			t.Errorf("%s: %v", c.about, err)
			continue
		}
		if p := got.Permissions; p.Default != tool.Ask || p.ReadOnly != tool.Allow {
			t.Errorf("%s: permissions %+v", c.about, p)
		}
		got.Permissions = tool.Permissions{}
		if got.Strategy.String() != "outline" {
			t.Errorf("%s: strategy %s", c.about, got.Strategy)
		}
		got.Strategy = nil
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.about, d)
		}
	}
}

func TestAnAgentsHarnessStandsInItsFile(t *testing.T) {
	got, err := agent.Parse("n", []byte(`---
include: [AGENTS.md, mcp:team/rules]
tools: [files, git]
skills: [review]
keep_skills: false
permissions:
  - ask: write_file
    paths: ["src/**"]
  - default: allow
strategy:
  - truncate: {keep_recent: 2, max_characters: 500}
  - summarize
limits: {steps: 60, calls: 80, tokens: 1000000, cost: 2.5, time: 1h}
---
Hi
`))
	if err != nil {
		t.Fatal(err)
	}
	if got.Strategy.String() != "truncate,summarize" || len(got.Include) != 2 || !got.ForgetSkills {
		t.Errorf("strategy %s, %d includes, forgets: %v", got.Strategy, len(got.Include), got.ForgetSkills)
	}
	if want := (agent.Limits{Steps: 60, Calls: 80, Tokens: 1_000_000, Cost: 2.5, Time: time.Hour}); got.Limits != want {
		t.Errorf("limits %+v, want %+v", got.Limits, want)
	}
	if p := got.Permissions; len(p.Rules) != 1 || p.Default != tool.Allow || p.ReadOnly != tool.Allow {
		t.Errorf("permissions %+v", p)
	}
}

func TestADefaultOfDenyHoldsForReadingToo(t *testing.T) {
	got, err := agent.Parse("n", []byte("---\npermissions: [{default: deny}]\n---\n"))
	if err != nil || got.Permissions.Default != tool.Deny || got.Permissions.ReadOnly != "" {
		t.Errorf("permissions %+v, %v", got.Permissions, err)
	}
}

func TestBadAgentFilesAreNamed(t *testing.T) {
	for file, want := range map[string]string{
		"---\nmodel: echo\n":                                    "does not end with ---",
		"---\nmodl: echo\n---\n":                                "modl",
		"---\nstrategy: forget\n---\n":                          "known: outline",
		"---\nthinking: hard\n---\n":                            "known are low",
		"---\nstrategy: [outline, truncate]\n---\n":             "not the last",
		"---\nstrategy: [{truncate: {keep: 3}}]\n---\n":         "options of truncate",
		"---\nstrategy: [{sliding: {tokens: -3}}]\n---\n":       "negative",
		"---\ninclude: [notes.md]\n---\n":                       "cannot be included",
		"---\npermissions: [{ask: git, deny: git}]\n---\n":      "write a rule for each",
		"---\nlimits: {time: soon}\n---\n":                      "no span of time",
		"---\nlimits: {steps: 1.9}\n---\n":                      "no whole number",
		"---\nlimits: {calls: many}\n---\n":                     "no whole number",
		"---\ntools: !!set {files}\n---\n":                      "tag does not fit",
		"---\ntools: ! yes\n---\n":                              "cannot be read",
		"---\nskills: !!bool yes\n---\n":                        "cannot be read",
		"---\nlimits: {cost: -1}\n---\n":                        "negative",
		"---\ntail: 80,40\n---\n":                               "not a pair of marks",
		"---\nmax_age: soon\n---\n":                             "no span of time",
		"---\nmodel: [\n---\n":                                  "cannot be read",
		"---\nlimits: {steps: -1}\n---":                         "negative",
		"---\noutline: 1,2,3\n---\nx":                           "not a pair of marks",
		"---\nmax_output: lots\n---\nx":                         "cannot be read",
		"---\ntools: zoom and read\n---":                        "cannot be read",
		"---\ntail: " + strings.Repeat("[", 50000) + "\n---\n":  "nested more than",
		"---\nmodel: " + strings.Repeat("x", 70000) + "\n---\n": "70",
	} {
		_, err := agent.Parse("n", []byte(file))
		if thread.CodeOf(err) != thread.Configuration || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "n.md") {
			t.Errorf("%q: got %v, want %q", file, err, want)
		}
	}
}

func TestReadDirReadsAgentsByName(t *testing.T) {
	got, err := agent.ReadDir(fstest.MapFS{
		"south.md": {Data: []byte("S")}, "east.md": {Data: []byte("E")}, "notes.txt": {Data: []byte("x")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Name != "east" || got[1].Name != "south" {
		t.Errorf("got %+v", got)
	}
	got, err = agent.ReadDir(fstest.MapFS{"a b.md": {}, "bad.md": {Data: []byte("---\nx: 1\n---\n")}, "good.md": {}})
	if len(got) != 1 || got[0].Name != "good" || !strings.Contains(err.Error(), "bad.md") || !strings.Contains(err.Error(), "a b") {
		t.Errorf("bad files beside a good one: %+v, %v", got, err)
	}
	if got, err := agent.ReadDir(fstest.MapFS{}); err != nil || len(got) != 0 {
		t.Errorf("an empty folder: %v, %v", got, err)
	}
}

func TestMarks(t *testing.T) {
	set := agent.Settings{Tail: outline.Marks{Low: 40, High: 80}}
	cases := []struct {
		about string
		s     agent.Settings
		a     agent.Agent
		r     model.Rules
		want  agent.Marks
	}{
		{"defaults", agent.Settings{}, agent.Agent{}, model.Rules{}, marks(20000, 40000, 60000, 4000, 8000)},
		{"the agent's", agent.Settings{}, agent.Agent{Tail: outline.Marks{Low: 1, High: 2}}, model.Rules{}, marks(1, 2, 3, 4000, 8000)},
		{"the thread's before the agent's", set, agent.Agent{Tail: outline.Marks{Low: 1, High: 2}}, model.Rules{}, marks(40, 80, 120, 4000, 8000)},
		{"a model with smaller tokens", agent.Settings{}, agent.Agent{}, model.Rules{Factor: 2}, marks(10000, 20000, 30000, 2000, 4000)},
		{"a small window", agent.Settings{}, agent.Agent{}, model.Rules{Window: 40000, MaxOutput: 8000, Factor: 1}, marks(20000, 22000, 22000, 4000, 8000)},
		{"a window smaller than the outline", agent.Settings{}, agent.Agent{}, model.Rules{Window: 8000, MaxOutput: 1000, Factor: 1}, marks(4400, 4400, 4400, 1100, 2200)},
	}
	for _, c := range cases {
		if d := cmp.Diff(c.want, agent.MarksFor(c.s, c.a, c.r)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.about, d)
		}
	}
}

func marks(low, high, hard, outlineLow, outlineHigh int) agent.Marks {
	return agent.Marks{
		Tail:    outline.Limits{Marks: outline.Marks{Low: low, High: high}, Hard: hard, Bytes: agent.MaxBody},
		Outline: outline.Marks{Low: outlineLow, High: outlineHigh},
	}
}
