package skein_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/anthropic"
	"github.com/skeinhq/skein/model/modeltest"
	"github.com/skeinhq/skein/model/openai"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// vendors gives Anthropic's and OpenAI's models by their names, both asked at a
// local provider that bills as they do.
func vendors(t *testing.T) (*modeltest.Server, func(name string) (model.Model, error)) {
	t.Helper()
	server, url := modeltest.Start(t, modeltest.Config{Keep: 5000})
	return server, func(name string) (model.Model, error) {
		if strings.HasPrefix(name, "gpt-") {
			return openai.New(openai.Options{Key: modeltest.DefaultKey, BaseURL: url + "/v1"})
		}
		return anthropic.New(anthropic.Options{Key: modeltest.DefaultKey, BaseURL: url})
	}
}

// overheard is a model that remembers what it was asked.
type overheard struct {
	model.Model
	mu       sync.Mutex
	requests []model.Request
}

func (o *overheard) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Event, error] {
	o.mu.Lock()
	o.requests = append(o.requests, *r)
	o.mu.Unlock()
	return o.Model.Stream(ctx, r)
}

// begin is what a request begins with, up to a place: its sum, its tokens, and
// whether it is marked for the cache.
type begin struct {
	sum    [sha256.Size]byte
	tokens int
	marked bool
}

// begins gives all starts of a request.
func begins(t *testing.T, r *model.Request) (all []begin) {
	t.Helper()
	var at begin
	add := func(v any, tokens int, marked bool) {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		at.sum = sha256.Sum256(append(at.sum[:], data...))
		at.tokens += tokens
		at.marked = marked
		all = append(all, at)
	}
	marked := func(message, part int) bool {
		for _, m := range r.Marks {
			if m.Message == message && (message < 0 || m.Part == part) {
				return true
			}
		}
		return false
	}
	for _, x := range r.Tools {
		add(x, thread.Weight(x.Name)+thread.Weight(x.Description)+thread.Weight(string(x.Schema)), false)
	}
	for i, s := range r.System {
		add(s, thread.Weight(s), i == len(r.System)-1 && marked(-1, 0))
	}
	for i, m := range r.Messages {
		for j, p := range m.Parts {
			add([]any{m.Role, p}, p.Weigh(), marked(i, j))
		}
	}
	return all
}

// The provider counts every start of every prompt by its own rule; the ledger
// says beforehand what comes out of it.
func TestTheLedgerAgreesWithTheBill(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes 300 turns with each vendor")
	}
	for _, name := range []string{"claude-opus-5-5", "gpt-6-sol"} {
		t.Run(name, func(t *testing.T) { ledgerAgrees(t, name) })
	}
}

