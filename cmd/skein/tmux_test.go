package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// pane is skein chat at a terminal of tmux, whose screen can be read.
type pane struct {
	t       *testing.T
	skein   string // the command
	socket  string
	folder  string
	environ []string
}

// sitDown starts skein in a terminal of that size.
func sitDown(t *testing.T, width, height int, environ []string, args ...string) *pane {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("SKEIN_REQUIRE") == "all" {
			t.Fatal(err)
		}
		t.Skip("there is no tmux here: ", err)
	}
	skein, err := exec.LookPath("skein") // the test binary by that name
	if err != nil {
		t.Fatal(err)
	}
	// Sockets have short names.
	folder, err := os.MkdirTemp("", "skein")
	if err != nil {
		t.Fatal(err)
	}
	p := &pane{t: t, skein: skein, folder: folder, socket: filepath.Join(folder, "tmux"), environ: environ}
	config := filepath.Join(folder, "tmux.conf")
	if err := os.WriteFile(config, []byte("set -g remain-on-exit on\nset -g escape-time 0\nset -g default-terminal tmux-256color\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = p.try("kill-server") // its last session may be over
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	p.tmux(append([]string{"-f", config, "new-session", "-d", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height)}, p.command(args)...)...)
	return p
}

// sitting runs a command, and leaves its process id, its exit code and how the
// terminal was set before and after in a folder: tmux itself does not always hear of
// an end. A Ctrl-C that comes once the command has left the terminal as it was ends
// none of this.
const sitting = `folder=$1; shift
trap : INT
rm -f "$folder/code"
stty -g > "$folder/before"
sh -c 'echo $$ > "$0/pid"; exec "$@"' "$folder" "$@"
echo $? > "$folder/code.new"
stty -g > "$folder/after"
mv "$folder/code.new" "$folder/code"`

func (p *pane) command(args []string) []string {
	out := append([]string{"sh", "-c", sitting, "sh", p.folder, "env", "HOME=" + p.folder, "USER=ana", "SKEIN_MODEL=echo"}, p.environ...)
	return append(append(out, p.skein, "chat", "launch", "--db", filepath.Join(p.folder, "t.db"), "--me", "ana"), args...)
}

func (p *pane) try(args ...string) (string, error) {
	c := exec.Command("tmux", append([]string{"-u", "-S", p.socket}, args...)...)
	c.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "TMUX=")
	out, err := c.CombinedOutput()
	return string(out), err
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	out, err := p.try(args...)
	if err != nil {
		p.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return out
}

func (p *pane) screen() string       { return p.tmux("capture-pane", "-p") }
func (p *pane) types(text string)    { p.tmux("send-keys", "-l", text) }
func (p *pane) press(keys ...string) { p.tmux(append([]string{"send-keys"}, keys...)...) }
func (p *pane) resize(width, height int) {
	p.tmux("resize-window", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height))
}
func (p *pane) restart(args ...string) {
	p.tmux(append([]string{"respawn-pane", "-k"}, p.command(args)...)...)
}
func (p *pane) shows(texts ...string) string {
	p.t.Helper()
	return p.until(fmt.Sprintf("%q is shown", texts), holds(texts))
}

func holds(texts []string) func(string) bool {
	return func(screen string) bool {
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				return false
			}
		}
		return true
	}
}

// until waits for a screen.
func (p *pane) until(what string, done func(screen string) bool) string {
	p.t.Helper()
	screen := ""
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(30 * time.Millisecond) {
		if screen = p.screen(); done(screen) {
			return screen
		}
	}
	p.t.Fatalf("waited in vain until %s; the screen:\n%s", what, screen)
	return ""
}

// ended waits for the end of the process and gives its exit code.
func (p *pane) ended() string {
	p.t.Helper()
	code := ""
	p.until("it has left", func(string) bool {
		data, err := os.ReadFile(filepath.Join(p.folder, "code"))
		code = strings.TrimSpace(string(data))
		return err == nil
	})
	return code
}

// kill ends the process at once.
func (p *pane) kill() { p.signal(syscall.SIGKILL) }

// signal sends the process a signal.
func (p *pane) signal(s syscall.Signal) {
	p.t.Helper()
	pid, err := strconv.Atoi(p.file("pid"))
	if err != nil {
		p.t.Fatal(err)
	}
	if err := syscall.Kill(pid, s); err != nil {
		p.t.Fatal(err)
	}
}

// file is what stands in a file of the folder.
func (p *pane) file(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.folder, name))
	if err != nil {
		p.t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}

func TestScreenStreamsStopsAndResizes(t *testing.T) {
	p := sitDown(t, 80, 24, nil, "--pace", "5")
	p.shows("say something")
	p.types("Hello **world**, שלום 世界 e\u0301 👧 ")
	p.shows("› Hello **world**, שלום 世界 e\u0301 👧")
	p.types(strings.Repeat("and more words ", 40))
	p.press("Enter")
	p.shows("north", "You said: ana: Hello world, שלום 世界 e\u0301 👧", "is answering")
	p.types("typed meanwhile")
	p.shows("› typed meanwhile", "is answering")
	p.press("C-c")
	p.shows("stopp", "› typed meanwhile")
	p.until("it has stopped", func(s string) bool { return !strings.Contains(s, "is answering") })
	for _, size := range [][2]int{{40, 12}, {20, 6}, {120, 40}, {80, 24}} {
		p.resize(size[0], size[1])
		screen := p.until(fmt.Sprintf("it fits in %v", size), func(s string) bool {
			lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
			return len(lines) == size[1] && strings.Contains(s, "──") && strings.Contains(s, "› typed") && ansi.StringWidth(longest(lines)) == size[0]
		})
		for _, line := range strings.Split(screen, "\n") {
			if w := ansi.StringWidth(line); w > size[0] {
				t.Errorf("in %v a line has %d columns: %q", size, w, line)
			}
		}
	}
	p.press("C-c", "C-c")
	if code := p.ended(); code != "0" {
		t.Errorf("it leaves with %s:\n%s", code, p.screen())
	}
}

