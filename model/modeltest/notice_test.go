package modeltest_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/modeltest"
	"github.com/skeinhq/skein/thread"
)

// spoiled is a model that something is wrong with.
type spoiled struct {
	model.Model
	request func(*model.Request)
	event   func(yield func(model.Event, error) bool, e model.Event) bool
	failure func(error) error
}

func (m spoiled) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Event, error] {
	if m.request != nil {
		copied := *r
		copied.Messages = slices.Clone(r.Messages)
		m.request(&copied)
		r = &copied
	}
	return func(yield func(model.Event, error) bool) {
		for e, err := range m.Model.Stream(ctx, r) {
			switch {
			case err != nil && m.failure != nil:
				err = m.failure(err)
			case err == nil && m.event != nil:
				if !m.event(yield, e) {
					return
				}
				continue
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// spoil changes the event that ends an answer.
func spoil(change func(*model.Event)) spoiled {
	return spoiled{event: func(yield func(model.Event, error) bool, e model.Event) bool {
		if e.Type == model.Done {
			e.Parts = slices.Clone(e.Parts)
			change(&e)
		}
		return yield(e, nil)
	}}
}

// eachPart changes the parts of a type in all of a request's messages.
func eachPart(kind thread.PartType, change func(*thread.Part)) spoiled {
	return spoiled{request: func(r *model.Request) {
		for i := range r.Messages {
			r.Messages[i].Parts = slices.Clone(r.Messages[i].Parts)
			for j := range r.Messages[i].Parts {
				if p := &r.Messages[i].Parts[j]; p.Type == kind {
					change(p)
				}
			}
		}
	}}
}

// wrongs are what the suite must notice.
var wrongs = map[string]spoiled{
	"a piece is lost": {event: func(yield func(model.Event, error) bool, e model.Event) bool {
		return e.Type == model.TextDelta && strings.HasPrefix(e.Text, "two") || yield(e, nil)
	}},
	"it ends twice": {event: func(yield func(model.Event, error) bool, e model.Event) bool {
		return yield(e, nil) && (e.Type != model.Done || yield(e, nil))
	}},
	"it never ends": {event: func(yield func(model.Event, error) bool, e model.Event) bool {
		return e.Type == model.Done || yield(e, nil)
	}},
	"the usage is another":        spoil(func(e *model.Event) { e.Usage.Input++ }),
	"the stop is lost":            spoil(func(e *model.Event) { e.Stop = thread.StopEnd }),
	"the calls change places":     spoil(func(e *model.Event) { slices.Reverse(e.Parts) }),
	"the maker is lost":           spoil(func(e *model.Event) { e.Parts[0].Provider = "" }),
	"a thought loses its proof":   spoil(func(e *model.Event) { e.Parts[0].Signature = "" }),
	"thoughts are not sent back":  {request: func(r *model.Request) { dropThoughts(r) }},
	"a thought is trimmed":        eachPart(thread.ThinkingPart, func(p *thread.Part) { p.Text = strings.TrimSuffix(p.Text, ".") }),
	"calls get other ids":         eachPart(thread.CallPart, func(p *thread.Part) { p.ID += "x" }),
	"no marks go out":             {request: func(r *model.Request) { r.Marks = nil }},
	"no effort goes out":          {request: func(r *model.Request) { r.Thinking = "" }},
	"no limit goes out":           {request: func(r *model.Request) { r.MaxOutput = 5000 }},
	"errors are plain":            {failure: func(err error) error { return errors.New(err.Error()) }},
	"errors have another code":    {failure: func(error) error { return &thread.Error{Code: thread.Storage, Op: "model", Message: "away"} }},
	"errors show no way out":      {failure: func(err error) error { return hintless(err) }},
	"requests are not the same":   {request: func(r *model.Request) { r.System = []string{"You are north.", string('a' + rune(counter()))} }},
	"a request begins at its end": {request: func(r *model.Request) { r.System = []string{r.Messages[len(r.Messages)-1].Parts[0].Text + "?"} }},
}

func dropThoughts(r *model.Request) {
	for i := range r.Messages {
		r.Messages[i].Parts = slices.DeleteFunc(slices.Clone(r.Messages[i].Parts), func(p thread.Part) bool { return p.Type == thread.ThinkingPart })
	}
}

func hintless(err error) error {
	var e *thread.Error
	if errors.As(err, &e) {
		e.Hint = ""
	}
	return err
}

var counted int

func counter() int {
	counted = (counted + 1) % 20
	return counted
}

// wrongEnv names what is wrong with the model that a second process tries.
const wrongEnv = "SKEIN_MODELTEST_WRONG"

// TestSpoiled is what the second process runs.
func TestSpoiled(t *testing.T) {
	m, ok := wrongs[os.Getenv(wrongEnv)]
	if !ok {
		t.Skip("it is run by TestTheSuiteNoticesWhatIsWrong")
	}
	modeltest.Run(t, func(t *testing.T, url string) model.Model {
		m := m
		m.Model = openAnthropic(t, url)
		return m
	}, modeltest.Caps{
		Model: "claude-opus-5-5", Unknown: "claude-nobody", Key: true, Thinking: true, Signed: true, Redacted: true,
		Effort: true, Marks: true, Cached: true, Refusal: true, Images: true, Files: true,
	})
}

func TestTheSuiteNoticesWhatIsWrong(t *testing.T) {
	for name := range wrongs {
		t.Run(name, func(t *testing.T) {
			run := exec.Command(os.Args[0], "-test.run=^TestSpoiled$", "-test.failfast")
			run.Env = append(os.Environ(), wrongEnv+"="+name)
			out, err := run.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || !strings.Contains(string(out), "--- FAIL: TestSpoiled") {
				t.Errorf("the suite passes: %v\n%s", err, out)
			}
		})
	}
}
