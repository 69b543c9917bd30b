package modeltest

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// Adapter says how an adapter's vendor speaks, in bytes: what [Server] cannot be
// made to say.
type Adapter struct {
	Name  string                                     // of the provider, as errors have it
	Model string                                     // the model that is asked
	Path  string                                     // what requests are posted to
	Open  func(t *testing.T, url string) model.Model // the adapter, with the key [RawKey]; url has no path

	Hello    Raw    // a whole answer
	Complete int    // of Hello's bytes, from which on it is a whole answer
	Begun    string // the bytes of an answer that has told a text and goes on
	Garbage  Raw    // an answer that nobody can read

	Refusals  []Refusal
	Slower    string   // the body of a refusal of status 429
	RequestID string   // the header in which a server names a request
	Lost      []string // bodies of the status 404 of a server that has no such API
	Shape     string   // what is then said of the base URL

	Whole    func() *model.Request    // one with one of everything
	Next     []model.Mark             // of the request after it
	Tail     string                   // what closes the body of a request, after its messages
	Unmarked func(body string) string // takes out what may differ from request to request; nil: nothing may

	Environment map[string]string // variables that other clients read; each holds [RawStray]
}

// RawKey is the key that an adapter is opened with, and RawStray a word that is
// sent nowhere.
const (
	RawKey   = "key-of-a-test"
	RawStray = "of-the-environment"
)

// Refusal is a refusal, and what is to be understood of it.
type Refusal struct {
	Raw      Raw
	Code     thread.Code
	Again    bool // the same may do later
	Overflow bool // the request is too large
	Status   int  // as told; 0: Raw's
}

// RunRaw tries an adapter against raw bytes.
func RunRaw(t *testing.T, a Adapter) {
	for name, run := range map[string]func(Adapter, *testing.T){
		"refusals are understood":                         Adapter.refusals,
		"the provider's wait is kept":                     Adapter.waits,
		"an answer that breaks off is no answer":          Adapter.breaksOff,
		"garbage is a response error":                     Adapter.garbage,
		"no network is said":                              Adapter.unreachable,
		"stopping ends the answer":                        Adapter.stopping,
		"leaving the loop ends the request":               Adapter.leaving,
		"a wrong base URL is not a wrong model":           Adapter.elsewhere,
		"nothing is taken from the environment":           Adapter.stray,
		"a request that goes on starts as the one before": Adapter.goesOn,
		"what cannot be sent is an error before that":     Adapter.unsendable,
	} {
		t.Run(name, func(t *testing.T) { run(a, t) })
	}
}

// ask asks the model once of a server that gives one answer.
func (a Adapter) ask(t *testing.T, answer Raw) (model.Event, error) {
	t.Helper()
	_, done, err := Ask(t.Context(), a.Open(t, ServeRaw(t, a.Path, answer).URL), Request(a.Model))
	return done, err
}

func (a Adapter) refusals(t *testing.T) {
	for _, c := range a.Refusals {
		_, err := a.ask(t, c.Raw)
		status := c.Status
		if status == 0 {
			status = c.Raw.Status
		}
		f, ok := model.FailureOf(err)
		if thread.CodeOf(err) != c.Code || !ok || f.Again != c.Again || f.Overflow != c.Overflow || f.Status != status {
			t.Errorf("%+v:\ngot %q %+v, want code %s, again %v, overflow %v, status %d", c.Raw, err, f, c.Code, c.Again, c.Overflow, status)
			continue
		}
		if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), RawKey) {
			t.Errorf("the error is not fit to be shown: %q", err)
		}
	}
}

func (a Adapter) waits(t *testing.T) {
	for header, want := range map[string]time.Duration{"retry-after": 17 * time.Second, "retry-after-ms": 17 * time.Millisecond} {
		_, err := a.ask(t, Raw{Status: 429, Header: map[string]string{header: "17", a.RequestID: "req_9"}, Body: a.Slower})
		if f, _ := model.FailureOf(err); f.After != want || f.Request != "req_9" {
			t.Errorf("%s: %+v", header, f)
		}
	}
}

func (a Adapter) breaksOff(t *testing.T) {
	for cut := a.Complete; cut > 0; cut -= 17 {
		done, err := a.ask(t, Raw{Body: a.Hello.Body[:cut]})
		if f, _ := model.FailureOf(err); thread.CodeOf(err) != thread.Provider || !f.Again || done.Type == model.Done {
			t.Errorf("cut at %d of %d: %+v, %v", cut, len(a.Hello.Body), done, err)
		}
	}
}

func (a Adapter) garbage(t *testing.T) {
	if _, err := a.ask(t, a.Garbage); thread.CodeOf(err) != thread.Response {
		t.Errorf("got %v", err)
	}
}

