package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
	"github.com/skeinhq/skein/tool/mcp"
)

// bench is a client with servers, what it warned of, and a clock that stands
// still until it is moved.
type bench struct {
	t *testing.T
	*mcp.Client
	mu    sync.Mutex
	said  []string
	heard chan string // each warning, for who waits for one
	now   time.Time
}

const ample = time.Minute

func open(t *testing.T, servers ...mcp.Server) *bench {
	return openWith(t, ample, ample, servers...)
}

func openWith(t *testing.T, patience, connect time.Duration, servers ...mcp.Server) *bench {
	t.Helper()
	if err := mcp.Check(servers); err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, heard: make(chan string, 10_000), now: time.Unix(1e9, 0)}
	b.Client = mcp.OpenWith(context.Background(), servers, func(line string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.said = append(b.said, line)
		b.heard <- line
	}, func() time.Time {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.now
	}, patience, connect)
	t.Cleanup(b.Close)
	return b
}

// as is the test binary as a server of its own.
func as(name, kind string) mcp.Server {
	return mcp.Server{Name: name, Command: []string{os.Args[0]}, Env: map[string]string{actAs: kind}, Timeout: ample}
}

func (b *bench) later(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

func (b *bench) warnings() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.said, "\n")
}

// until waits for a warning that holds a text.
func (b *bench) until(text string) {
	b.t.Helper()
	limit := time.After(ample)
	for {
		select {
		case line := <-b.heard:
			if strings.Contains(line, text) {
				return
			}
		case <-limit:
			b.t.Fatalf("nobody warned of %q:\n%s", text, b.warnings())
		}
	}
}

func (b *bench) tools() []tool.Tool {
	var all []tool.Tool
	for _, s := range b.Sets(context.Background()) {
		all = append(all, s.Tools...)
	}
	return all
}

func names(tools []tool.Tool) (out []string) {
	for _, t := range tools {
		out = append(out, t.Name)
	}
	return out
}

// call calls a tool as a model does.
func (b *bench) call(name, input string) (text string, isError bool) {
	b.t.Helper()
	a := b.answer(name, input)
	return a.Result.Parts[0].Text, a.Result.IsError
}

func (b *bench) answer(name, input string) tool.Answered {
	b.t.Helper()
	got, err := tool.Answer(context.Background(), b.tools(), thread.Call("x", name, json.RawMessage(input)))
	if err != nil {
		b.t.Fatal(err)
	}
	return got
}

// expect calls a tool and looks for texts in what it gives.
func (b *bench) expect(name, input string, isError bool, wants ...string) {
	b.t.Helper()
	got, is := b.call(name, input)
	for _, want := range wants {
		if !strings.Contains(got, want) || is != isError {
			b.t.Errorf("%s %s gave (error %v) %.900q, want %q\nwarnings:\n%.2000s", name, input, is, got, want, b.warnings())
		}
	}
}

// web serves a server over streamable HTTP on this machine.
func web(t *testing.T, s *sdk.Server, around func(http.Handler) http.Handler) *httptest.Server {
	t.Helper()
	h := handler(t, s)
	if around != nil {
		h = around(h)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return srv
}

// both runs a test over either way to a server.
func both(t *testing.T, test func(*testing.T, *bench)) {
	t.Run("stdio", func(t *testing.T) { test(t, open(t, as("srv", "full"))) })
	t.Run("http", func(t *testing.T) {
		srv := web(t, full(), nil)
		test(t, open(t, mcp.Server{Name: "srv", URL: srv.URL, Timeout: ample}))
	})
}

func TestToolsOfAServer(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		sets := b.Sets(context.Background())
		if len(sets) != 1 || sets[0].Name != "srv" {
			t.Fatalf("got %+v\n%s", sets, b.warnings())
		}
		want := []string{"srv_add", "srv_ask", "srv_die", "srv_environment", "srv_fail", "srv_flood", "srv_grow", "srv_hang", "srv_large", "srv_list_resources", "srv_read_resource", "srv_refuse", "srv_see", "srv_structure"}
		if got := names(sets[0].Tools); !slices.Equal(got, want) {
			t.Fatalf("got %v\nwant %v\n%s", got, want, b.warnings())
		}
		if err := tool.Check(sets[0].Tools); err != nil {
			t.Error(err)
		}
		add := sets[0].Tools[0]
		if add.Description != "Add two numbers. [2J" || add.ReadOnly {
			t.Errorf("%q, read-only %v", add.Description, add.ReadOnly)
		}
		if want := `{"additionalProperties":false,"properties":{"a":{"type":"integer"},"b":{"type":"integer"}},"required":["b","a"],"type":"object"}`; string(add.Schema) != want {
			t.Errorf("the schema is %s\nwant %s", add.Schema, want)
		}
		b.expect("srv_add", `{"a":2,"b":3}`, false, "5")
		b.expect("srv_add", `{"a":"2","b":3}`, true, "does not fit its schema")
		b.expect("srv_fail", `{}`, true, "the MCP server srv reports an error: the disk is full")
		b.expect("srv_refuse", `{}`, true, "srv", "not on a Monday")
		b.expect("srv_structure", `{}`, false, `{"a":"<","b":1}`)
	})
}

