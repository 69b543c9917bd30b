package tool_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

// reaching makes a tool whose input says what it reaches.
func reaching(name string) tool.Tool {
	return tool.Tool{Name: name, Schema: json.RawMessage(`{}`), Resources: func(input json.RawMessage) (tool.Resources, error) {
		var r tool.Resources
		err := json.Unmarshal(input, &r)
		return r, err
	}}
}

func files(paths ...string) tool.Resources      { return tool.Resources{Paths: paths} }
func command(line string) tool.Resources        { return tool.Resources{Command: line} }
func rules(r ...tool.Rule) tool.Permissions     { return tool.Permissions{Rules: r, Default: tool.Ask} }
func paths(globs ...string) tool.Rule           { return tool.Rule{Paths: globs} }
func commands(globs ...string) tool.Rule        { return tool.Rule{Commands: globs} }
func allow(r tool.Rule) tool.Rule               { r.Decision = tool.Allow; return r }
func deny(r tool.Rule) tool.Rule                { r.Decision = tool.Deny; return r }
func of(r tool.Rule, tools ...string) tool.Rule { r.Tools = tools; return r }

type failer interface {
	Helper()
	Fatalf(string, ...any)
}

func decide(t failer, p tool.Permissions, name string, r tool.Resources) tool.Verdict {
	t.Helper()
	input, err := json.Marshal(r)
	if err != nil {
		t.Fatalf("%v", err)
	}
	v, err := p.Decide(reaching(name), input)
	if err != nil {
		t.Fatalf("%s %s: %v", name, input, err)
	}
	return v
}

