package mcp_test

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool/mcp"
)

func TestWrongConfigurationsAreRefused(t *testing.T) {
	run, url := []string{"server"}, "https://example.com/mcp"
	ok := mcp.Server{Name: "ok", Command: run}
	for about, c := range map[string]struct {
		server mcp.Server
		want   string
	}{
		"no name":                 {mcp.Server{Command: run}, "its name must be"},
		"a name with a space":     {mcp.Server{Name: "a b", Command: run}, "its name must be"},
		"a long name":             {mcp.Server{Name: strings.Repeat("a", 33), Command: run}, "its name must be"},
		"neither way":             {mcp.Server{Name: "a"}, "either a command or a url"},
		"both ways":               {mcp.Server{Name: "a", Command: run, URL: url}, "either a command or a url"},
		"the same name":           {mcp.Server{Name: "ok", Command: run}, "another server has its name"},
		"a name that may collide": {mcp.Server{Name: "ok_b", Command: run}, `could be those of "ok"`},
		"an empty program":        {mcp.Server{Name: "a", Command: []string{""}}, "names no program"},
		"a NUL":                   {mcp.Server{Name: "a", Command: []string{"a", "b\x00"}}, "NUL"},
		"an env without a name":   {mcp.Server{Name: "a", Command: run, Env: map[string]string{"A=B": "c"}}, "env"},
		"headers of a command":    {mcp.Server{Name: "a", Command: run, Headers: map[string]string{"A": "b"}}, "headers belong to a url"},
		"env of a url":            {mcp.Server{Name: "a", URL: url, Env: map[string]string{"A": "b"}}, "env belongs to a command"},
		"another scheme":          {mcp.Server{Name: "a", URL: "file:///etc/passwd"}, "http or https"},
		"no host":                 {mcp.Server{Name: "a", URL: "https:///x"}, "http or https"},
		"a password in the url":   {mcp.Server{Name: "a", URL: "https://u:p@example.com"}, "belong in its headers"},
		"a header of two lines":   {mcp.Server{Name: "a", URL: url, Headers: map[string]string{"A": "b\r\nC: d"}}, `header "A"`},
		"a header without a name": {mcp.Server{Name: "a", URL: url, Headers: map[string]string{"": "b"}}, "header"},
		"a time before now":       {mcp.Server{Name: "a", URL: url, Timeout: -1}, "timeout"},
		"too long a time":         {mcp.Server{Name: "a", URL: url, Timeout: time.Hour}, "timeout"},
	} {
		err := mcp.Check([]mcp.Server{ok, c.server})
		if thread.CodeOf(err) != thread.Configuration || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", about, err, c.want)
		}
	}
	if err := mcp.Check([]mcp.Server{ok, {Name: "okay", URL: url, Timeout: time.Minute, Headers: map[string]string{"X-Key": "é"}}}); err != nil {
		t.Error(err)
	}
}

func TestAServerIsReadFromYAML(t *testing.T) {
	const text = `
command: [npx, server]
env: {KEY: value}
dir: /work
url: ""
headers: {A: b}
timeout: 90s
trust: true
`
	var got mcp.Server
	if err := yaml.UnmarshalWithOptions([]byte(text), &got, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	want := mcp.Server{
		Command: []string{"npx", "server"}, Env: map[string]string{"KEY": "value"}, Dir: "/work",
		Headers: map[string]string{"A": "b"}, Timeout: 90 * time.Second, Trust: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAPlainLineIsHarmless(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		most := rapid.IntRange(1, 50).Draw(t, "most")
		got := mcp.Plain(s, most)
		if utf8.RuneCountInString(got) > most || !utf8.ValidString(got) || strings.IndexFunc(got, unicode.IsControl) >= 0 {
			t.Fatalf("%q became %q", s, got)
		}
		if again := mcp.Plain(got, most); again != got {
			t.Fatalf("%q became %q, then %q", s, got, again)
		}
	})
	if got := mcp.Plain("a\x1b[31m\r\nb\u202ec\u2066\U000e0041d", 100); got != "a [31m bcd" {
		t.Errorf("got %q", got)
	}
}
