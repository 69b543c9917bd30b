package tui

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skeinhq/skein/thread"
)

// brought is what the pump sent, and when.
type brought struct {
	at  time.Duration
	msg any
}

// pumped plays pieces of an answer that come apart in time.
func pumped(pieces []string, apart time.Duration) (out []brought) {
	p := &pump{more: make(chan struct{}, 1)}
	began := time.Now()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.bring(ctx, 1, func(msg any) { out = append(out, brought{time.Since(began), msg}) })
	}()
	for _, text := range pieces {
		p.take(&thread.Batch{Live: &thread.Live{ID: "a", Author: "north", Type: "text", Text: text}}, nil, "ana")
		time.Sleep(apart)
	}
	time.Sleep(time.Second)
	stop()
	<-done
	return out
}

func TestPiecesComeInFramesAndTheFirstAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pieces := strings.SplitAfter(strings.Repeat("word ", 400), " ")
		got := pumped(pieces, 5*time.Millisecond) // two seconds of 200 tokens each
		if len(got) == 0 || got[0].at != 0 {
			t.Fatalf("the first piece waits: %v", got)
		}
		text := ""
		for i, b := range got {
			if i > 0 && b.at-got[i-1].at < frame {
				t.Errorf("%v and %v are less than a frame apart", got[i-1].at, b.at)
			}
			for _, e := range b.msg.(happened).events {
				text += e.piece.text
			}
		}
		if len(got) > 62 {
			t.Errorf("%d frames in two seconds", len(got))
		}
		if text != strings.Join(pieces, "") {
			t.Errorf("%d bytes of %d arrive", len(text), len(strings.Join(pieces, "")))
		}
	})
}

func TestALostWatchIsReadAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &pump{more: make(chan struct{}, 1)}
		ctx, stop := context.WithCancel(context.Background())
		var got []any
		done := make(chan struct{})
		go func() {
			defer close(done)
			p.bring(ctx, 7, func(msg any) { got = append(got, msg) })
		}()
		p.take(&thread.Batch{}, &thread.Error{Code: thread.Limit, Op: "watch", Message: "behind"}, "ana")
		synctest.Wait()
		stop()
		<-done
		if len(got) != 1 || got[0] != (fellBehind{7}) {
			t.Errorf("it tells %v", got)
		}
	})
}

func TestARetryVoidsWhatCame(t *testing.T) {
	s := play(t, 70, 20).opens(plan()[:1]...)
	s.give(pieces("n", "text", "half an ans"), pieces("n", "retry", "overloaded"), pieces("n", "text", "whole"))
	if text := s.text(); strings.Contains(text, "half") || !strings.Contains(text, "whole") {
		t.Errorf("shown:\n%s", text)
	}
}
