package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
)

// step is one line of a script.
type step struct {
	verb, rest string
	line       int
}

// keys are those that a script can name.
var keys = map[string]string{
	"enter": "\r", "alt-enter": "\x1b\r", "esc": "\x1b", "tab": "\t", "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D",
	"pgup": "\x1b[5~", "pgdown": "\x1b[6~", "ctrl-home": "\x1b[1;5H", "ctrl-end": "\x1b[1;5F",
	"ctrl-c": "\x03", "ctrl-f": "\x06", "ctrl-g": "\x07", "ctrl-o": "\x0f", "ctrl-r": "\x12", "ctrl-t": "\x14", "ctrl-x": "\x18",
}

// readScript reads steps: type TEXT, key NAME, wait TEXT (until the screen shows
// it), gone TEXT (until it does not), pause DURATION. Lines that begin with # say
// why.
func readScript(r io.Reader) ([]step, error) {
	var out []step
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		verb, rest, _ := strings.Cut(text, " ")
		s := step{verb, rest, n}
		var err error
		switch verb {
		case "type", "wait", "gone":
			if rest == "" {
				err = fmt.Errorf("%s needs a text", verb)
			}
		case "key":
			if keys[rest] == "" {
				err = fmt.Errorf("there is no key %q", rest)
			}
		case "pause":
			_, err = time.ParseDuration(rest)
		default:
			err = fmt.Errorf("there is no verb %q", verb)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		out = append(out, s)
	}
	return out, lines.Err()
}
