package model_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// try is what a model does when it is asked once: it says something, waits, and
// fails or ends.
type try struct {
	say   string
	pause time.Duration
	beats int // pulses, one after each pause, before it goes on
	err   error
}

// tries is a model that does one after the other, and when it was asked.
type tries struct {
	all   []try
	asked []time.Time
}

func (m *tries) Stream(ctx context.Context, _ *model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		m.asked = append(m.asked, time.Now())
		t := m.all[0]
		m.all = m.all[1:]
		if t.say != "" && !yield(model.Event{Type: model.TextDelta, Text: t.say}, nil) {
			return
		}
		for range t.beats + 1 {
			if err := model.Wait(ctx, t.pause); err != nil {
				yield(model.Event{}, err)
				return
			}
			model.Pulse(ctx)
		}
		if t.err != nil {
			yield(model.Event{}, t.err)
			return
		}
		yield(model.Event{Type: model.Done, Parts: []thread.Part{thread.Text(t.say)}, Stop: thread.StopEnd}, nil)
	}
}

func failed(status int, after time.Duration) error {
	return model.Refused("acme", "loom", model.Failure{Status: status, After: after}, "no")
}

// told is what came of asking: the events' types with the texts of what was
// said, and the error.
func told(ctx context.Context, m model.Model) (string, error) {
	var out []string
	for e, err := range m.Stream(ctx, &model.Request{}) {
		if err != nil {
			return strings.Join(out, " "), err
		}
		text := string(e.Type)
		if e.Type == model.TextDelta {
			text += ":" + e.Text
		}
		out = append(out, text)
	}
	return strings.Join(out, " "), nil
}

func TestWhatMayPassIsTriedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		tries []try
		want  string
		code  thread.Code
		left  int // tries that were not needed
	}{
		"at once":                {[]try{{say: "hello"}}, "text:hello done", "", 0},
		"overloaded":             {[]try{{err: failed(529, 0)}, {say: "hello"}}, "retry text:hello done", "", 0},
		"a partial is void":      {[]try{{say: "he", err: model.BrokenOff(context.Background(), "acme", io.ErrUnexpectedEOF)}, {say: "hello"}}, "text:he retry text:hello done", "", 0},
		"several":                {[]try{{err: failed(500, 0)}, {err: failed(429, 0)}, {err: failed(503, 0)}, {err: failed(408, 0)}, {say: "hello"}}, "retry retry retry retry text:hello done", "", 0},
		"too many":               {[]try{{err: failed(500, 0)}, {err: failed(500, 0)}, {err: failed(500, 0)}, {err: failed(500, 0)}, {err: failed(500, 0)}, {say: "hello"}}, "retry retry retry retry", thread.Provider, 1},
		"a wrong key":            {[]try{{err: failed(401, 0)}, {say: "hello"}}, "", thread.Configuration, 1},
		"no money":               {[]try{{err: failed(402, 0)}, {say: "hello"}}, "", thread.Quota, 1},
		"a bad request":          {[]try{{err: failed(400, 0)}, {say: "hello"}}, "", thread.Provider, 1},
		"too large":              {[]try{{err: failed(413, 0)}, {say: "hello"}}, "", thread.Limit, 1},
		"an error of no kind":    {[]try{{err: errors.New("odd")}, {say: "hello"}}, "", "", 1},
		"longer than is waited":  {[]try{{err: failed(429, 3*time.Minute)}, {say: "hello"}}, "", thread.Quota, 1},
		"longer, all together":   {[]try{{err: failed(429, 90*time.Second)}, {err: failed(429, 90*time.Second)}, {say: "hello"}}, "retry", thread.Quota, 1},
		"silent before a word":   {[]try{{pause: time.Hour}, {say: "hello"}}, "retry text:hello done", "", 0},
		"silent after a word":    {[]try{{say: "he", pause: time.Hour}, {say: "hello"}}, "text:he retry text:hello done", "", 0},
		"silent at every try":    {[]try{{pause: time.Hour}, {pause: time.Hour}, {pause: time.Hour}, {pause: time.Hour}, {pause: time.Hour}}, "retry retry retry retry", thread.Timeout, 0},
		"slow, but there":        {[]try{{say: "hello", pause: 4 * time.Minute, beats: 6}}, "text:hello done", "", 0},
		"slow to say the first":  {[]try{{pause: 119 * time.Second}}, "done", "", 0},
		"too slow for the first": {[]try{{pause: 121 * time.Second}, {say: "hello"}}, "retry text:hello done", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &tries{all: c.tries}
				got, err := told(t.Context(), model.Patient(m, model.Policy{}))
				if got != c.want || thread.CodeOf(err) != c.code || len(m.all) != c.left {
					t.Errorf("got %q, %v, %d tries left;\nwant %q, code %q, %d", got, err, len(m.all), c.want, c.code, c.left)
				}
				if _, wrong := err.(*thread.Error); err != nil && !wrong && name != "an error of no kind" {
					t.Errorf("the error is %T", err)
				}
			})
		})
	}
}

func TestTheProvidersWaitIsWaitedExactly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &tries{all: []try{{err: failed(429, 7*time.Second)}, {err: failed(529, 0)}, {err: failed(529, 0)}, {say: "hello"}}}
		if _, err := told(t.Context(), model.Patient(m, model.Policy{})); err != nil {
			t.Fatal(err)
		}
		if got := m.asked[1].Sub(m.asked[0]); got != 7*time.Second {
			t.Errorf("it waited %s, want 7s", got)
		}
		for i := 2; i < 4; i++ {
			if got := m.asked[i].Sub(m.asked[i-1]); got < 250*time.Millisecond || got > 10*time.Second {
				t.Errorf("before try %d it waited %s, which is no small pause", i+1, got)
			}
		}
	})
}

