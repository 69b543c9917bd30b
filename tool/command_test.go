package tool_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/skeinhq/skein/tool"
)

// noRM denies rm; all else is allowed.
var noRM = tool.Permissions{Rules: []tool.Rule{deny(commands("rm *"))}}

func TestADeniedCommandIsDeniedHoweverItIsWritten(t *testing.T) {
	for _, line := range []string{
		"rm x", "</dev/null rm x", ">out rm x", "2>&1 rm x", "2>out rm x", "{log}>out rm x", "&>out rm x", ">|out rm x", "<<<text rm x", "> 'a b' rm x", "rm >out x",
		`A="a b" rm x`, "A+=1 rm x", "A[0]=1 rm x", "A[1 + 1]=2 rm x", "A=(1 2) rm x", "A=$(date) B=`date` rm x", "A=$'a b' rm x", `A="a;b" rm x`, `A="$(echo "a b")" rm x`,
		"coproc rm x", "coproc NAME { rm x; }", "time rm x", "time -p rm x", "command rm x", "command -p rm x", "command -- rm x", "builtin command rm x",
		"exec rm x", "exec -a y rm x", "exec -cl rm x", "function f { rm x; }", "f() { rm x; }", "f () ( rm x )",
		"eval rm x", `eval "rm x"`, "eval 'A=1; rm' x", `eval eval "rm x"`, `trap "rm x" EXIT`, "{ rm x; }", "(rm x)", "( (rm x) )", "((a++)); rm x",
		"if true; then rm x; fi", "if rm x; then :; fi", "if a; then b; elif rm x; then c; else d; fi", "while ! rm x; do :; done", "until rm x; do :; done",
		"for i in 1; do rm x; done", "for ((i=0; i<3; i++)); do rm x; done", "case a in b) rm x;; esac", "case a in (b|c) rm x;; *) ;; esac", "case a in a) $u x;; esac", "case a in (a|b) $u x;; esac", "case a in\na) :;;\n(b) $u x;; esac", "case a in esac; $u x", "case a in\nesac; $u x", "case a in a) :;; esac; $u x", "function case { :; }; $u x",
		"if [[ a ]] then rm x; fi", "while [[ a && b ]] do rm x; done", "for i do rm x; done", "if (true) then rm x; fi", "if { true; } then rm x; fi", "for ((;;)) do rm x; done", "if ((1)) then rm x; fi", "A=1 sh -c 'rm x'", "! rm x", "! ! rm x",
		"nohup rm x", "env A=1 rm x", "env -u B rm x", "env -i -- A=1 rm x", "env -S 'rm x'", "env -S'A=1 rm x'", "env --split-string='rm x'", "sudo rm x", "sudo -n rm x", "sudo -u root -g wheel rm x", "sudo -nu root A=1 rm x", "sudo --user=root rm x", "doas rm x",
		"xargs rm x", "find . | xargs -0 -n 1 rm -f", "xargs -I{} rm {}", "nice -n 5 rm x", "timeout 10 rm x", "timeout -k 5 10 rm x", "timeout --foreground 10 rm x", "stdbuf -oL rm x", "setsid rm x",
		"flock /tmp/lock rm x", "flock -n /tmp/lock -c 'rm x'", "su -c 'rm x'", "su root -c 'rm x'", "su - root -c 'rm x'", "watch 'rm x'", "watch -n 1 rm x", "busybox rm x", "busybox sh -c 'rm x'",
		`sh -c "rm x"`, `bash -lc 'rm x'`, "bash -o pipefail -c 'rm x'", "bash -c -- 'rm x'", "bash -c'rm x'", `sh -c "sh -c 'rm x'"`, `/bin/sh -c "rm x"`, "sudo nohup env A=1 bash -c 'cd y && rm x'",
		`\rm x`, `r''m x`, `r""m x`, `"rm" x`, `'rm' x`, `$'rm' x`, `$"rm" x`, "rm\\\n x", "r\\\nm x", "\\\nrm x", "rm\tx", "rm  x", "/bin/rm x", "../bin/rm x", "~/bin/rm x", `"$HOME/bin/rm" x`,
		"find . -exec rm {} \\;", "find . -name a -execdir rm {} +",
		"a; rm x", "a && rm x", "a || rm x", "a | rm x", "a |& rm x", "a & rm x", "a\nrm x", "a\r\nrm x", "echo \\\\\nrm x", "a # it's\nrm x # it's",
		"echo $(rm x)", `echo "$(rm x)"`, "echo `rm x`", "echo \"`rm x`\"", "echo `echo \\`rm x\\``", "echo ${a:-$(rm x)}", `echo "${a:-"$(A="a b" rm x)"}"`, "echo $((1 + $(rm x)))", "cat <(rm x)", "tee >(rm x)",
		`echo "$(case a in a) A="a b" rm x;; esac)"`, "echo $(function f { case a in a) rm x;; esac; }; f)", "echo $(f() { case a in a) rm x;; esac; }; f)", "echo $(for i do case a in a) rm x;; esac; done)", "echo $(time case a in a) rm x;; esac)",
		"echo $(coproc N { case a in a) rm x;; esac; })", "echo $(function f { case a\nin a) rm x;; esac; }; f)", "[[ a && $(rm x) ]]", "[[ a ]] && A='a b' rm x",
		"bash <<END\nrm x\nEND", "cat <<END\nit's\nEND\nA='a b' rm x", "cat <<-'END' ; A='a b' rm x\nit's\n\tEND\nls", "cat <<A <<B\nit's\nA\nit's\nB\nC='a b' rm x",
		// The shell makes the name of something else: it may be any.
		"{rm,-rf,x}", "{r,}m x", "$u x", "${u} rm x", `"$u" x`, "$u", "$(echo rm) x", "`echo rm` x", `"$(echo rm)" x`, `$'\x72m' x`, "/bin/r? x", "/bin/[r]m x", "r[m] x", "$HOME/bin/x", "A=1 $u x", "sudo $u x", `sh -c "$u"`, "eval $u", "if $u; then :; fi", `"$@"`,
		"((rm x))", "((/bin/rm x))", `(("rm" x))`, "((A=1 rm x))", "(( rm x ))", "((rm x >f))", "(((rm x)))", "(($u x))", "echo $((rm x))", "(({rm,x}))", "((A=1 $u x))", "((sudo $u x))", "((rm x) | cat)", strings.Repeat("(", 200) + "rm x", strings.Repeat("$(", 200) + "rm x", strings.Repeat("nohup ", 500) + "rm x",
	} {
		if v := decide(t, noRM, "shell", command(line)); v.Decision != tool.Deny || v.Rule != 1 {
			t.Errorf("%q is %s", line, v.Decision)
		}
	}
}

