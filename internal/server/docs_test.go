package server_test

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/skeinhq/skein/view"
)

var update = flag.Bool("update", false, "write the page's examples anew")

const protocolPage = "../../docs/protocol.md"

// The examples of the page are what a server says, but for what differs each time.
func TestTheProtocolsPageShowsWhatTheServerSays(t *testing.T) {
	d := make(dictated)
	s := open(t, withModel(d))
	blocks := map[string]string{}
	var b strings.Builder
	show := func(method, path, body string) {
		var send any
		if body != "" {
			send = body
		}
		a := s.do(method, path, send)
		fmt.Fprintf(&b, "%s %s", method, path)
		if body != "" {
			fmt.Fprintf(&b, "\n%s", body)
		}
		fmt.Fprintf(&b, "\n→ %d %s\n", a.status, strings.TrimSpace(string(a.body)))
	}
	take := func(name string) {
		blocks[name] = same(b.String())
		b.Reset()
	}
	s.create("rope")
	l := s.listen("/v1/threads/rope/events?tail=50")
	var r view.Replica
	l.follow(&r, "a snapshot", func(v view.View) bool { return v.N == 1 })

	show("POST", "/v1/threads/rope/messages", `{"text":"Where is the hall?","key":"k1"}`)
	take("say")
	d <- "At the "
	l.follow(&r, "a piece", func(v view.View) bool { return live(v) == "At the " && v.Docs.Agent.Turn != 0 })
	d <- "harbour."
	l.follow(&r, "another", func(v view.View) bool { return live(v) == "At the harbour." })
	d.end()
	l.follow(&r, "the answer", func(v view.View) bool { return len(v.Entries) == 2 && v.Docs.Live == nil })
	s.answered("rope", 2)
	l.follow(&r, "the turn's end", func(v view.View) bool { return v.Docs.Agent.Turn == 0 })
	blocks["events"] = chosen(l.raw.String())

	show("POST", "/v1/threads/rope/rewind", `{"seq":99}`)
	take("problem")
	show("GET", "/v1/threads/rope/entries?limit=1", "")
	take("page")

	k := s.dial()
	for _, m := range []string{`{"watch":1,"thread":"rope","from":5}`, `{"call":"c1","method":"POST","path":"/v1/threads/rope/messages","body":{"text":"Thanks","reply":false}}`} {
		k.write(m)
		fmt.Fprintf(&b, "you     %s\n", m)
		if strings.Contains(m, "watch") {
			fmt.Fprintf(&b, "server  %s\n", k.read().raw)
		}
	}
	var call, frame string
	for call == "" || frame == "" {
		switch m := k.read(); {
		case m.Call != nil:
			call = string(m.raw)
		case m.W != nil && strings.Contains(string(m.raw), "Thanks"):
			frame = string(m.raw)
		}
	}
	fmt.Fprintf(&b, "server  %s\nserver  %s\n", frame, call)
	k.write(`{"ping":7}`)
	fmt.Fprintf(&b, "you     %s\n", `{"ping":7}`)
	for m := k.read(); ; m = k.read() {
		if m.Pong != nil {
			fmt.Fprintf(&b, "server  %s\n", m.raw)
			break
		}
	}
	take("socket")
	checkPage(t, blocks)
}

// chosen are the events of the page: the first, one with a message, the pieces of
// the answer, its end.
func chosen(raw string) string {
	var out []string
	for _, e := range strings.Split(raw, "\n\n") {
		switch {
		case strings.HasPrefix(e, "retry"), strings.Contains(e, `"n":1,`), strings.Contains(e, `["a",`):
		case strings.Contains(e, `["p",["entries"]`):
		default:
			continue
		}
		out = append(out, e)
	}
	return same(strings.Join(out, "\n\n") + "\n")
}

// differing is what of an answer is different each time. That a turn begins or
// ends is told with the frame that is on its way then.
var differing = []struct {
	what *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "…"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`), "…"},
	{regexp.MustCompile(`retry: \d+`), "retry: 1742"},
	{regexp.MustCompile(`"n":\d+,"ops":\[\["p"`), `"n":…,"ops":[["p"`},
	{regexp.MustCompile(`"n":\d+,"ops":\[\["a"`), `"n":…,"ops":[["a"`},
	{regexp.MustCompile(`"(definition|hash|blocks)":"[0-9a-f]+"`), `"$1":"…"`},
	{regexp.MustCompile(`"tokens":\d+,"same":\d+`), `"tokens":…,"same":…`},
	{regexp.MustCompile(`,\["s",\["docs","agent"\],\{[^{}]*\}\]`), ``},
	{regexp.MustCompile(`"blocks":"[^"]+"`), `"blocks":"…"`},
	{regexp.MustCompile(`"next":"[^"]+"`), `"next":"…"`},
	{regexp.MustCompile(`It is [^"]+ \(UTC\)\.","same":"[^"]+"`), `It is … (UTC).","same":"…"`},
}

// same is a text without what differs each time.
func same(text string) string {
	for _, d := range differing {
		text = d.what.ReplaceAllString(text, d.with)
	}
	return text
}

// checkPage compares the page's blocks with what was said.
func checkPage(t *testing.T, blocks map[string]string) {
	t.Helper()
	f, err := os.Open(protocolPage)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for name, block := range blocks {
		begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->"
		head, rest, ok := strings.Cut(page, begin)
		was, tail, ok2 := strings.Cut(rest, end)
		if !ok || !ok2 {
			t.Errorf("the page has no place for %s", name)
			continue
		}
		want := "```\n" + strings.TrimSpace(block) + "\n```\n"
		if was != want && !*update {
			t.Errorf("the page's %s is\n%swant\n%srun the test with -update", name, was, want)
		}
		page = head + begin + want + end + tail
	}
	if *update {
		if err := os.WriteFile(protocolPage, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
