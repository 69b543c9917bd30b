//go:build unix

package shell_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"go.uber.org/goleak"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
	"github.com/skeinhq/skein/tool/shell"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, dir string, o shell.Options) tool.Tool {
	t.Helper()
	s, err := shell.Tool(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	if s.ReadOnly {
		t.Fatal("a shell is not read-only")
	}
	return s
}

// answer gives what a model reads, and whether as an error.
func answer(t *testing.T, ctx context.Context, s tool.Tool, input map[string]any) (string, bool) {
	t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	a, err := tool.Answer(ctx, []tool.Tool{s}, thread.Call("c", "shell", raw))
	if err != nil {
		t.Fatal(err)
	}
	return a.Result.Parts[0].Text, a.Result.IsError
}

func TestACommandRunsInTheWorkspace(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a b\nc"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, shell.Options{})
	cases := []struct {
		about, command, want string
		isError              bool
	}{
		{"output and exit code", "cat *", "text\n[exit code 0]", false},
		{"no output", "true", "[exit code 0]", false},
		{"both outputs in order", "echo a; echo b >&2; echo c", "a\nb\nc\n[exit code 0]", false},
		{"several lines", "x=1\nif test $x = 1\nthen echo yes\nfi", "yes\n[exit code 0]", false},
		{"a failure", "echo why >&2; exit 3", "why\n\n[exit code 3]", true},
		{"an unknown program", "nosuchprogram", "[exit code 127]", true},
		{"a signal", "echo x; kill -ABRT $$", "ended by the signal SIGABRT", true},
		{"no input", "cat; read x; echo $?", "1\n[exit code 0]", false},
		{"no terminal", "test -t 0 || test -t 1 || echo none; exec 3</dev/tty || true", "none\n", false},
		{"escapes and NULs", `printf '\033[31mred\033[0m\000\377'`, "red␀\uFFFD\n[exit code 0]", false},
		{"an empty command", " \n", "the command is empty", true},
		{"a NUL in the command", "echo \x00", "holds a NUL", true},
		{"too long a command", strings.Repeat("x", 200_000), "write a file and run that", true},
	}
	for _, c := range cases {
		got, isError := answer(t, context.Background(), s, map[string]any{"command": c.command})
		if !strings.Contains(got, c.want) || isError != c.isError {
			t.Errorf("%s: %q (error: %v), want %q", c.about, got, isError, c.want)
		}
	}
}

func TestACommandMayAskForItsTime(t *testing.T) {
	s := open(t, t.TempDir(), shell.Options{Time: 100 * time.Millisecond})
	var got string
	var isError bool
	for range 100 { // a machine that is busy may not come to the echo in that time
		got, isError = answer(t, context.Background(), s, map[string]any{"command": "echo begun; sleep 1000 & wait"})
		if !isError || !strings.Contains(got, "did not end within 100ms") {
			t.Fatalf("%q", got)
		}
		if strings.HasPrefix(got, "begun\n") {
			break
		}
	}
	if !strings.HasPrefix(got, "begun\n") {
		t.Errorf("what it printed is lost: %q", got)
	}
	got, isError = answer(t, context.Background(), s, map[string]any{"command": "sleep 0.3; echo done", "timeout": 60})
	if isError || got != "done\n[exit code 0]" {
		t.Errorf("%q", got)
	}
	for _, timeout := range []any{-1, 291, 1 << 40} {
		got, isError = answer(t, context.Background(), s, map[string]any{"command": "true", "timeout": timeout})
		if !isError || !strings.Contains(got, "between 1 and 290 seconds") {
			t.Errorf("timeout %v: %q", timeout, got)
		}
	}
}

func TestTheContextsEndStopsACommand(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	ctx = tool.WithLive(ctx, func(string) { cancel() })
	out, err := open(t, t.TempDir(), shell.Options{}).Run(ctx, json.RawMessage(`{"command":"echo begun; sleep 1000"}`))
	if err == nil || !strings.Contains(err.Error(), "was stopped") || out.Text != "begun\n" {
		t.Fatalf("%q, %v", out.Text, err)
	}
}

func TestAVeryLongOutputIsBounded(t *testing.T) {
	s := open(t, t.TempDir(), shell.Options{})
	out, err := s.Run(context.Background(), json.RawMessage(`{"command":"echo first; head -c 60000000 /dev/zero | tr '\\0' '\\377'; echo; echo last"}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Text) > tool.MaxOutput || !utf8.ValidString(out.Text) {
		t.Fatalf("%d bytes", len(out.Text))
	}
	if !strings.HasPrefix(out.Text, "first\n") || !strings.HasSuffix(out.Text, "last\n[exit code 0]") || !strings.Contains(out.Text, "bytes left out") {
		t.Fatalf("%.30q … %.60q", out.Text, out.Text[len(out.Text)-60:])
	}
}

func TestOutputIsToldWhileACommandRuns(t *testing.T) {
	var mu sync.Mutex
	var heard strings.Builder
	ctx := tool.WithLive(context.Background(), func(text string) {
		mu.Lock()
		defer mu.Unlock()
		heard.WriteString(text)
	})
	answer(t, ctx, open(t, t.TempDir(), shell.Options{}), map[string]any{"command": "echo a; echo b >&2"})
	if heard.String() != "a\nb\n" {
		t.Fatalf("heard %q", heard.String())
	}
}

func TestSecretsAreNotPassedOn(t *testing.T) {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "PLAIN=1", "TERM=xterm", "EMPTY=", "PAGE=http://a.example/x@y",
		"OPENAI_API_KEY=s3", "github_token=s3", "DB_PASSWORD=s3", "CLIENT_SECRET_2=s3", "SSH_PASSPHRASE=s3", "AWS_CREDENTIALS=s3",
		"DATABASE_URL=postgres://u:s3@host/db", "ODD=pg://u:s3@ho st/%zz", "WANTED_KEY=w",
	}
	s := open(t, t.TempDir(), shell.Options{Environ: env, Pass: []string{"WANTED_KEY"}})
	got, _ := answer(t, context.Background(), s, map[string]any{"command": "env"})
	if strings.Contains(got, "s3") {
		t.Errorf("a secret is passed on:\n%s", got)
	}
	for _, want := range []string{"PLAIN=1\n", "EMPTY=\n", "WANTED_KEY=w\n", "TERM=dumb\n", "PAGE=http://a.example/x@y\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
	if strings.Contains(got, "xterm") {
		t.Errorf("TERM is set twice:\n%s", got)
	}
}

func TestTheProgramsOwnEnvironmentIsCleanedToo(t *testing.T) {
	t.Setenv("SKEIN_TEST_TOKEN", "s3")
	got, _ := answer(t, context.Background(), open(t, t.TempDir(), shell.Options{}), map[string]any{"command": "env"})
	if strings.Contains(got, "SKEIN_TEST_TOKEN") || !strings.Contains(got, "PATH=") {
		t.Error(got)
	}
}

func TestResourcesNameTheCommand(t *testing.T) {
	got, err := open(t, t.TempDir(), shell.Options{}).Resources(json.RawMessage(`{"command":"rm -rf x"}`))
	if err != nil || got.Command != "rm -rf x" || got.Paths != nil {
		t.Fatalf("%+v, %v", got, err)
	}
}

func TestWhatCannotWorkIsAnErrorOfTheConfiguration(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for about, err := range map[string]error{
		"no folder":         second(shell.Tool(filepath.Join(t.TempDir(), "gone"), shell.Options{})),
		"a file":            second(shell.Tool(file, shell.Options{})),
		"a negative time":   second(shell.Tool(t.TempDir(), shell.Options{Time: -1})),
		"a time beyond all": second(shell.Tool(t.TempDir(), shell.Options{Time: time.Hour})),
	} {
		if thread.CodeOf(err) != thread.Configuration {
			t.Errorf("%s: %v", about, err)
		}
	}
}

func second(_ tool.Tool, err error) error { return err }

func ExampleTool() {
	s, err := shell.Tool(os.TempDir(), shell.Options{Time: 10 * time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := s.Run(context.Background(), json.RawMessage(`{"command":"echo hello"}`))
	fmt.Println(out.Text, err)
	// Output:
	// hello
	// [exit code 0] <nil>
}
