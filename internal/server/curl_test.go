package server_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// What the page has somebody type is typed.
func TestThePagesCommandsRunAsWritten(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		if os.Getenv("SKEIN_REQUIRE") == "all" {
			t.Fatal(err)
		}
		t.Skipf("there is no curl: %v", err)
	}
	page, err := os.ReadFile(protocolPage)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "<!-- curl -->\n```\n")
	block, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("the page has no commands")
	}
	s := open(t)
	lines := strings.Split(strings.TrimSpace(block), "\n")
	for i, line := range lines {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		line = strings.ReplaceAll(line, "http://127.0.0.1:8417", s.url)
		c := exec.CommandContext(ctx, "sh", "-c", "exec "+line)
		if i < len(lines)-1 {
			out, err := c.Output()
			if err != nil || !strings.Contains(string(out), `"id":"`) {
				t.Fatalf("%s\n%v: %s", line, err, out)
			}
			continue
		}
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		in := bufio.NewReader(out)
		for answered := false; !answered; {
			event, err := in.ReadString('\n')
			if err != nil {
				t.Fatalf("%s\n%v", line, err)
			}
			answered = strings.Contains(event, `"role":"assistant"`)
		}
		cancel()
		_ = c.Wait() // it was ended
	}
}