func TestHintsAreBelievedOfTrustedServersAlone(t *testing.T) {
	s := as("srv", "full")
	s.Trust = true
	b := open(t, s)
	for _, got := range b.tools() {
		want := got.Name == "srv_add" || strings.HasSuffix(got.Name, "_list_resources") || strings.HasSuffix(got.Name, "_read_resource")
		if got.ReadOnly != want {
			t.Errorf("%s: read-only %v", got.Name, got.ReadOnly)
		}
	}
}

func TestResultsBecomeTextAndFiles(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		got := b.answer("srv_see", `{}`)
		var files []string
		for _, f := range got.Files {
			files = append(files, fmt.Sprintf("%s %s %d", f.Name, f.MediaType, len(f.Data)))
		}
		want := []string{fmt.Sprintf("srv_see-1.png image/png %d", len(picture())), "srv_see-2.wav audio/wav 4", "b.bin application/octet-stream 2"}
		if !slices.Equal(files, want) {
			t.Errorf("got %q\nwant %q", files, want)
		}
		text := got.Result.Parts[0].Text
		for _, want := range []string{
			"look", "srv_see-1.png", "it is said to be image/png and is text/html", `its media type is "text/html"`, "at most 8388608",
			"[resource file:///log: the log of today]", "[resource mem://a]\nalpha",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in:\n%s", want, text)
			}
		}
	})
}

func TestResourcesAreListedAndRead(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		b.expect("srv_list_resources", `{}`, false, "mem://a (text/plain) alpha the first letter\n", "mem://pic (image/png) pic\n", "template mem://day/{d} (any type) day\n")
		b.expect("srv_read_resource", `{"uri":"mem://a"}`, false, "[resource mem://a]\nalpha")
		b.expect("srv_read_resource", `{"uri":"mem://none"}`, true, "the MCP server srv refuses this", "not found")
		b.expect("srv_read_resource", `{}`, true, "does not fit its schema")
		if got := b.answer("srv_read_resource", `{"uri":"mem://pic"}`); len(got.Files) != 1 || got.Files[0].MediaType != "image/png" {
			t.Errorf("got %+v", got.Result)
		}
	})
}

func TestPromptsAreText(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		ctx := context.Background()
		got, err := b.Prompt(ctx, "srv", "greet", map[string]string{"who": "Ana"})
		if err != nil || got != "Be kind to Ana.\n\nAlways." {
			t.Errorf("%q, %v\n%s", got, err, b.warnings())
		}
		for name, want := range map[string]thread.Code{"none": thread.Response, "paint": thread.Response, "long": thread.Response} {
			if _, err := b.Prompt(ctx, "srv", name, nil); thread.CodeOf(err) != want || !strings.Contains(err.Error(), "srv") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := b.Prompt(ctx, "nobody", "greet", nil); thread.CodeOf(err) != thread.NotFound {
			t.Error(err)
		}
		over, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := b.Prompt(over, "srv", "greet", nil); thread.CodeOf(err) != thread.Aborted {
			t.Error(err)
		}
	})
}

func TestTheListIsAskedForAgainWhenItChanged(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		before := b.tools()
		b.expect("srv_grow", `{}`, false, "grown")
		limit := time.Now().Add(ample)
		for !slices.Contains(names(b.tools()), "srv_grown") {
			if time.Now().After(limit) {
				t.Fatalf("the tools are still %v", names(before))
			}
		}
		b.expect("srv_grown", `{}`, false, "I am new")
	})
}