func TestUsualLinesAreNoOtherCommands(t *testing.T) {
	for _, line := range []string{
		"ls", `echo "rm x"`, "echo rm x", "grep rm file", `grep "rm x" file`, "git rm --help", "git commit -m 'rm x'", "rmdir x", "farm x", "x/rm.sh y", "cat rm x", "A='rm x' ls", "A=rm B=x ls",
		"echo $HOME", "echo $(date) `date` ${x:-y} $((1 + 2))", "echo $(($x * 2))", "(( $x > 1 )) && ls", "(( $(cat f | wc -l) > 1 )) && ls", "((i += $x * ($y + 2)))", "((16#ff & $x, y++))", "if (($x)); then ls; fi", "while (( i < ${#a[@]} )); do ls; done", "cd $x && make", "PATH=$PATH:y go build ./...", "export A=$B", "A=$B", "A=$(ls *)", "ls *.go", "ls {a,b}",
		"for f in *.go; do gofmt -l $f; done", "for ((i=0; i<$n; i++)); do echo $i; done", "while read -r f; do wc -l \"$f\"; done <list", `[ -f "$x" ] && cat y`, "[[ -f a || $b == c ]] && ls", "if [[ $a =~ ^(b|c)$ && -f d ]]; then ls; fi",
		"case $x in a*|*.b) ls;; [cd]) pwd;; esac", "case $x in\n*.go) ls ;;\n*.a | $y) cat ;;\n(*) pwd ;;\nesac", "if [[ a ]]; then ls; fi", "find . -name '*.go' | xargs grep -n x", "find . -exec grep rm {} +", "echo $(grep case f) $(grep -n case a b)", "ls $(echo case\n)", "go test ./... 2>&1 | tail -n 5", "go test >out 2>&1 &",
		"cat <<END\n$HOME is home\n* one\nEND\nls", "cat <<'END' >f\nit's {a,b}\nEND", "# rm x", "ls # $x", `echo "it's"`, `awk '{print $1}' f`, `sed -n 's/a/b/; p' f`, `jq '.[] | {a, b}' f`, `printf '%s\n' "$x"`, `"$HOME/bin/x" y`, "~/bin/x y",
		"sudo -u root grep rm f", "timeout 10 grep rm f", "env A=1 make rm", "xargs grep rm", "bash rm.sh", "bash -c 'echo rm x'", "eval echo rm x", "nohup make rm &", "command -v git", "time -p make x", "exec 3>&1", "true", "", "  ", "f() { ls; }; f",
	} {
		if v := decide(t, noRM, "shell", command(line)); v.Decision != tool.Allow {
			t.Errorf("%q is %s, by rule %d", line, v.Decision, v.Rule)
		}
	}
}