func TestARetrySaysWhyAndWhen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := model.Patient(&tries{all: []try{{err: failed(529, 3*time.Second)}, {say: "hello"}}}, model.Policy{})
		for e, err := range m.Stream(t.Context(), &model.Request{}) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Type == model.Retry && e.Text != "acme is overloaded; again in 3s" {
				t.Errorf("it says %q", e.Text)
			}
		}
	})
}

func TestStoppingEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := told(ctx, model.Patient(&tries{all: []try{{err: failed(529, time.Minute)}}}, model.Policy{}))
		if thread.CodeOf(err) != thread.Aborted || time.Since(began) != time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}

func TestStoppingIsNotTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		m := &tries{all: []try{{say: "he", pause: time.Minute}, {say: "hello"}}}
		if got, err := told(ctx, model.Patient(m, model.Policy{})); thread.CodeOf(err) != thread.Aborted || got != "text:he" || len(m.all) != 1 {
			t.Errorf("%q, %v, %d left", got, err, len(m.all))
		}
	})
}

func TestLeavingTheLoopEndsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &tries{all: []try{{say: "he", err: failed(529, 0)}, {say: "hello"}}}
		for range model.Patient(m, model.Policy{}).Stream(t.Context(), &model.Request{}) {
			break
		}
		if len(m.all) != 1 {
			t.Errorf("%d tries are left, want 1", len(m.all))
		}
	})
}

func TestAPolicysFieldsCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &tries{all: []try{{pause: time.Hour}, {say: "he", pause: time.Hour}, {say: "hello"}}}
		p := model.Policy{Tries: 2, First: time.Second, Idle: 2 * time.Second, Pause: time.Second}
		began := time.Now()
		_, err := told(t.Context(), model.Patient(m, p))
		if took := time.Since(began); thread.CodeOf(err) != thread.Timeout || took < 3500*time.Millisecond || took > 4500*time.Millisecond {
			t.Errorf("after %s: %v", took, err)
		}
	})
}

func TestAnAnswerThatNeverEndsIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		endless := try{say: "he", pause: time.Minute, beats: 1_000}
		m := &tries{all: []try{endless, endless}}
		began := time.Now()
		_, err := told(t.Context(), model.Patient(m, model.Policy{Tries: 2}))
		if took := time.Since(began); thread.CodeOf(err) != thread.Timeout || took < time.Hour || took > time.Hour+time.Minute {
			t.Errorf("after %s: %v", took, err)
		}
	})
}

func TestALongWaitIsToldAndNotWaitedFor(t *testing.T) {
	m := &tries{all: []try{{err: failed(429, model.After("", "1e30", time.Time{}))}}}
	_, err := told(t.Context(), model.Patient(m, model.Policy{}))
	if err == nil || len(m.asked) != 1 || !strings.Contains(err.Error(), "a day or later") {
		t.Errorf("%d tries: %v", len(m.asked), err)
	}
}

func TestTheWaitThatIsAskedForIsRead(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		ms, s string
		want  time.Duration
	}{
		{"", "", 0}, {"", "7", 7 * time.Second}, {"1500", "7", 1500 * time.Millisecond}, {"", "0.5", 500 * time.Millisecond},
		{"", "soon", 0}, {"", "-3", 0}, {"", "Mon, 30 Nov 2026 12:01:00 GMT", time.Minute}, {"", "Mon, 30 Nov 2026 11:00:00 GMT", 0},
		{"", "1e30", 24 * time.Hour}, {"", "Inf", 24 * time.Hour}, {"", "-Inf", 0}, {"", "NaN", 0}, {"", "1e400", 24 * time.Hour}, {"", "-1e400", 0},
		{"1e300", "", 24 * time.Hour}, {"", "99999999999999999999", 24 * time.Hour}, {"", "9223372036.9", 24 * time.Hour}, {"", "0x1p200", 24 * time.Hour},
		{"-1e30", "7", 7 * time.Second}, {"", "Fri, 31 Dec 9999 23:59:59 GMT", 24 * time.Hour}, {"", "86399", 86399 * time.Second},
	} {
		if got := model.After(c.ms, c.s, now); got != c.want {
			t.Errorf("After(%q, %q) is %s, want %s", c.ms, c.s, got, c.want)
		}
	}
}

func TestAnErrorNamesTheProviderAndTheWayOut(t *testing.T) {
	for _, c := range []struct {
		f       model.Failure
		message string
		want    string
	}{
		{model.Failure{Status: 401}, "bad\nkey", "acme refused the key: bad key (set another key)"},
		{model.Failure{Status: 404}, "", "acme does not know the model loom (choose another model)"},
		{model.Failure{Status: 429, After: 90 * time.Second}, "", "acme is asked too often (try again in 1m30s)"},
		{model.Failure{Status: 418}, "short and stout", "acme did not take the request: short and stout"},
		{model.Failure{Type: "overloaded_error"}, "", "acme is overloaded (try again in a while)"},
	} {
		if got := model.Refused("acme", "loom", c.f, c.message).Error(); got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

func TestFailuresAreFoundThroughOthers(t *testing.T) {
	err := fmt.Errorf("outside: %w", failed(413, 0))
	if !model.Overflows(err) || model.Overflows(failed(500, 0)) || model.Overflows(errors.New("odd")) || model.Overflows(nil) {
		t.Error("what is too large is not told from the rest")
	}
}