func TestACallThatHangsEndsAndIsCancelled(t *testing.T) {
	s := as("srv", "full")
	s.Timeout = 3 * time.Second
	b := open(t, s)
	b.expect("srv_hang", `{}`, true, "the MCP server srv did not answer within 3s", "cancelled")
	b.until("hang was cancelled")
	b.expect("srv_structure", `{}`, false, `"a"`) // the server lives
	if strings.Contains(b.warnings(), "ended") {
		t.Error(b.warnings())
	}
}

func TestACallsContextEndsIt(t *testing.T) {
	b := open(t, as("srv", "full"))
	hang, _ := tool.Find(b.tools(), "srv_hang")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := hang.Run(ctx, json.RawMessage(`{}`)); err == nil || ctx.Err() == nil {
		t.Errorf("got %v", err)
	}
}

func TestAServerThatAnswersNothingAnyLongerIsStopped(t *testing.T) {
	s := as("srv", "numb")
	s.Timeout = 200 * time.Millisecond
	b := open(t, s)
	b.expect("srv_wait", `{}`, true, "did not answer within")
	b.until("answers nothing any longer")
}

func TestAServerThatDiesIsStartedAgain(t *testing.T) {
	b := open(t, as("srv", "full"))
	tools := b.tools()
	call := func(name string) string {
		got, err := tool.Answer(context.Background(), tools, thread.Call("x", name, json.RawMessage(`{"a":1,"b":1}`)))
		if err != nil {
			t.Fatal(err)
		}
		return got.Result.Parts[0].Text
	}
	for _, c := range []struct{ name, want string }{
		{"srv_die", "the MCP server srv broke off in the call (exit status 7); it is started again at the next call"},
		{"srv_add", "2"},
		{"srv_die", "exit status 7"},
		{"srv_die", "exit status 7"}, // started at once after one death
		{"srv_add", "is not running (exit status 7); it is tried again in 5s"},
	} {
		if got := call(c.name); !strings.Contains(got, c.want) {
			t.Errorf("%s gave %q, want %q", c.name, got, c.want)
		}
	}
	if got := b.tools(); len(got) != len(tools) {
		t.Errorf("the tools are gone with the server: %v", names(got))
	}
	b.later(5 * time.Second)
	if got := call("srv_add"); got != "2" {
		t.Errorf("after the wait it gave %q", got)
	}
}

func TestAnAnswerThatIsTooLargeIsAnErrorOfTheCall(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		got, isError := b.call("srv_flood", `{}`)
		if !isError || !strings.Contains(got, "the MCP server srv broke off") || !(strings.Contains(got, "more than 16 MiB") || strings.Contains(got, "exceeded 16777216 bytes")) {
			t.Errorf("got %.900q", got)
		}
		b.expect("srv_add", `{"a":2,"b":3}`, false, "5")
		whole := b.answer("srv_large", `{}`)
		if len(whole.Files) != 1 || len(whole.Files[0].Data) != 2<<20 || len(whole.Result.Parts[0].Text) > tool.MaxResult {
			t.Errorf("%d files, %d characters", len(whole.Files), len(whole.Result.Parts[0].Text))
		}
	})
}