func TestWhatMayBeAnyCommandIsAskedAboutWhereSomeAre(t *testing.T) {
	asks := tool.Permissions{Rules: []tool.Rule{{Decision: tool.Ask, Commands: []string{"git push*"}}}}
	for line, want := range map[string]tool.Decision{"$x push": tool.Ask, "git $x": tool.Allow, "git -C x push": tool.Allow, "env GIT_DIR=x git push": tool.Ask} {
		if v := decide(t, asks, "shell", command(line)); v.Decision != want {
			t.Errorf("%q is %s, want %s", line, v.Decision, want)
		}
	}
	for _, p := range []tool.Permissions{{}, rules(allow(tool.Rule{})), {Rules: []tool.Rule{deny(paths("**"))}}} {
		if v := decide(t, p, "shell", command("$x y")); v.Decision != tool.Allow {
			t.Errorf("%+v is about no command, and of $x y it says %s", p, v.Decision)
		}
	}
}

// wrappers are ways to run a command through something else; %s is the command.
var wrappers = []string{
	"%s", "A=1 %s", `A="b c" %s`, "A[0]+=1 %s", "<in %s", ">'o u t' %s", "2>&1 %s", "! %s", "{ %s; }", "(%s)", "if true; then %s; fi", "for i in a b; do %s; done", "while %s; do :; done", "case a in a) %s;; esac",
	"function f { %s; }", "f() { %s; }", "coproc %s", "time -p %s", "command -- %s", "exec -a n %s", "eval %s", "nohup %s", "env -u B C=1 %s", "sudo -n %s", "xargs -0 %s", "timeout -k 5 10 %s", "nice -n 5 %s",
	"true && %s", "false || %s", "true; %s", "true | %s", "true & %s", "true\n%s", "echo $(%s)", `echo "$(%s)"`, "cat <(%s)", "echo ${x:-$(%s)}", "# it's\n%s", "cat <<E\nit's\nE\n%s", "%s # it's", "%s\n\nls", "[[ a && b ]] || %s",
}

