// Command record runs a program at a terminal of its own, types what a script
// says, and writes what was seen: FILE.cast for asciinema, and FILE.svg, a film
// of it.
//
//	go run ./cmd/skein/record -o docs/chat docs/chat.script skein chat
//
// A script waits for what the screen shows, never for a time: a slow machine
// makes a slow film, not another one.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// term is the terminal that programs are told of.
const term = "xterm-256color"

const (
	patience = time.Minute // for a screen to show what is waited for
	typedIn  = 45 * time.Millisecond
)

func main() {
	out := flag.String("o", "recording", "where to: `FILE`.cast and FILE.svg")
	width := flag.Int("width", 84, "columns of the terminal")
	height := flag.Int("height", 24, "lines of the terminal")
	title := flag.String("title", "A terminal", "what the recording shows, for who cannot see it")
	flag.Parse()
	if flag.NArg() < 2 {
		fmt.Fprintln(os.Stderr, "record: write record [flags] SCRIPT COMMAND [ARGUMENT…]")
		os.Exit(2)
	}
	c := &cast{width: *width, height: *height, title: *title}
	if err := run(c, *out, flag.Arg(0), flag.Args()[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func run(c *cast, out, script string, command []string) error {
	f, err := os.Open(script)
	if err != nil {
		return err
	}
	steps, err := readScript(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%s: %w", script, err)
	}
	if err := record(c, steps, command); err != nil {
		return fmt.Errorf("%s: %w", script, err)
	}
	return errors.Join(write(out+".cast", c.write), write(out+".svg", c.writeSVG))
}

func write(path string, content func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(content(f), f.Close())
}

// player is a program at a terminal, and what was seen of it.
type player struct {
	terminal *os.File
	began    time.Time

	mu     sync.Mutex
	cast   *cast
	screen *screen
	over   bool
}

// record runs the command until the script and the command have ended.
func record(c *cast, steps []step, command []string) error {
	program := exec.Command(command[0], command[1:]...)
	program.Env = append(os.Environ(), "TERM="+term, "COLORTERM=", "NO_COLOR=", "TMUX=")
	terminal, err := start(program, c.width, c.height)
	if err != nil {
		return err
	}
	p := &player{terminal: terminal, began: time.Now(), cast: c, screen: newScreen(c.width, c.height)}
	var reading sync.WaitGroup
	reading.Go(p.read)
	err = p.play(steps)
	if err != nil {
		_ = program.Process.Kill() // the first error says more
	}
	ended := program.Wait()
	reading.Wait()
	if closed := terminal.Close(); err == nil {
		err = errors.Join(ended, closed)
	}
	return err
}

// read takes what the program sends, until nobody sits at the terminal any more.
func (p *player) read() {
	buffer := make([]byte, 64<<10)
	var rest []byte // of a rune that is not whole
	for {
		n, err := p.terminal.Read(buffer)
		p.mu.Lock()
		if n > 0 {
			data := slices.Concat(rest, buffer[:n])
			whole := wholeRunes(data)
			rest = append([]byte(nil), data[whole:]...)
			p.cast.events = append(p.cast.events, event{time.Since(p.began), strings.ToValidUTF8(string(data[:whole]), "\uFFFD")})
			_, _ = p.screen.Write(data[:whole]) // it takes all
		}
		p.over = err != nil
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// wholeRunes gives the length of data without a rune that its end cuts.
func wholeRunes(data []byte) int {
	for i := len(data) - 1; i >= 0 && i >= len(data)-4; i-- {
		if data[i] >= 0xc0 {
			if unfinishedRune(data[i:]) {
				return i
			}
			break
		}
	}
	return len(data)
}

func (p *player) play(steps []step) error {
	for _, s := range steps {
		if err := p.step(s); err != nil {
			return fmt.Errorf("line %d: %w", s.line, err)
		}
	}
	return nil
}

func (p *player) step(s step) error {
	switch s.verb {
	case "type":
		for _, r := range s.rest {
			if _, err := io.WriteString(p.terminal, string(r)); err != nil {
				return err
			}
			time.Sleep(typedIn)
		}
	case "key":
		_, err := io.WriteString(p.terminal, keys[s.rest])
		return err
	case "pause":
		d, err := time.ParseDuration(s.rest)
		time.Sleep(d)
		return err
	default:
		return p.wait(s.rest, s.verb == "wait")
	}
	return nil
}

// wait waits until the screen shows a text, or does not any more.
func (p *player) wait(text string, shown bool) error {
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		p.mu.Lock()
		screen, over := p.screen.text(), p.over
		p.mu.Unlock()
		if strings.Contains(screen, text) == shown {
			return nil
		}
		if over || time.Now().After(end) {
			return fmt.Errorf("%q in vain; the screen:\n%s", text, screen)
		}
	}
}