func (a Adapter) unreachable(t *testing.T) {
	refusing, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := refusing.Addr().String()
	if err := refusing.Close(); err != nil {
		t.Fatal(err)
	}
	_, _, err = Ask(t.Context(), a.Open(t, "http://"+address), Request(a.Model))
	if thread.CodeOf(err) != thread.Provider || !strings.HasPrefix(err.Error(), a.Name+" cannot be reached: ") {
		t.Errorf("got %v", err)
	}
}

func (a Adapter) stopping(t *testing.T) {
	for end, want := range map[string]thread.Code{"cancel": thread.Aborted, "deadline": thread.Timeout} {
		m := a.Open(t, ServeRaw(t, a.Path, Raw{Body: a.Begun, Stays: true}).URL)
		ctx, cancel := context.WithCancel(t.Context())
		if end == "deadline" {
			ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
		}
		var got error
		for e, err := range m.Stream(ctx, Request(a.Model)) {
			if got = err; e.Type == model.TextDelta && end == "cancel" {
				cancel()
			}
		}
		cancel()
		if thread.CodeOf(got) != want {
			t.Errorf("%s: got %v", end, got)
		}
	}
}

// leaving would hang where a request outlived its loop.
func (a Adapter) leaving(t *testing.T) {
	m := a.Open(t, ServeRaw(t, a.Path, Raw{Body: a.Begun, Stays: true}).URL)
	heard := 0
	for _, err := range m.Stream(t.Context(), Request(a.Model)) {
		if err != nil {
			t.Fatal(err)
		}
		heard++
		break
	}
	if heard != 1 {
		t.Error("nothing was heard")
	}
}

func (a Adapter) elsewhere(t *testing.T) {
	for _, body := range append([]string{"404 page not found\n", "<html>away</html>", ""}, a.Lost...) {
		_, err := a.ask(t, Raw{Status: 404, Body: body})
		f, _ := model.FailureOf(err)
		if f.Wrong != model.WrongAddress || !strings.Contains(err.Error(), "nothing answers at http://127.0.0.1") || !strings.Contains(err.Error(), a.Shape) {
			t.Errorf("%q: %v, %+v", body, err, f)
		}
	}
}

func (a Adapter) stray(t *testing.T) {
	for name, value := range a.Environment {
		if !strings.Contains(value, RawStray) {
			t.Fatalf("%s does not hold %q", name, RawStray)
		}
		t.Setenv(name, value)
	}
	s := ServeRaw(t, a.Path, a.Hello)
	if _, _, err := Ask(t.Context(), a.Open(t, s.URL), Request(a.Model)); err != nil {
		t.Fatal(err)
	}
	for name, values := range s.Header(0) {
		if strings.Contains(strings.Join(values, ""), RawStray) {
			t.Errorf("the environment gave %s: %v", name, values)
		}
	}
}

// goesOn: what was sent before is the start of what is sent next, but for the
// brackets that close it and what may differ.
func (a Adapter) goesOn(t *testing.T) {
	s := ServeRaw(t, a.Path, a.Hello, a.Hello, a.Hello)
	m := a.Open(t, s.URL)
	next := a.Whole()
	next.Number++
	next.Messages = append(next.Messages, model.Message{Role: thread.Assistant, Parts: []thread.Part{thread.Text("So.")}}, User("ana: good"))
	next.Marks = a.Next
	for _, r := range []*model.Request{a.Whole(), a.Whole(), next} {
		if _, _, err := Ask(t.Context(), m, r); err != nil {
			t.Fatal(err)
		}
	}
	if s.Body(0) != s.Body(1) {
		t.Errorf("equal requests differ:\n%s\n%s", s.Body(0), s.Body(1))
	}
	unmarked := a.Unmarked
	if unmarked == nil {
		unmarked = func(body string) string { return body }
	}
	before, ok := strings.CutSuffix(unmarked(s.Body(0)), a.Tail)
	if after := unmarked(s.Body(2)); !ok || !strings.HasPrefix(after, before) {
		t.Errorf("the next request\n%s\ndoes not start with\n%s", after, before)
	}
}

func (a Adapter) unsendable(t *testing.T) {
	lost := a.Whole()
	lost.Blob = func(context.Context, string) ([]byte, error) {
		return nil, &thread.Error{Code: thread.NotFound, Message: "there is no such blob"}
	}
	blind := a.Whole()
	blind.Blob = nil
	strange := Request(a.Model, model.Message{Role: thread.User, Parts: []thread.Part{{Type: thread.RawPart}}})
	m := a.Open(t, ServeRaw(t, a.Path).URL)
	for _, c := range []struct {
		code thread.Code
		r    *model.Request
	}{{thread.NotFound, lost}, {thread.Configuration, blind}, {thread.Configuration, strange}, {thread.Configuration, Request("claudine")}} {
		if _, _, err := Ask(t.Context(), m, c.r); thread.CodeOf(err) != c.code {
			t.Errorf("the error is %v, want code %s", err, c.code)
		}
	}
}