func TestLiesAboutSchemas(t *testing.T) {
	b := open(t, as("srv", "liar"))
	tools := b.tools()
	if err := tool.Check(tools); err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, one := range tools {
		told = append(told, one.Name+" "+string(one.Schema))
	}
	object := ` {"type":"object"}`
	want := []string{
		"srv_a_b" + object, "srv_a_b_ba55c4cc" + object, "srv_a_b_c8687a08" + object, "srv_" + strings.Repeat("long", 30)[:51] + "_" + "00000000" + object,
		"srv_none" + object,
		"srv_s0" + object, "srv_s1" + object, "srv_s2" + object, "srv_s3" + object, "srv_s4" + object, "srv_s5" + object, "srv_s6" + object, "srv_s7" + object,
		`srv_s8 {"properties":{"a":{"type":"string"},"z":{"type":"integer"}},"required":["z"],"type":"object"}`,
		"srv_wordy" + object,
	}
	if len(told) != len(want) {
		t.Fatalf("%d tools, want %d:\n%s\n%s", len(told), len(want), strings.Join(told, "\n"), b.warnings())
	}
	for i := range want {
		name, schema, _ := strings.Cut(want[i], " ")
		gotName, gotSchema, _ := strings.Cut(told[i], " ")
		if len(name) != len(gotName) || name[:6] != gotName[:6] || schema != gotSchema || len(gotName) > 64 {
			t.Errorf("got %s, want %s", told[i], want[i])
		}
	}
	for _, one := range tools {
		if len([]rune(one.Description)) > 2_000 {
			t.Errorf("%s has a description of %d bytes", one.Name, len(one.Description))
		}
	}
	for i := range 8 {
		if text := fmt.Sprintf(`the tool "srv_s%d" has no usable schema`, i); !strings.Contains(b.warnings(), text) {
			t.Errorf("nobody warned that %s:\n%.3000s", text, b.warnings())
		}
	}
	b.expect("srv_s8", `{"z":"1"}`, true, "does not fit its schema")
	b.expect("srv_s4", `{"any":"thing"}`, false, "fine")
	b.expect("srv_s0", `{}`, true, "the MCP server srv gave an answer that cannot be used", "hologram")
	b.expect("srv_s1", `{}`, false, "fine") // it was not stopped for it
	if strings.Contains(b.warnings(), "ended") {
		t.Error(b.warnings())
	}
}

func TestTheSameOfferIsTheSameBytes(t *testing.T) {
	bytes := func() string {
		b := open(t, as("srv", "liar"), as("other", "full"))
		out, err := thread.Encode(tool.Told(b.tools()))
		if err != nil {
			t.Fatal(err)
		}
		b.Close()
		return string(out)
	}
	if first, second := bytes(), bytes(); first != second {
		t.Errorf("first\n%.3000s\nthen\n%.3000s", first, second)
	}
}

func TestGarbageOnStdoutIsPassedOver(t *testing.T) {
	b := open(t, as("srv", "garbage"))
	b.expect("srv_add", `{"a":2,"b":3}`, false, "5")
	if got := b.warnings(); !strings.Contains(got, "on stdout, and no message: Starting the server … [32mdone [0m") || strings.Contains(got, "\x1b") {
		t.Errorf("warnings: %.500q", got)
	}
}

func TestServersThatCannotBeReachedTakeNothingDown(t *testing.T) {
	nowhere := httptest.NewServer(nil)
	nowhere.Close()
	b := open(t,
		as("refuses", "refuses"), as("deadlist", "deadlist"), as("beggar", "beggar"),
		mcp.Server{Name: "missing", Command: []string{"/no/such/program"}},
		mcp.Server{Name: "nowhere", URL: nowhere.URL + "/mcp?key=secret"},
	)
	sets := b.Sets(context.Background())
	if len(sets) != 5 {
		t.Fatalf("got %+v", sets)
	}
	for _, s := range sets {
		if len(s.Tools) != 0 {
			t.Errorf("%s has tools: %v", s.Name, names(s.Tools))
		}
	}
	said := b.warnings()
	for _, want := range []string{
		"the MCP server refuses: no [31mlicence [0m", "refuses cannot be reached", "exit status 3",
		"deadlist ended", "exit status 9", "beggar cannot be reached", "missing cannot be reached", "no such file", "nowhere cannot be reached", "refused",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in:\n%s", want, said)
		}
	}
	if strings.Contains(said, "secret") {
		t.Errorf("the url is shown:\n%s", said)
	}
	if _, err := b.Prompt(context.Background(), "missing", "x", nil); thread.CodeOf(err) != thread.Configuration || !strings.Contains(err.Error(), "tried again in 5s") {
		t.Error(err)
	}
}

func TestAServerThatNeverAnswersIsNotWaitedForLong(t *testing.T) {
	b := openWith(t, 100*time.Millisecond, 300*time.Millisecond, as("mute", "mute"))
	if got := b.tools(); len(got) != 0 {
		t.Errorf("it has tools: %v", names(got))
	}
	b.until("the MCP server mute cannot be reached, its tools are absent: it did not answer within 300ms (tried again after 5s)")
	if !strings.Contains(b.warnings(), "mute is still starting after 100ms") {
		t.Error(b.warnings())
	}
	b.tools() // not due again
	if got := strings.Count(b.warnings(), "cannot be reached"); got != 1 {
		t.Errorf("%d tries", got)
	}
}

