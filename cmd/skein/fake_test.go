package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/skeinhq/skein/model/modeltest"
)

func TestTheFakeProviderSaysHowToTalkToIt(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, in := io.Pipe()
	done := make(chan error, 1)
	a := &app{ctx: ctx, out: in, flags: &Flags{}}
	go func() {
		done <- fakeCmd{Addr: "127.0.0.1:0"}.Run(a)
		in.Close()
	}()
	lines := bufio.NewScanner(out)
	var url string
	for lines.Scan() && url == "" {
		if _, rest, ok := strings.Cut(lines.Text(), "ANTHROPIC_BASE_URL="); ok {
			url = rest
		}
	}
	requested := make(chan string, 1)
	go func() { // printing goes on while the request is made
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "/v1/messages ") {
				requested <- lines.Text()
			}
		}
	}()
	r, err := http.NewRequestWithContext(ctx, "POST", url+"/v1/messages", strings.NewReader(`{"model":"claude-opus-5-5","max_tokens":50,"messages":[{"role":"user","content":"hello"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("x-api-key", "fake-key")
	r.Header.Set("anthropic-version", "2023-06-01")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || !strings.Contains(string(body), "You said: hello") {
		t.Fatalf("%v: %s", err, body)
	}
	select {
	case line := <-requested:
		if !strings.HasPrefix(line, "/v1/messages claude-opus-5-5 200 input 2, read 0, written 0, output ") {
			t.Errorf("told: %s", line)
		}
	case <-time.After(time.Minute):
		t.Error("the request was not told of")
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("it did not end well: %v", err)
	}
}

func TestTheFakeProviderStaysOnThisMachine(t *testing.T) {
	err := fakeCmd{Addr: "0.0.0.0:8418"}.Run(&app{ctx: t.Context(), out: io.Discard, flags: &Flags{}})
	if err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("got %v", err)
	}
}

func TestTheFakeProvidersModelsAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range modeltest.CannedNames() {
		if !strings.Contains(string(doc), "`"+name+"`") {
			t.Errorf("docs/commands.md does not have %s", name)
		}
	}
}
