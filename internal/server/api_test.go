package server_test

import (
	"strings"
	"testing"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

func TestAMessageIsAnsweredBesideItsRequest(t *testing.T) {
	s := open(t)
	s.create("rope")
	w := s.ask("rope", "hello")
	if w.Seq == 0 || w.ID == "" || w.Index == nil || *w.Index != 0 {
		t.Errorf("said at %+v", w)
	}
	s.answered("rope", 2)
	var page struct {
		Items []struct {
			Seq     int64
			Message thread.Message
		}
	}
	s.get("/v1/threads/rope/entries?order=asc", &page)
	if len(page.Items) != 2 || page.Items[0].Message.Author != "ana" || page.Items[1].Message.PlainText() != "You said: ana: hello" {
		t.Errorf("the thread: %+v", page.Items)
	}
}

func TestEveryPathAnswers(t *testing.T) {
	s := open(t)
	var made thread.Thread
	s.call("POST", "/v1/threads", map[string]any{"id": "rope", "title": "A rope", "meta": map[string]any{"x": 1}, "settings": skein.Settings{Zone: "Europe/Berlin"}}, 201, &made)
	if made.Title != "A rope" || string(made.Meta) != `{"x":1}` {
		t.Errorf("made: %+v", made)
	}
	s.create("other")
	for _, text := range []string{"The harbour hall is blue", "What colour was it?"} {
		s.ask("rope", text)
		s.until("answered", func() bool { st := s.state("rope"); return st.Turn == 0 && st.Length%2 == 0 && st.Length > 0 })
	}

	var list struct{ Items []thread.Thread }
	s.get("/v1/threads", &list)
	if len(list.Items) != 2 || list.Items[0].ID != "rope" {
		t.Errorf("the list: %+v", list.Items)
	}
	var changed thread.Thread
	s.call("PATCH", "/v1/threads/rope", map[string]any{"title": "Ropes", "meta": nil}, 200, &changed)
	if changed.Title != "Ropes" || len(changed.Meta) != 0 {
		t.Errorf("changed: %+v", changed)
	}
	var got thread.Thread
	s.get("/v1/threads/rope", &got)
	if got.Title != "Ropes" || got.Length != 4 {
		t.Errorf("got: %+v", got)
	}

	var page struct {
		Items []struct{ Seq int64 }
		Next  string
		Epoch string
	}
	s.get("/v1/threads/rope/entries?limit=3", &page)
	if len(page.Items) != 3 || page.Next == "" || page.Epoch != got.Epoch {
		t.Errorf("a page: %+v", page)
	}
	newest := page.Items[0].Seq
	next := page.Next
	page.Items, page.Next = nil, ""
	s.get("/v1/threads/rope/entries?limit=3&cursor="+next, &page)
	if len(page.Items) != 1 || page.Next != "" {
		t.Errorf("the last page: %+v", page)
	}
	first := page.Items[0].Seq

	var entry struct {
		Kind    string
		Prev    *int64
		Index   *int64
		Message *thread.Message
	}
	s.get("/v1/threads/rope/entries/"+itoa(first), &entry)
	if entry.Kind != "message" || entry.Prev == nil || entry.Index == nil || entry.Message.PlainText() != "The harbour hall is blue" {
		t.Errorf("an entry: %+v", entry)
	}

	var outline skein.Outline
	s.get("/v1/threads/rope/outline", &outline)
	if outline.Messages != 4 {
		t.Errorf("the outline: %+v", outline)
	}
	var nodes struct{ Items []thread.Node }
	s.get("/v1/threads/rope/nodes?level=1", &nodes)
	if len(nodes.Items) != 2 || nodes.Items[1].Span.String() != "2+2" {
		t.Errorf("nodes: %+v", nodes.Items)
	}
	var zoomed skein.Zoomed
	s.get("/v1/threads/rope/zoom?id=0&n=2", &zoomed)
	if len(zoomed.Lines) != 2 {
		t.Errorf("zoomed: %+v", zoomed)
	}
	var reading skein.Reading
	s.get("/v1/threads/rope/read?id=0&count=2", &reading)
	if len(reading.Messages) != 2 || !strings.Contains(reading.Messages[0].Text, "harbour") {
		t.Errorf("read: %+v", reading)
	}
	var found skein.Results
	s.get("/v1/threads/rope/search?q=harbour&limit=5", &found)
	if len(found.Hits) == 0 || found.Hits[0].ID != 0 {
		t.Errorf("found: %+v", found)
	}
	var all struct {
		Items []struct {
			Thread string
			Found  skein.Results
		}
		Searched int
	}
	s.get("/v1/search?q=harbour", &all)
	if len(all.Items) != 1 || all.Items[0].Thread != "rope" || all.Searched != 2 {
		t.Errorf("found in all: %+v", all)
	}

	var prompt struct {
		Sections []struct{ Name string }
		Tokens   int
	}
	s.get("/v1/threads/rope/prompt", &prompt)
	now := prompt.Tokens
	s.get("/v1/threads/rope/prompt?at="+itoa(newest), &prompt)
	if len(prompt.Sections) == 0 || now <= prompt.Tokens || prompt.Tokens == 0 {
		t.Errorf("prompts of %d and %d tokens", now, prompt.Tokens)
	}
	var ledger struct {
		Items []struct {
			Seq     int64
			Agent   string
			Request thread.Request
		}
		Next int64
	}
	s.get("/v1/threads/rope/requests?limit=1", &ledger)
	if len(ledger.Items) != 1 || ledger.Items[0].Seq != newest || ledger.Items[0].Request.Number != 2 || ledger.Next != newest {
		t.Errorf("the ledger: %+v", ledger)
	}
	s.get("/v1/threads/rope/requests?before="+itoa(ledger.Next), &ledger)
	if len(ledger.Items) != 1 || ledger.Items[0].Request.Number != 1 {
		t.Errorf("the rest of the ledger: %+v", ledger)
	}
	var usage skein.Usage
	s.get("/v1/threads/rope/usage", &usage)
	if usage.Requests != 2 {
		t.Errorf("usage: %+v", usage)
	}
	var agents struct {
		Items []struct {
			Name    string
			Default bool
		}
	}
	s.get("/v1/agents", &agents)
	if len(agents.Items) != 1 || agents.Items[0].Name != "north" || !agents.Items[0].Default {
		t.Errorf("agents: %+v", agents)
	}

	var forked thread.Thread
	s.call("POST", "/v1/threads/rope/fork", map[string]any{"seq": first, "id": "string", "title": "A string"}, 201, &forked)
	if forked.ID != "string" || forked.Length != 1 || forked.Root != "rope" {
		t.Errorf("forked: %+v", forked)
	}
	var back thread.Thread
	s.call("POST", "/v1/threads/rope/rewind", map[string]any{"seq": first}, 200, &back)
	if back.Length != 1 {
		t.Errorf("rewound: %+v", back)
	}
	s.get("/v1/threads/rope/entries/"+itoa(newest), &struct{}{})
	s.call("POST", "/v1/threads/rope/reply", nil, 202, nil)
	s.answered("rope", 2)
	s.call("POST", "/v1/threads/rope/stop", nil, 204, nil)
	s.call("POST", "/v1/threads/rope/reset", nil, 200, &back)
	if back.Length != 0 {
		t.Errorf("reset: %+v", back)
	}
	s.call("DELETE", "/v1/threads/other", nil, 204, nil)
	s.refused("GET", "/v1/threads/other", nil, 404, thread.NotFound)

	var health struct{ OK bool }
	s.get("/healthz", &health)
	s.get("/readyz", &health)
	if a := s.do("GET", "/metrics", nil); a.status != 200 || !strings.Contains(string(a.body), `skein_http_requests_total{route="say",status="202"} 2`) {
		t.Errorf("metrics: %d\n%s", a.status, a.body)
	}
	if a := s.do("GET", "/docs", nil); a.status != 200 || strings.Contains(string(a.body), "src=") || !strings.Contains(a.header.Get("Content-Security-Policy"), "script-src 'sha256-") {
		t.Errorf("docs: %d %s", a.status, a.header)
	}
}

func TestWhatIsWrongIsAProblem(t *testing.T) {
	s := open(t)
	s.create("rope")
	s.say("rope", "hello")
	for _, c := range []struct {
		method, path string
		body         any
		status       int
		code         thread.Code
	}{
		{"POST", "/v1/threads", map[string]any{"id": "rope"}, 409, thread.Conflict},
		{"POST", "/v1/threads", map[string]any{"id": "no good"}, 400, thread.Invalid},
		{"POST", "/v1/threads", map[string]any{"other": 1}, 422, thread.Invalid},
		{"POST", "/v1/threads", `{"id":`, 400, thread.Invalid},
		{"POST", "/v1/threads", map[string]any{"settings": map[string]any{"agent": "nobody"}}, 422, thread.Configuration},
		{"POST", "/v1/threads", map[string]any{"settings": map[string]any{"tail": map[string]any{"low": 5, "high": 1}}}, 400, thread.Invalid},
		{"PATCH", "/v1/threads/rope", map[string]any{"settings": map[string]any{"outline": map[string]any{"low": 5, "high": 1}}}, 400, thread.Invalid},
		{"GET", "/v1/threads/none", nil, 404, thread.NotFound},
		{"GET", "/v1/threads/rope/entries/99", nil, 404, thread.NotFound},
		{"GET", "/v1/threads/rope/entries/x", nil, 422, thread.Invalid},
		{"GET", "/v1/threads/rope/entries?limit=1000", nil, 422, thread.Invalid},
		{"GET", "/v1/threads/rope/entries?limt=1", nil, 422, thread.Invalid},
		{"GET", "/v1/threads/rope/entries?cursor=nonsense", nil, 400, thread.Invalid},
		{"GET", "/v1/threads?cursor=nonsense", nil, 400, thread.Invalid},
		{"GET", "/v1/threads/rope/zoom?id=0&n=64", nil, 404, thread.NotFound},
		{"GET", "/v1/threads/rope/zoom?id=0&n=3", nil, 404, thread.NotFound},
		{"GET", "/v1/threads/rope/search", nil, 422, thread.Invalid},
		{"GET", "/v1/threads/rope/search?q=%21%21", nil, 400, thread.Invalid},
		{"GET", "/v1/threads/rope/prompt?at=1", nil, 404, thread.NotFound},
		{"GET", "/v1/threads/rope/events?tail=900", nil, 422, thread.Invalid},
		{"GET", "/v1/threads/none/events", nil, 404, thread.NotFound},
		{"POST", "/v1/threads/rope/messages", map[string]any{"text": " "}, 400, thread.Invalid},
		{"POST", "/v1/threads/rope/messages", map[string]any{"text": "x", "when": "later"}, 422, thread.Invalid},
		{"POST", "/v1/threads/rope/messages", map[string]any{"text": "x", "meta": map[string]any{"import": 1}}, 400, thread.Invalid},
		{"POST", "/v1/threads/rope/rewind", map[string]any{"seq": 5}, 404, thread.NotFound},
		{"POST", "/v1/threads/rope/approvals/c", map[string]any{"decision": "allow"}, 404, thread.NotFound},
		{"POST", "/v1/threads/rope/approvals/c", map[string]any{"decision": "maybe"}, 422, thread.Invalid},
		{"GET", "/v1/nothing", nil, 404, thread.NotFound},
		{"PUT", "/v1/threads", nil, 405, thread.Invalid},
		{"GET", "/v1/ws", nil, 426, ""},
	} {
		if c.code == "" {
			if a := s.do(c.method, c.path, c.body); a.status != c.status {
				t.Errorf("%s %s: %d %s", c.method, c.path, a.status, a.body)
			}
			continue
		}
		s.refused(c.method, c.path, c.body, c.status, c.code)
	}
	p := s.refused("GET", "/v1/threads/rope/entries?limit=1000", nil, 422, thread.Invalid)
	if len(p.Errors) != 1 || p.Errors[0].Location != "query.limit" {
		t.Errorf("what is wrong is not said: %+v", p)
	}
}

func TestTheSameKeySaysNothingTwice(t *testing.T) {
	s := open(t)
	s.create("rope")
	said := map[string]any{"text": "once", "key": "k1", "reply": false}
	var one, two where
	s.call("POST", "/v1/threads/rope/messages", said, 202, &one)
	s.call("POST", "/v1/threads/rope/messages", said, 202, &two)
	if one.Seq != two.Seq || one.ID != two.ID || s.state("rope").Length != 1 {
		t.Errorf("%+v and %+v", one, two)
	}
	said["text"] = "twice"
	s.refused("POST", "/v1/threads/rope/messages", said, 409, thread.Conflict)
}

func TestAPageIsRevalidated(t *testing.T) {
	s := open(t)
	s.create("rope")
	s.say("rope", "one")
	s.say("rope", "two")
	a := s.do("GET", "/v1/threads/rope/entries?before=3", nil)
	tag := a.header.Get("ETag")
	if a.status != 200 || tag == "" {
		t.Fatalf("%d %v", a.status, a.header)
	}
	if b := s.do("GET", "/v1/threads/rope/entries?before=3", nil, header("If-None-Match", tag)); b.status != 304 || len(b.body) != 0 {
		t.Errorf("the same page: %d %s", b.status, b.body)
	}
	s.call("POST", "/v1/threads/rope/rewind", map[string]any{"seq": 1}, 200, nil)
	if b := s.do("GET", "/v1/threads/rope/entries?before=3", nil, header("If-None-Match", tag)); b.status != 200 {
		t.Errorf("after a rewind: %d %s", b.status, b.body)
	}
}

func TestThreadsAreListedPageByPage(t *testing.T) {
	s := open(t)
	for i := range 7 {
		s.create("t" + itoa(int64(i)))
	}
	seen := map[string]bool{}
	for next, pages := "", 0; ; pages++ {
		var page struct {
			Items []thread.Thread
			Next  string
		}
		s.get("/v1/threads?limit=3&cursor="+next, &page)
		for _, th := range page.Items {
			if seen[th.ID] {
				t.Errorf("%s comes twice", th.ID)
			}
			seen[th.ID] = true
		}
		if next = page.Next; next == "" {
			if pages != 2 {
				t.Errorf("%d pages", pages+1)
			}
			break
		}
	}
	if len(seen) != 7 {
		t.Errorf("seen: %v", seen)
	}
}

func itoa(n int64) string {
	if n < 0 {
		return "-" + itoa(-n)
	}
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}