// TestAWrappedCommandStaysDenied: whatever it is wrapped in, and that in turn.
func TestAWrappedCommandStaysDenied(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"rm x", `"rm" x`, `r\m x`, "/bin/rm x", "rm 'a b'", "$u x", "{rm,x}"}).Draw(t, "command")
		for _, w := range rapid.SliceOfN(rapid.SampledFrom(wrappers), 1, 4).Draw(t, "wrappers") {
			if strings.ContainsAny(line, "\n;&|(#{") && !strings.Contains(w, "; ") && !strings.ContainsAny(w, "\n(") {
				continue // only a single command fits behind a program's name
			}
			if strings.HasPrefix(w, "eval ") && (strings.Contains(line, `"b c"`) || strings.Contains(line, "'o u t'")) {
				continue // it takes the quotes away, and then c or u is the command
			}
			line = strings.ReplaceAll(w, "%s", line)
		}
		if v := decide(t, noRM, "shell", command(line)); v.Decision != tool.Deny {
			t.Fatalf("%q is %s", line, v.Decision)
		}
	})
}

// TestANameIsTheSameHoweverItIsQuoted: each letter of it, and what stands before.
func TestANameIsTheSameHoweverItIsQuoted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		quote := rapid.SampledFrom([]string{"%s", `\%s`, "'%s'", `"%s"`, "\\\n%s", "''%s", `%s""`, "$'%s'"})
		var name strings.Builder
		for _, letter := range []string{"r", "m"} {
			name.WriteString(strings.ReplaceAll(quote.Draw(t, "quote"), "%s", letter))
		}
		line := rapid.SampledFrom([]string{"", "ls; ", "A='b c' ", "sudo -n ", "\\\n"}).Draw(t, "before") + name.String() + " x"
		if v := decide(t, noRM, "shell", command(line)); v.Decision != tool.Deny {
			t.Fatalf("%q is %s", line, v.Decision)
		}
	})
}

func FuzzCommandLines(f *testing.F) {
	for _, w := range wrappers {
		f.Add(strings.ReplaceAll(w, "%s", "rm x"))
	}
	for _, s := range []string{"$((", "${", "`\\`", "$'\\", "<<", "<<-\n", "a <<b <<c\nb", "((a)", "case", "esac)", "[[ ;", "{a..b}", "sh -c sh -c", "eval eval 'eval", "\xff", "A[", "\\", "&>", "<<<", "-c", "find -exec", "a'b\"c`d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		input, err := json.Marshal(command(line))
		if err != nil {
			t.Fatal(err)
		}
		// A command on a line of its own before or after is found, unless the other
		// takes it for a part of itself, as with an open quote.
		if v, err := noRM.Decide(reaching("shell"), input); err != nil || v.Decision == tool.Ask {
			t.Fatalf("%q gives %+v, %v", line, v, err)
		}
		if v := decide(t, noRM, "shell", command("rm x\n"+line)); v.Decision != tool.Deny {
			t.Fatalf("%q after a denied command allows it", line)
		}
		if v := decide(t, noRM, "shell", command(line+"\n; rm x")); v.Decision != tool.Deny {
			t.Fatalf("%q before a denied command allows it", line)
		}
	})
}

// TestALongLineIsReadInProportion: what takes longer with each level would not end
// within the deadline of the tests.
func TestALongLineIsReadInProportion(t *testing.T) {
	const n = 40_000
	for _, piece := range []string{"nohup ", "sh -c ", "eval ", "eval '", "A=1 ", "! ", "(", "$(", "\"$(", "${a:-", "`", "((", "$((", "<(", "a;", "a|", "<<E\n", "<<E ", "{", "{a,", "'", "\\", "case a in ", "function f ", "find -exec ", "su - -c \"", "timeout -k ", "[[ ", "a/b ", "$'\\", "#", ">", "2>", "env -S'"} {
		line := strings.Repeat(piece, n/len(piece))
		done := make(chan tool.Verdict, 1)
		go func() { done <- decide(t, noRM, "shell", command(line)) }()
		select {
		case <-done:
		case <-time.After(2 * time.Minute):
			t.Fatalf("%q, often, is still read", piece)
		}
	}
}
