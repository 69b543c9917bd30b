package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/skeinhq/skein/cmd/skein/tui"
	"github.com/skeinhq/skein/internal/agent"

	"github.com/skeinhq/skein/model/modeltest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"tides": toolServer,
		"fetch": fetch,
		"skein": func() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs testdata/script: each file is a sitting at a terminal, in a
// folder and a home of its own.
func TestScripts(t *testing.T) {
	_, fake := modeltest.Start(t, modeltest.Config{})
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir+"/home")
			e.Setenv("USER", "ana")
			e.Setenv("XDG_DATA_HOME", "")
			e.Setenv("XDG_CONFIG_HOME", "")
			e.Setenv("FAKE", fake) // the address of a provider
			return nil
		},
		Cmds:          commands,
		UpdateScripts: os.Getenv("UPDATE") != "",
	})
}

func TestNearestSuggests(t *testing.T) {
	names := []string{"prompt", "outline", "zoom", "read", "search", "rewind", "reset", "exit"}
	for typed, want := range map[string]string{
		"zom": "zoom", "promt": "prompt", "serach": "search", "out": "outline", "rewnd": "rewind", "exti": "exit", "dance": "", "": "",
	} {
		if got := nearest(typed, names); got != want {
			t.Errorf("nearest(%q) = %q, want %q", typed, got, want)
		}
	}
}

func TestSafeShowsWhatCouldMoveTheCursor(t *testing.T) {
	for text, want := range map[string]string{
		"plain\ttext\n":   "plain\ttext\n",
		"\x1b[2Jgone":     "<U+001B>[2Jgone",
		"back\rover":      "back<U+000D>over",
		"turn\u202eed":    "turn<U+202E>ed",
		"csi\u009b31m":    "csi<U+009B>31m",
		"שלום 世界 👩‍👩‍👧 é": "שלום 世界 👩‍👩‍👧 é",
	} {
		if got := safe(text); got != want {
			t.Errorf("safe(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestJSONIsHarmlessAndStaysJSON(t *testing.T) {
	text := "a\u009b31m \u202e b\x7f \u200e \U000e0041 é 👩\u200d👧"
	data, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	shown := safeJSON(string(data))
	if strings.ContainsFunc(shown, tui.Harmful) {
		t.Errorf("harmful: %q", shown)
	}
	var back string
	if err := json.Unmarshal([]byte(shown), &back); err != nil || back != text {
		t.Errorf("%q came back as %q, %v", text, back, err)
	}
}

// TestAgentsOfTheDocumentsCanBeUsed reads the agents' files that the documents show.
func TestAgentsOfTheDocumentsCanBeUsed(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "agents.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := strings.Split(string(page), "<!-- agent -->\n```\n")[1:]
	if len(shown) < 4 {
		t.Fatalf("docs/agents.md shows %d agents", len(shown))
	}
	for _, s := range shown {
		file, _, _ := strings.Cut(s, "```")
		if a, err := agent.Parse("shown", []byte(file)); err != nil || a.Instructions == "" {
			t.Errorf("%v\n%s", err, file)
		}
	}
}

// TestReadmeShowsATrueSession runs the commands of the README's sessions, and
// compares what they print with what it shows.
func TestReadmeShowsATrueSession(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, part := range strings.Split(string(readme), "<!-- ") {
		for _, mark := range []string{"session -->\n```\n", "harness -->\n```\n"} {
			if rest, ok := strings.CutPrefix(part, mark); ok {
				session, _, _ := strings.Cut(rest, "```")
				shown = append(shown, strings.Split(strings.TrimSpace(session), "\n\n")...)
			}
		}
	}
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "skein"), ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	commands := 0
	for _, step := range shown {
		command, want, _ := strings.Cut(step, "\n")
		command, ok := strings.CutPrefix(command, "$ ")
		if !ok {
			t.Fatalf("not a command: %q", command)
		}
		sh := exec.Command("sh", "-c", command)
		sh.Dir = dir
		sh.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+filepath.Join(dir, "data"))
		got, err := sh.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, got)
		}
		if d := cmp.Diff(want, strings.TrimSpace(string(got))); d != "" {
			t.Errorf("%s (-README +printed):\n%s", command, d)
		}
		commands++
	}
	if commands < 7 {
		t.Errorf("only %d commands", commands)
	}
}
