package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"skein": func() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs testdata/script: each file is a sitting at a terminal, in a
// folder and a home of its own.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir+"/home")
			e.Setenv("USER", "ana")
			e.Setenv("XDG_DATA_HOME", "")
			e.Setenv("XDG_CONFIG_HOME", "")
			return nil
		},
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