func TestWhichRuleMatches(t *testing.T) {
	none := tool.Resources{}
	cases := []struct {
		about string
		rule  tool.Rule
		name  string
		reach tool.Resources
		want  bool
	}{
		{"a rule without anything", allow(tool.Rule{}), "add", none, true},
		{"a tool's name", allow(of(tool.Rule{}, "add")), "add", none, true},
		{"another's name", allow(of(tool.Rule{}, "add")), "addto", none, false},
		{"names as globs", deny(of(tool.Rule{}, "x", "mcp_*")), "mcp_wiki_page", none, true},
		{"names have a case", deny(of(tool.Rule{}, "Add")), "add", none, false},

		{"every path", allow(paths("src/**", "docs/*.md")), "write", files("src/a/b.go", "docs/x.md"), true},
		{"a path of two is not allowed", allow(paths("src/**")), "write", files("src/a.go", "go.mod"), false},
		{"a path of two is denied", deny(paths("src/**")), "write", files("go.mod", "src/a.go"), true},
		{"paths are cleaned", allow(paths("src/*")), "write", files("./src//a.go"), true},
		{"a call without paths is not allowed by paths", allow(paths("**")), "shell", command("rm -rf /"), false},
		{"nor denied", deny(paths("**")), "add", none, false},
		{"the folder itself", allow(paths("src/**")), "list", files("src"), true},
		{"its namesake", allow(paths("src/**")), "list", files("srcs"), false},
		{"the workspace", allow(paths(".")), "list", files("."), true},
		{"the workspace by an empty path", allow(paths(".")), "list", files(""), true},
		{"at any depth", deny(paths("**/.env")), "read", files(".env"), true},
		{"at any depth, deep", deny(paths("**/.env")), "read", files("a/b/.env"), true},
		{"at any depth, a namesake", deny(paths("**/.env")), "read", files("a/b.env"), false},
		{"in between", allow(paths("a/**/z")), "read", files("a/z"), true},
		{"in between, deep", allow(paths("a/**/z")), "read", files("a/b/c/z"), true},
		{"a star stays in its segment", allow(paths("src/*")), "read", files("src/a/b"), false},
		{"so does a question mark", allow(paths("a?b")), "read", files("a/b"), false},
		{"so does a class", allow(paths("a[!x]b")), "read", files("a/b"), false},
		{"so does a range", allow(paths("a[!-~]b")), "read", files("a/b"), false},
		{"either", allow(paths("{src,docs}/**/*.{go,md}")), "read", files("docs/a/b.md", "src/x.go"), true},
		{"either, nested", allow(paths("{a{b,c},d}")), "read", files("ac"), true},
		{"neither", allow(paths("{src,docs}/*.go")), "read", files("test/x.go"), false},
		{"a class", allow(paths("v[0-9a].txt")), "read", files("v7.txt"), true},
		{"not of a class", allow(paths("v[^0-9].txt")), "read", files("v7.txt"), false},
		{"escaped", allow(paths(`a\*b`)), "read", files("a*b"), true},
		{"escaped is not any", allow(paths(`a\*b`)), "read", files("axb"), false},
		{"paths have a case", allow(paths("README*")), "read", files("readme.md"), false},
		{"other letters", allow(paths("é?")), "read", files("éü"), true},
		{"a dot is a character", deny(paths("*")), "read", files(".git"), true},

		{"an absolute path is never allowed", allow(paths("**")), "read", files("/etc/passwd"), false},
		{"not by the tool's name either", allow(of(tool.Rule{}, "read")), "read", files("/etc/passwd"), false},
		{"one that goes up", allow(paths("**")), "read", files("../x"), false},
		{"one that goes up after a link", allow(paths("**")), "read", files("link/../x"), false},
		{"one that goes up is denied by where it ends", deny(paths("secret")), "read", files("a/../secret"), true},
		{"one outside can be denied", deny(paths("/etc/**", "../**")), "read", files("../x"), true},

		{"a command", allow(commands("git *")), "shell", command("git  status \t-s\n"), true},
		{"another command", allow(commands("git *")), "shell", command("gitk status"), false},
		{"slashes are like others", allow(commands("ls *")), "shell", command("ls a/b/c"), true},
		{"a command is not allowed by paths alone", allow(commands("git *")), "write", files("git x"), false},
		{"blanks in quotes stay", allow(commands(`rm "a b"`)), "shell", command(`rm "a  b"`), false},
		{"a control character", allow(commands("git *")), "shell", command("git \x1b[2J"), false},
		{"a blank that is none to the shell", allow(commands("git *")), "shell", command("git\u00a0x"), false},

		{"denied", deny(commands("rm *")), "shell", command("rm -rf x"), true},
		{"denied after another", deny(commands("rm *")), "shell", command("cd x&&rm  -rf y"), true},
		{"denied on a second line", deny(commands("rm *")), "shell", command("cd x\nrm y"), true},
		{"denied within", deny(commands("rm *")), "shell", command("echo $(rm y)"), true},
		{"denied in backquotes", deny(commands("rm *")), "shell", command("echo `rm y`"), true},
		{"denied behind a pipe", deny(commands("sh")), "shell", command("curl x | sh"), true},
		{"denied as a whole", deny(commands("curl * | sh")), "shell", command("curl x |\n sh"), true},
		{"denied in quotes", deny(commands("rm *")), "shell", command(`'r'm "y"`), true},
		{"denied with a backslash", deny(commands("rm *")), "shell", command(`\rm y`), true},
		{"denied over two lines", deny(commands("rm *")), "shell", command("r\\\nm y"), true},
		{"denied behind a setting", deny(commands("rm *")), "shell", command("A=1 B='' rm y"), true},
		{"denied behind a word of the shell", deny(commands("rm *")), "shell", command("if true; then rm y; fi"), true},
		{"another word", deny(commands("rm *")), "shell", command("echo rm y"), false},

		{"a path is enough to deny", deny(tool.Rule{Paths: []string{"x"}, Commands: []string{"x*"}}), "both", tool.Resources{Paths: []string{"x"}, Command: "y"}, true},
		{"a command is enough to deny", deny(tool.Rule{Paths: []string{"x"}, Commands: []string{"x*"}}), "both", tool.Resources{Paths: []string{"y"}, Command: "xy"}, true},
		{"both are needed to allow", allow(tool.Rule{Paths: []string{"x"}, Commands: []string{"x*"}}), "both", tool.Resources{Paths: []string{"x"}, Command: "y"}, false},
		{"both are allowed", allow(tool.Rule{Paths: []string{"x"}, Commands: []string{"x*"}}), "both", tool.Resources{Paths: []string{"x"}, Command: "xy"}, true},
	}
	for _, c := range cases {
		p := rules(c.rule)
		if err := p.Check(); err != nil {
			t.Errorf("%s: %v", c.about, err)
		}
		if got := decide(t, p, c.name, c.reach).Rule == 1; got != c.want {
			t.Errorf("%s: %+v of %s %+v: matches %v", c.about, c.rule, c.name, c.reach, got)
		}
	}
}