func longest(lines []string) string {
	out := ""
	for _, line := range lines {
		if ansi.StringWidth(line) > ansi.StringWidth(out) {
			out = line
		}
	}
	return out
}

func TestScreenSurvivesAKill(t *testing.T) {
	p := sitDown(t, 80, 24, nil)
	p.shows("say something")
	p.types("said before")
	p.press("Enter")
	p.shows("You said: ana: said before")
	p.types("half a thought, 世界 שלום")
	p.press("M-Enter")
	p.types("in two lines")
	p.shows("in two lines")
	p.until("the draft is written", func(string) bool {
		data, err := os.ReadFile(filepath.Join(p.folder, "t.db.drafts", "launch.json"))
		return err == nil && strings.Contains(string(data), "in two lines")
	})
	p.kill()
	p.ended()
	p.restart()
	p.shows("said before", "half a thought, 世界 שלום", "in two lines", "here again")
	p.press("Enter")
	p.shows("You said: ana: half a thought, 世界 שלום")
	p.until("the draft is gone", func(string) bool {
		_, err := os.Stat(filepath.Join(p.folder, "t.db.drafts", "launch.json"))
		return os.IsNotExist(err)
	})
}

// TestScreenLeavesTheTerminalAsItWas: a signal to end, or that the line is hung up,
// keeps what is typed, and nothing of the screen stays behind.
func TestScreenLeavesTheTerminalAsItWas(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM} {
		p := sitDown(t, 80, 24, nil)
		p.shows("say something")
		modes := func() string {
			return strings.TrimSpace(p.tmux("display-message", "-p", "#{alternate_on} #{mouse_any_flag}"))
		}
		if got := modes(); got != "1 1" {
			t.Errorf("alternate screen and mouse are %s while it runs", got)
		}
		p.types("half a thought")
		p.shows("half a thought")
		p.signal(s)
		if code := p.ended(); code != "0" {
			t.Errorf("%v: it leaves with %s", s, code)
		}
		if got := modes(); got != "0 0" {
			t.Errorf("%v: alternate screen and mouse are %s afterwards", s, got)
		}
		if before, after := p.file("before"), p.file("after"); before != after || before == "" {
			t.Errorf("%v: the terminal was set to %q and is to %q", s, before, after)
		}
		if draft := p.file("t.db.drafts/launch.json"); !strings.Contains(draft, "half a thought") {
			t.Errorf("%v: the draft is %s", s, draft)
		}
	}
}

func TestScreenTakesAPasteAndGoesBack(t *testing.T) {
	p := sitDown(t, 60, 20, nil)
	p.shows("say something")
	p.tmux("set-buffer", "one\n/exit\ntwo\n")
	p.tmux("paste-buffer", "-p")
	p.shows("› one", "  /exit", "  two")
	p.press("Enter")
	p.shows("You said: ana: one")
	for i := range 12 {
		p.types(fmt.Sprintf("message %d", i))
		p.press("Enter")
		p.shows(fmt.Sprintf("You said: ana: message %d", i))
	}
	p.press("PPage", "PPage")
	p.shows("of 26", "message 5")
	p.press("C-Home")
	p.shows("1 of 26", "/exit")
	p.press("Escape")
	p.shows("You said: ana: message 11")
	p.press("Up", "Up")
	p.shows("› message 10")
	p.press("C-u", "C-f")
	p.shows("search")
	p.types("message 3")
	p.press("Enter")
	p.shows("ana → north: message 3")
	p.press("Enter")
	p.shows("▎ message 3")
	p.types("/exit")
	p.press("Enter")
	if code := p.ended(); code != "0" {
		t.Errorf("it leaves with %s", code)
	}
}

var colour = regexp.MustCompile(`\x1b\[([0-9;]*;)?(3[0-8]|9[0-7])[;:m]`)

func TestScreenWithoutColour(t *testing.T) {
	for _, environ := range [][]string{nil, {"NO_COLOR=1"}} {
		p := sitDown(t, 60, 16, environ)
		p.shows("say something")
		p.types("hello")
		p.press("Enter")
		p.shows("You said: ana: hello")
		coloured := colour.MatchString(p.tmux("capture-pane", "-p", "-e"))
		if want := environ == nil; coloured != want {
			t.Errorf("with %q it is in colour: %v\n%q", environ, coloured, p.tmux("capture-pane", "-p", "-e"))
		}
	}
}

func TestTerminalsThatCannotMoveGetLines(t *testing.T) {
	cases := []struct {
		environ, args []string
		prompt        string
	}{
		{[]string{"TERM=dumb"}, nil, "ana> "},
		{nil, []string{"--plain"}, "ana> "},
		{nil, []string{"--screen-reader"}, "ana, say something: "},
	}
	for _, c := range cases {
		p := sitDown(t, 60, 16, c.environ, c.args...)
		p.shows(strings.TrimSpace(c.prompt))
		p.types("hello")
		p.press("Enter")
		p.shows(c.prompt+"hello", "You said: ana: hello")
		p.types("/exit")
		p.press("Enter")
		if code := p.ended(); code != "0" {
			t.Errorf("%q: it leaves with %s", c.args, code)
		}
	}
}
