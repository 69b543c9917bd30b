package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestScreenFollowsTheSequences(t *testing.T) {
	cases := []struct{ name, sent, want string }{
		{"lines", "one\r\ntwo", "one\ntwo\n\n\n"},
		{"wraps", "1234567890", "12345678\n90\n\n\n"},
		{"scrolls", "1\r\n2\r\n3\r\n4\r\n5", "2\n3\n4\n5\n"},
		{"moves", "\x1b[2;3Hx\x1b[A\x1b[4Gy\x1b[1dz", "   yz\n  x\n\n\n"},
		{"erases", "abcdef\x1b[3D\x1b[K\r\n\x1b[1mnext\x1b[m\x1b[2J\x1b[Hnew", "new\n\n\n\n"},
		{"repeats", "-\x1b[4b", "-----\n\n\n\n"},
		{"deletes", "abcdef\x1b[2G\x1b[2P", "adef\n\n\n\n"},
		{"inserts", "abc\x1b[2G\x1b[2@", "a  bc\n\n\n\n"},
		{"a part scrolls", "1\r\n2\r\n3\r\n4\x1b[2;3r\x1b[3;1H\n\x1b[r", "1\n3\n\n4\n"},
		{"lines in and out", "1\r\n2\r\n3\x1b[1;1H\x1b[L\x1b[3;1H\x1b[M", "\n1\n3\n\n"},
		{"goes back", "1\r\n2\x1b[H\x1bMtop", "top\n1\n2\n\n"},
		{"wide", "世界x", "世界x\n\n\n\n"},
		{"titles", "\x1b]0;title\aok\x1bP+q\x1b\\", "ok\n\n\n\n"},
	}
	for _, c := range cases {
		for size := 1; size <= len(c.sent); size *= 3 { // in pieces of any size
			s := newScreen(8, 4)
			for rest := []byte(c.sent); len(rest) > 0; {
				n := min(size, len(rest))
				if _, err := s.Write(rest[:n]); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if d := cmp.Diff(c.want, s.text()); d != "" {
				t.Errorf("%s, %d bytes at once (-want +got):\n%s", c.name, size, d)
			}
		}
	}
}

func FuzzScreenStandsAnything(f *testing.F) {
	for _, s := range []string{"\x1b[999;999Hx", "\x1b[5;2r\n\n", "\x1b[-1@", "\xf0\x9f", "\x1b[99b世\x1b[99X\x1b[9L\x1b[9T\x1b8"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		s := newScreen(8, 4)
		if _, err := s.Write(sent); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(s.text(), "\n"); n != 4 {
			t.Errorf("%q gives %d lines", sent, n)
		}
	})
}

func TestARecordingIsACastAndAFilm(t *testing.T) {
	c := &cast{width: 40, height: 4, title: "a \"test\" & more"}
	steps, err := readScript(strings.NewReader("# says what it is given\nwait ready\ntype <世界>\nkey enter\nwait got <世界>\npause 1ms\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := record(c, steps, []string{"sh", "-c", `printf '\033[1;36mready\033[m '; read x; echo "got $x"`}); err != nil {
		if strings.Contains(err.Error(), "needs Linux") {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	var text, film bytes.Buffer
	if err := errors.Join(c.write(&text), c.writeSVG(&film)); err != nil {
		t.Fatal(err)
	}
	lines := json.NewDecoder(&text)
	var head struct{ Version, Width, Height int }
	if err := lines.Decode(&head); err != nil || head.Version != 2 || head.Width != 40 || head.Height != 4 {
		t.Errorf("the head: %+v, %v", head, err)
	}
	at, all := -1.0, ""
	for {
		var e [3]any
		if err := lines.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if e[0].(float64) < at || e[1] != "o" {
			t.Errorf("event %v after %v", e, at)
		}
		at = e[0].(float64)
		all += e[2].(string)
	}
	if !strings.Contains(all, "got <世界>") {
		t.Errorf("the cast holds %q", all)
	}
	if s := film.String(); !strings.Contains(s, "got &lt;世界&gt;") || !strings.Contains(s, `font-weight="bold"`) {
		t.Errorf("the film:\n%s", s)
	}
	for d := xml.NewDecoder(&film); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestAScriptThatWaitsInVainIsTold(t *testing.T) {
	c := &cast{width: 20, height: 2}
	err := record(c, []step{{"wait", "never", 7}}, []string{"true"})
	if err == nil || !strings.Contains(err.Error(), "line 7") && !strings.Contains(err.Error(), "needs Linux") {
		t.Errorf("error: %v", err)
	}
}

func TestScriptsAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		"dance": `line 1: there is no verb "dance"`, "\nkey nose": `line 2: there is no key "nose"`,
		"type": "line 1: type needs a text", "pause long": `line 1: time: invalid duration "long"`,
	} {
		if _, err := readScript(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestFramesAreScreensThatStood(t *testing.T) {
	c := &cast{width: 10, height: 1}
	for i, text := range []string{"a", "b", "c", "\x1b[m", "d"} {
		at := time.Duration(i) * 100 * time.Millisecond
		if text == "b" {
			at = time.Millisecond // too short after a to be seen alone
		}
		c.events = append(c.events, event{at, text})
	}
	frames, err := c.frames(50 * time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range frames {
		got = append(got, f.rows[0][strings.Index(f.rows[0], ">")+1:])
	}
	if d := cmp.Diff([]string{"ab</text>", "abc</text>", "abcd</text>"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