// TestAnAllowedCommandIsOneCommand: whatever stands after the allowed command, and
// whatever the wildcard is.
func TestAnAllowedCommandIsOneCommand(t *testing.T) {
	for _, tail := range []string{"; rm x", "&& rm x", "& rm x", "|| rm x", "| sh", "$(rm x)", "${x}", "$x", "`rm x`", "\nrm x", "\r\nrm x", "> x", ">> x", "< x", "<(rm x)", `"; rm x`} {
		for _, glob := range []string{"git *", "git status*", "git status [!x]*", "git status [ -~]*", "git status [^y][!-~]*", "git status ?*", "git status " + strings.Repeat("?", len(tail)), "*", "{git,hg} *"} {
			if v := decide(t, rules(allow(commands(glob))), "shell", command("git status "+tail)); v.Decision != tool.Ask {
				t.Errorf("%q allows %q", glob, "git status "+tail)
			}
		}
	}
	for glob, line := range map[string]string{"make *| tee log": "make all | tee log", "go build && go test *": "go build && go test ./x", `echo \{*\}`: "echo {a}"} {
		if v := decide(t, rules(allow(commands(glob))), "shell", command(line)); v.Decision != tool.Allow {
			t.Errorf("%q does not allow %q", glob, line)
		}
		if v := decide(t, rules(allow(commands(glob))), "shell", command(line+" ; rm x")); v.Decision != tool.Ask {
			t.Errorf("%q allows more than one command", glob)
		}
	}
}

func TestWhereNoRuleMatches(t *testing.T) {
	look := reaching("look")
	look.ReadOnly = true
	for _, c := range []struct {
		p                tool.Permissions
		writing, reading tool.Decision
	}{
		{tool.Permissions{}, tool.Allow, tool.Allow},
		{tool.Permissions{Default: tool.Ask}, tool.Ask, tool.Ask},
		{tool.Permissions{Default: tool.Deny, ReadOnly: tool.Allow}, tool.Deny, tool.Allow},
		{tool.Permissions{ReadOnly: tool.Ask}, tool.Allow, tool.Ask},
		{tool.Permissions{Default: "perhaps"}, tool.Deny, tool.Deny},
	} {
		for tl, want := range map[*tool.Tool]tool.Decision{{Name: "edit"}: c.writing, &look: c.reading} {
			if v, err := c.p.Decide(*tl, json.RawMessage(`{}`)); err != nil || v.Decision != want || v.Rule != 0 {
				t.Errorf("%+v gives %s %+v, %v; want %s", c.p, tl.Name, v, err, want)
			}
		}
	}
}

func TestAVerdictSaysWhy(t *testing.T) {
	r := deny(paths("x"))
	r.Reason = "x is not ours"
	v := decide(t, rules(allow(paths("y")), r), "read", files("y", "x"))
	if v.Rule != 2 || v.Reason != "x is not ours" || !slices.Equal(v.Resources.Paths, []string{"y", "x"}) {
		t.Errorf("got %+v", v)
	}
}

func TestAnInputThatCannotBeReadIsDenied(t *testing.T) {
	odd := tool.Tool{Name: "odd", Resources: func(json.RawMessage) (tool.Resources, error) {
		return tool.Resources{}, &thread.Error{Code: thread.Invalid, Message: "the path is missing"}
	}}
	broken := tool.Tool{Name: "broken", Resources: func(json.RawMessage) (tool.Resources, error) { panic("index out of range") }}
	for want, c := range map[string]struct {
		tool  tool.Tool
		input string
	}{
		"the path is missing":        {odd, `{}`},
		"index out of range":         {broken, `{}`},
		"not JSON":                   {odd, `{`},
		"does not fit its schema":    {tools(t)[0], `{"a":"1"}`},
		"reaches cannot be told: js": {reaching("files"), `{"Paths":1}`},
	} {
		v, err := tool.Permissions{}.Decide(c.tool, json.RawMessage(c.input))
		var typed *thread.Error
		if err == nil || errors.As(err, &typed) || !strings.Contains(err.Error(), want) || v.Decision != tool.Deny {
			t.Errorf("%s %s gives %+v, %v; want %q", c.tool.Name, c.input, v, err, want)
		}
	}
}