func ledgerAgrees(t *testing.T, name string) {
	const turns = 300
	server, models := vendors(t)
	m, err := models(name)
	if err != nil {
		t.Fatal(err)
	}
	heard := &overheard{Model: m}
	e := engine(t, skein.Config{Model: name, Models: func(string) (model.Model, error) { return heard, nil }})
	th := open(t, e, "main", skein.Settings{})
	for i := range turns {
		ask(t, th, fmt.Sprintf("note %d: %s", i, strings.Repeat("the venue is the old harbour hall, ", 12)))
	}

	var stamps []*thread.Message
	for e, err := range th.Entries(context.Background(), store.EntriesQuery{Kinds: []thread.Kind{thread.MessageKind}}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Message.Request != nil {
			stamps = append(stamps, e.Message)
		}
	}
	exchanges := server.Exchanges()
	if len(stamps) != turns || len(heard.requests) != turns || len(exchanges) != turns {
		t.Fatalf("%d answers, %d requests, %d at the provider, want %d of each", len(stamps), len(heard.requests), len(exchanges), turns)
	}

	cached := map[[sha256.Size]byte]bool{}
	causes := map[string]int{}
	var same, tokens int
	var total thread.Usage
	for i, m := range stamps {
		r, u := m.Request, m.Usage
		total.Add(*u)
		same, tokens = same+r.Same, tokens+r.Tokens
		if billed := u.Input + u.CacheRead + u.CacheWrite; int64(r.Tokens) != billed || exchanges[i].Prompt != r.Tokens {
			t.Errorf("request %d has %d tokens by the ledger, %d by the bill, %d at the provider", i+1, r.Tokens, billed, exchanges[i].Prompt)
		}
		all := begins(t, &heard.requests[i])
		expected := 0
		switch {
		case r.Cause != "":
			causes[r.Cause]++
			// What is the same as before is found up to the last place that was marked.
			for _, b := range all {
				if b.tokens <= r.Same && cached[b.sum] {
					expected = b.tokens
				}
			}
		case i > 0:
			if expected = r.Same; r.Same != stamps[i-1].Request.Tokens {
				t.Errorf("request %d has no cause, but %d tokens the same of the %d before", i+1, r.Same, stamps[i-1].Request.Tokens)
			}
		}
		if len(cached) == 0 {
			expected = 0 // the prompt was too short to be kept
		}
		if u.CacheRead != int64(expected) {
			t.Errorf("request %d: %d tokens were expected from the cache, %d were billed; the same are %d, cause %q, block %q", i+1, expected, u.CacheRead, r.Same, r.Cause, r.Block)
		}
		for j, b := range all {
			if b.marked || name == "gpt-6-sol" && j == len(all)-1 && b.tokens >= 1024 {
				cached[b.sum] = true
			}
		}
	}
	state, err := th.State(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(causes) != 1 || int64(causes["cut"]) != state.Cuts || state.Cuts < 2 {
		t.Errorf("the breaks have the causes %v; there were %d cuts", causes, state.Cuts)
	}
	if share := float64(same) / float64(tokens); share < 0.97 {
		t.Errorf("%.2f %% of the prompts were the same as before, want at least 97", 100*share)
	}
	usage, err := th.Usage(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got := usage.Turns; got.Input != total.Input || got.CacheRead != total.CacheRead || got.CacheWrite != total.CacheWrite || got.Output != total.Output {
		t.Errorf("the thread's usage is %+v, its answers took %+v", got, total)
	}
}

// A thread that changes its provider and comes back: each is sent its own
// thinking, as it was, and nothing of the other's.
func TestTheProviderMayChangeInMidThread(t *testing.T) {
	server, models := vendors(t)
	var replies []modeltest.Reply
	for i := range 6 {
		replies = append(replies, modeltest.Answer(modeltest.Think(fmt.Sprintf("thought %d", i)), thread.Text(fmt.Sprintf("answer %d", i))))
	}
	server.Script(replies...)
	e := engine(t, skein.Config{Models: models, Agents: []skein.Agent{{Name: "north", Instructions: "You are north.", Thinking: "low"}}})
	th := open(t, e, "main", skein.Settings{Model: "claude-opus-5-5"})
	for i, name := range []string{"claude-opus-5-5", "claude-opus-5-5", "gpt-6-sol", "gpt-6-sol", "claude-opus-5-5", "gpt-6-sol"} {
		if err := th.Set(context.Background(), skein.Settings{Model: name}); err != nil {
			t.Fatal(err)
		}
		if got, want := ask(t, th, fmt.Sprintf("question %d", i)), fmt.Sprintf("answer %d", i); got != want {
			t.Errorf("%s answered %q, want %q", name, got, want)
		}
	}
	// Which thoughts each request holds: those of its own model, in order.
	for i, want := range []string{"", "0", "", "2", "0 1", "2 3"} {
		x := server.Exchanges()[i]
		var held []string
		for n := range 6 {
			if strings.Contains(string(x.Body), fmt.Sprintf("thought %d", n)) {
				held = append(held, fmt.Sprint(n))
			}
			if n < i && !strings.Contains(string(x.Body), fmt.Sprintf("answer %d", n)) {
				t.Errorf("request %d lacks answer %d", i, n)
			}
		}
		if got := strings.Join(held, " "); got != want || x.Status != 200 || x.Asked.Dropped != 0 {
			t.Errorf("request %d holds the thoughts %q, want %q; status %d, %d dropped by the provider", i, got, want, x.Status, x.Asked.Dropped)
		}
	}
}

// An answer that breaks off is asked for again: what came of it is void, in the
// stream and in the log.
func TestAnAnswerThatBreaksOffIsAskedForAgain(t *testing.T) {
	for _, name := range []string{"claude-opus-5-5", "gpt-6-sol"} {
		t.Run(name, func(t *testing.T) {
			server, models := vendors(t)
			server.Script(
				modeltest.Reply{Parts: []thread.Part{thread.Text("this one breaks off")}, Trouble: modeltest.Cut, After: 2},
				modeltest.Fail(modeltest.Overloaded),
				modeltest.Say("this one is whole"),
			)
			e := engine(t, skein.Config{Models: func(name string) (model.Model, error) {
				m, err := models(name)
				return model.Patient(m, model.Policy{Pause: time.Millisecond}), err
			}})
			th := open(t, e, "main", skein.Settings{Model: name})
			var got []string
			text := ""
			for p, err := range th.Stream(context.Background(), "ana", "hello") {
				switch {
				case err != nil:
					t.Fatal(err)
				case p.Retry != "":
					got = append(got, text, "retry")
					text = ""
				default:
					text += p.Text
				}
			}
			got = append(got, text)
			if len(got) != 5 || !strings.HasPrefix("this one breaks off", got[0]) || got[0] == "" || strings.Join(got[1:], "|") != "retry||retry|this one is whole" {
				t.Errorf("the pieces are %q", got)
			}
			var stored []string
			for e, err := range th.Messages(context.Background(), 0, 10) {
				if err != nil {
					t.Fatal(err)
				}
				stored = append(stored, e.Message.PlainText())
			}
			if want := "hello|this one is whole"; strings.Join(stored, "|") != want {
				t.Errorf("stored is %q, want %q", stored, want)
			}
			if usage, err := th.Usage(context.Background()); err != nil || usage.Requests != 1 {
				t.Errorf("usage %+v: %v", usage, err)
			}
		})
	}
}