func TestAServerIsTriedAgainLaterAndLater(t *testing.T) {
	script := filepath.Join(t.TempDir(), "late")
	b := open(t, mcp.Server{Name: "late", Command: []string{script}, Env: map[string]string{actAs: "full"}, Timeout: ample})
	tries := func() int { b.tools(); return strings.Count(b.warnings(), "cannot be reached") }
	for i, step := range []struct {
		wait time.Duration
		want int
	}{{0, 1}, {4 * time.Second, 1}, {time.Second, 2}, {9 * time.Second, 2}, {time.Second, 3}} {
		b.later(step.wait)
		if got := tries(); got != step.want {
			t.Errorf("step %d: %d tries, want %d", i, got, step.want)
		}
	}
	if err := os.Symlink(os.Args[0], script); err != nil {
		t.Fatal(err)
	}
	b.later(20 * time.Second)
	b.expect("late_add", `{"a":1,"b":1}`, false, "2")
	if got := []time.Duration{mcp.Wait(0), mcp.Wait(1), mcp.Wait(2), mcp.Wait(7), mcp.Wait(1_000)}; !slices.Equal(got, []time.Duration{0, 5 * time.Second, 10 * time.Second, 5 * time.Minute, 5 * time.Minute}) {
		t.Errorf("the waits are %v", got)
	}
}

func TestStderrIsPassedOnWithinBounds(t *testing.T) {
	b := open(t, as("srv", "chatty"))
	b.expect("srv_add", `{"a":2,"b":3}`, false, "5")
	b.Close()
	said := strings.Split(b.warnings(), "\n")
	if len(said) != 200 || !strings.Contains(said[199], "prints more than is passed on") {
		t.Errorf("%d lines, the last %q", len(said), said[len(said)-1])
	}
	for _, line := range said {
		if len([]rune(line)) > 550 {
			t.Errorf("a line of %d bytes", len(line))
		}
	}
}

func TestServersAreNotGivenWhatIsOurs(t *testing.T) {
	t.Setenv("SKEIN_TEST_SECRET", "hush")
	s := as("srv", "full")
	b := open(t, s)
	b.expect("srv_ask", `{}`, false, "sampling:", "elicitation:", "roots:")
	if got, _ := b.call("srv_ask", `{}`); strings.Contains(got, "<nil>") || strings.Contains(got, "root: ") {
		t.Errorf("a server was given something: %s", got)
	}
	got, _ := b.call("srv_environment", `{}`)
	for line := range strings.Lines(got) {
		name, _, is := strings.Cut(line, "=")
		if is && !slices.Contains([]string{"PATH", "HOME", "LANG", "TMPDIR", actAs, "PWD"}, name) {
			t.Errorf("a server sees %s", line)
		}
	}
	b.Close()

	s.Dir = t.TempDir()
	b = open(t, s)
	b.expect("srv_ask", `{}`, false, "sampling:", "elicitation:", "root: file://"+s.Dir)
	b.expect("srv_environment", `{}`, false, "dir "+s.Dir)
}

func TestWhoSpeaksTheNewestProtocolAloneIsUnderstood(t *testing.T) {
	b := open(t, as("srv", "newest"))
	b.expect("srv_add", `{"a":2,"b":3}`, false, "5")
}

func TestCloseEndsCallsAndTheClient(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		hang, _ := tool.Find(b.tools(), "srv_hang")
		began, done := make(chan struct{}), make(chan error)
		go func() {
			close(began)
			_, err := hang.Run(context.Background(), json.RawMessage(`{}`))
			done <- err
		}()
		<-began
		b.Close()
		if err := <-done; thread.CodeOf(err) != thread.Aborted {
			t.Errorf("got %v", err)
		}
		if _, err := b.Prompt(context.Background(), "srv", "greet", nil); thread.CodeOf(err) != thread.Aborted {
			t.Errorf("got %v", err)
		}
		if got := b.tools(); len(got) == 0 {
			t.Error("the tools are forgotten")
		}
		b.Close()
	})
}