func TestPermissionsThatCannotBeUsed(t *testing.T) {
	for want, r := range map[string]tool.Rule{
		`rule 2 of the permissions decides "maybe"; it must be allow, deny or ask`: {Decision: "maybe"},
		`the glob "" is empty`:                                            deny(paths("")),
		`a tool that cannot be read: the glob "{a" ha`:                    deny(of(tool.Rule{}, "{a")),
		`the glob "a}" has a } without a {`:                               deny(paths("a}")),
		`the glob "[a" has a [ without a ]`:                               deny(commands("[a")),
		`the glob "[" has a [ without a ]`:                                deny(commands("[")),
		`the glob "[]" has a [] that matches nothing`:                     deny(commands("[]")),
		`has the range z-a, which is backwards`:                           deny(commands("[z-a]")),
		`ends with a \`:                                                   deny(commands(`a\`)),
		`the glob "a**" has a ** that does not stand`:                     deny(paths("a**")),
		`the glob "**.go" has a ** that does not`:                         deny(paths("**.go")),
		`the glob "{a,**}" has a ** that does not`:                        deny(paths("{a,**}")),
		`the glob "src/" ends with a slash; write src/** for`:             deny(paths("src/")),
		`the glob "./src" has a segment that is empty or a dot`:           deny(paths("./src")),
		`the glob "a//b" has a segment that is empty or a dot`:            deny(paths("a//b")),
		`the glob "/etc/*" leaves the workspace`:                          allow(paths("/etc/*")),
		`the glob "a/../b" leaves the workspace`:                          allow(paths("a/../b")),
		`has 1001 bytes, the most is 1000`:                                deny(commands(strings.Repeat("x", 1001))),
		`has a command that cannot be read: the glob "\xff" is not UTF-8`: deny(commands("\xff")),
	} {
		p := rules(allow(of(tool.Rule{}, "add")), r)
		err := p.Check()
		if thread.CodeOf(err) != thread.Configuration || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "rule 2") {
			t.Errorf("%+v: %v, want %q", r, err, want)
		}
	}
	for _, p := range []tool.Permissions{{Default: "x"}, {ReadOnly: "x"}, {Rules: make([]tool.Rule, tool.MaxRules+1)}} {
		if err := p.Check(); thread.CodeOf(err) != thread.Configuration {
			t.Errorf("%.60v is accepted: %v", p, err)
		}
	}
	for _, bad := range []tool.Rule{{Decision: "maybe"}, allow(paths("[")), deny(commands("{")), deny(of(tool.Rule{}, "["))} {
		v := decide(t, tool.Permissions{Rules: []tool.Rule{bad}}, "x", tool.Resources{Paths: []string{"a"}, Command: "b"})
		if v.Decision != tool.Deny || v.Rule != 1 || !strings.Contains(v.Reason, "rule 1 of the permissions") {
			t.Errorf("%+v that was not checked gives %+v", bad, v)
		}
	}
}

var (
	someGlob = rapid.SampledFrom([]string{"a", "b", "a/*", "*", "**", "**/b", "a/**", "[ab]", "?", "{a,b}/a", "a b", "a *"})
	somePath = rapid.SampledFrom([]string{"a", "b", "a/a", "a/b", "b/b/b", ".", "../a", "/a", "a/../b"})
	someLine = rapid.SampledFrom([]string{"", "a", "a b", "a; b", "b && a b", "a > b", "a 'b'"})
	someRule = rapid.Custom(func(t *rapid.T) tool.Rule {
		return tool.Rule{
			Decision: rapid.SampledFrom([]tool.Decision{tool.Allow, tool.Deny, tool.Ask}).Draw(t, "decision"),
			Tools:    rapid.SliceOfN(rapid.SampledFrom([]string{"one", "two", "t*", "*"}), 0, 2).Draw(t, "tools"),
			Paths:    rapid.SliceOfN(someGlob, 0, 3).Draw(t, "paths"),
			Commands: rapid.SliceOfN(someGlob.Filter(func(g string) bool { return !strings.Contains(g, "**") }), 0, 3).Draw(t, "commands"),
		}
	})
	someCall = rapid.Custom(func(t *rapid.T) tool.Resources {
		return tool.Resources{Paths: rapid.SliceOfN(somePath, 0, 3).Draw(t, "paths"), Command: someLine.Draw(t, "command")}
	})
	someName = rapid.SampledFrom([]string{"one", "two", "three"})
)

// TestTheFirstMatchWins: the rule that decides is the first that decides alone, and
// rules after it are of no account.
func TestTheFirstMatchWins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rules(rapid.SliceOfN(someRule, 0, 6).Draw(t, "rules")...)
		name, reach := someName.Draw(t, "tool"), someCall.Draw(t, "call")
		want := 0
		for i, r := range p.Rules {
			if decide(t, rules(r), name, reach).Rule == 1 {
				want = i + 1
				break
			}
		}
		v := decide(t, p, name, reach)
		if v.Rule != want || want > 0 && v.Decision != p.Rules[want-1].Decision || want == 0 && v.Decision != tool.Ask {
			t.Fatalf("got %+v, rule %d matches first", v, want)
		}
		longer := p
		longer.Rules = append(slices.Clone(p.Rules), rapid.SliceOfN(someRule, 1, 3).Draw(t, "more")...)
		if after := decide(t, longer, name, reach); want > 0 && (after.Rule != want || after.Decision != v.Decision) {
			t.Fatalf("more rules at the end make %+v of %+v", after, v)
		}
	})
}

// TestAllowNeedsEveryPathDenyAny: a rule that is about paths is told from what it
// says of each path alone.
func TestAllowNeedsEveryPathDenyAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := someRule.Draw(t, "rule")
		r.Paths = rapid.SliceOfN(someGlob, 1, 3).Draw(t, "globs")
		r.Commands = nil
		all := rapid.SliceOfN(somePath, 1, 4).Draw(t, "call's paths")
		hits := 0
		for _, p := range all {
			hits += decide(t, rules(r), "two", files(p)).Rule
		}
		want := hits > 0
		if r.Decision == tool.Allow {
			want = hits == len(all)
		}
		if got := decide(t, rules(r), "two", files(all...)).Rule == 1; got != want {
			t.Fatalf("%+v of %q: %v, and of %d alone", r, all, got, hits)
		}
	})
}

// TestGlobsWithoutSpecialsMatchLikePathMatch compares with the standard library's,
// which knows *, ? and classes; there a class may match a slash.
func TestGlobsWithoutSpecialsMatchLikePathMatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"a", "b", "/", "*", "?", "[a-c]", "[^/a]", `\*`, ".", "+"})
		glob := strings.Join(rapid.SliceOfN(piece, 1, 8).Draw(t, "glob"), "")
		if rules(deny(paths(glob))).Check() != nil || strings.Contains(glob, "**") {
			t.Skip("not a glob of clean paths, or one that path.Match does not know")
		}
		text := path.Clean(rapid.StringOfN(rapid.RuneFrom([]rune("abc/*.+")), 1, 8, -1).Draw(t, "path"))
		want, err := path.Match(glob, text)
		if err != nil {
			t.Skip("path.Match reads it otherwise")
		}
		if got := decide(t, rules(deny(paths(glob))), "x", files(text)).Rule == 1; got != want {
			t.Fatalf("%q of %q: %v, path.Match says %v", glob, text, got, want)
		}
	})
}

func FuzzPermissions(f *testing.F) {
	for _, s := range [][2]string{{"git *", "git log; rm x"}, {"{a,[b-d]}/**", "a/b"}, {`[!\]]`, "]"}, {"[", "\xff"}, {"**/x", "x\x00"}, {"{{{", "a"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, glob, text string) {
		for _, r := range []tool.Rule{allow(commands(glob)), deny(commands(glob)), allow(paths(glob)), deny(paths(glob))} {
			p := rules(r)
			usable := p.Check() == nil
			tl := tool.Tool{Name: "x", Resources: func(json.RawMessage) (tool.Resources, error) {
				return tool.Resources{Paths: []string{text}, Command: text}, nil
			}}
			v, err := p.Decide(tl, json.RawMessage(`{}`))
			if err != nil {
				t.Fatal(err)
			}
			if v.Decision == tool.Allow && !usable {
				t.Fatalf("%+v allows %q and cannot be used", r, text)
			}
			if v.Decision == tool.Allow && len(r.Commands) > 0 {
				for _, mark := range ";&|<>()$`\n" {
					if strings.ContainsRune(strings.TrimSpace(text), mark) && !strings.ContainsRune(glob, mark) {
						t.Fatalf("%q allows %q", glob, text)
					}
				}
			}
			if q := v.Question(tl, json.RawMessage(`{}`)); strings.ContainsAny(q, "\n\r\x1b") || !utf8.ValidString(q) {
				t.Fatalf("%q", q)
			}
		}
	})
}

func TestAQuestionIsOneHarmlessLine(t *testing.T) {
	for _, c := range []struct {
		reach tool.Resources
		input string
		want  string
	}{
		{command("git  push \t origin"), `{}`, "x: git push origin"},
		{command("a\nb\r\n\x1b[2J\u202ec\u200b"), `{}`, `x: a⏎b\u{d}⏎\u{1b}[2J\u{202e}c\u{200b}`},
		{files("src/a.go", "b\n.go"), `{}`, "x: src/a.go, b⏎.go"},
		{tool.Resources{Paths: []string{"dir"}, Command: "ls"}, `{}`, "x: ls (dir)"},
		{tool.Resources{}, "{\n \"to\": \"ana\",\n \"text\": \"é日\"}", `x: {"to":"ana","text":"é日"}`},
		{tool.Resources{}, "{not json", `x: {not json`},
	} {
		if got := (tool.Verdict{Resources: c.reach}).Question(tool.Tool{Name: "x"}, json.RawMessage(c.input)); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	got := (tool.Verdict{Resources: command("head" + strings.Repeat("é", 5000) + "; rm x")}).Question(tool.Tool{Name: "x"}, nil)
	if utf8.RuneCountInString(got) > tool.MaxQuestion+10 || !strings.HasPrefix(got, "x: headé") || !strings.HasSuffix(got, "; rm x") || !strings.Contains(got, "[… 4560 characters left out …]") {
		t.Errorf("got %s", got)
	}
}

func TestWhatIsAllowedForTheThread(t *testing.T) {
	shell, write := reaching("shell"), reaching("write")
	var a tool.Allowed
	a = a.With(shell, command("git push")).With(write, files("a"))
	for _, c := range []struct {
		tool  tool.Tool
		reach tool.Resources
		want  bool
	}{
		{shell, command("git push"), true},
		{shell, command("git push -f"), false},
		{shell, command("git  push"), false},
		{shell, tool.Resources{}, false},
		{write, files("b"), true},
		{write, command("git push"), false},
		{reaching("read"), files("a"), false},
	} {
		if got := a.Has(c.tool, c.reach); got != c.want {
			t.Errorf("%s %+v: %v", c.tool.Name, c.reach, got)
		}
	}
	doc, err := json.Marshal(a.With(write, files("c")))
	if want := `[{"tool":"shell","command":"git push"},{"tool":"write"}]`; err != nil || string(doc) != want {
		t.Errorf("the document is %s, %v; want %s", doc, err, want)
	}
	var back tool.Allowed
	if err := json.Unmarshal(doc, &back); err != nil || !slices.Equal(back, a) {
		t.Errorf("read back: %v, %v", back, err)
	}
}

func TestWhatIsAllowedIsBounded(t *testing.T) {
	shell := reaching("shell")
	var a tool.Allowed
	for i := range tool.MaxAllowed + 5 {
		before := len(a)
		longer := a.With(shell, command(fmt.Sprint("make ", i)))
		if len(a) != before {
			t.Fatal("the list itself grew")
		}
		a = longer
	}
	if len(a) != tool.MaxAllowed || a.Has(shell, command("make 4")) || !a.Has(shell, command("make 5")) || !a.Has(shell, command("make 1004")) {
		t.Errorf("%d are kept, from %v to %v", len(a), a[0], a[len(a)-1])
	}
	if long := command(strings.Repeat("x", tool.MaxAllowedCommand+1)); a.With(shell, long).Has(shell, long) {
		t.Error("a very long command is remembered")
	}
}
