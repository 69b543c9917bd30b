package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

// atOnce is how many read-only calls run at the same time.
const atOnce = 4

// The texts of results of calls that are not run.
const (
	passedOver = "This call was not run: somebody said something meanwhile that comes first."
	denied     = "Denied: "
)

// answerCalls answers the open calls of the newest message, in order: neighbours
// that are read-only at once, others alone and marked as started first. Each
// result is committed. At a call that waits for an approval it gives up, with
// the error of [Waiting]. What is said meanwhile for this turn comes before the
// calls that are left.
func (t *Turn) answerCalls(ctx context.Context) error {
	past, err := t.Log.past(ctx)
	if err != nil {
		return err
	}
	var open []call
	for _, c := range openCalls(past.Whole()) {
		if c.entry.Message.Turn == t.begun.Seq {
			open = append(open, c)
		}
	}
	if len(open) == 0 {
		return nil
	}
	calls, err := t.judge(ctx, past, open)
	if err != nil {
		return err
	}
	for first := true; len(calls) > 0; first = false {
		if !first || calls[0].waits {
			over, err := t.passOver(ctx, calls)
			if over || err != nil {
				return err
			}
		}
		if calls[0].waits {
			return t.waiting(ctx)
		}
		group := nextGroup(calls)
		calls = calls[len(group):]
		if err := t.limit(len(group)); err != nil {
			return err
		}
		if err := t.runGroup(ctx, group); err != nil {
			return err
		}
		t.took.calls += len(group)
	}
	return nil
}

// passOver answers the calls that are left as not run, where something was said
// that comes first.
func (t *Turn) passOver(ctx context.Context, left []judged) (over bool, err error) {
	said, err := t.steers(ctx)
	if err != nil || len(said) == 0 {
		return false, err
	}
	var open []call
	for _, c := range left {
		open = append(open, c.call)
	}
	_, err = t.Log.Commit(ctx, t.unrun(open, passedOver))
	return true, err
}

// nextGroup gives the calls that are answered together.
func nextGroup(calls []judged) []judged {
	n := 0
	for n < len(calls) && n < atOnce && !calls[n].waits && !calls[n].changes {
		n++
	}
	return calls[:max(1, n)]
}

// runGroup answers the calls of a group at once and commits their results in the
// order of the calls.
func (t *Turn) runGroup(ctx context.Context, group []judged) error {
	if group[0].changes {
		mark := event(thread.Turn{State: thread.TurnStarted, Turn: t.begun.Seq, Agent: t.Agent.Name, Call: group[0].part.ID})
		if _, err := t.Log.Commit(ctx, []store.New{mark}); err != nil {
			return err
		}
	}
	*t.Seen = Seen{Thread: t.Log.Thread}
	if len(group[0].entry.Message.Audience) > 0 {
		t.Seen.Viewer = t.Agent.Name // what it opens stays among those who may see the answer
	}
	type outcome struct {
		answer tool.Answered
		err    error
	}
	outcomes := make([]chan outcome, len(group))
	for i, c := range group {
		outcomes[i] = make(chan outcome, 1)
		go func() {
			a, err := t.answer(ctx, c)
			outcomes[i] <- outcome{a, err}
		}()
	}
	var failed error
	for i, c := range group {
		o := <-outcomes[i]
		if failed = errors.Join(failed, o.err); failed != nil {
			continue // wait for the others all the same
		}
		failed = t.commitResult(ctx, c.call, o.answer)
	}
	return failed
}

// answer runs one call, or says why it is not run.
func (t *Turn) answer(ctx context.Context, c judged) (tool.Answered, error) {
	if c.refusal != "" {
		t.tell(thread.Event{Type: thread.DeniedEvent, Name: c.part.Name, CallID: c.part.ID, Reason: c.refusal})
		return tool.Answered{Result: thread.Result(c.part.ID, c.part.Name, c.refusal, true)}, nil
	}
	t.tell(thread.Event{Type: thread.ToolEvent, Name: c.part.Name, CallID: c.part.ID, Input: c.part.Input})
	ctx = tool.WithCaller(ctx, tool.Caller{Thread: t.id, Agent: t.Agent.Name, Call: c.part.ID, Notes: t.notes(), Hidden: c.hidden})
	ctx = tool.WithLive(ctx, func(text string) {
		t.tell(thread.Event{Type: thread.OutputEvent, Name: c.part.Name, CallID: c.part.ID, Text: text})
	})
	return tool.Answer(ctx, t.Tools, c.part)
}

// notes are the documents in which the thread's tools keep what they have to know.
// What cannot be read or kept is told, and costs no more than doing something again.
func (t *Turn) notes() tool.Notes {
	st, key := t.Log.Store, t.Seen.Thread.Key
	told := func(err error) {
		if err != nil {
			t.tell(thread.Event{Type: thread.WarningEvent, Reason: "the notes of a tool: " + err.Error()})
		}
	}
	return tool.Notes{
		Read: func(ctx context.Context, name string) json.RawMessage {
			data, _, err := st.Doc(ctx, key, thread.ToolDoc+name)
			told(err)
			return data
		},
		Keep: func(ctx context.Context, name string, data json.RawMessage) {
			told(st.PutDocs(context.WithoutCancel(ctx), key, []thread.Doc{{Name: thread.ToolDoc + name, Data: data}}))
		},
	}
}

// commitResult keeps the files of a result as blobs and commits it with them.
func (t *Turn) commitResult(ctx context.Context, c call, a tool.Answered) error {
	for _, f := range a.Files {
		hash, err := t.Log.Store.PutBlob(ctx, t.Log.Thread.Key, f.MediaType, f.Data)
		if thread.CodeOf(err) == thread.Limit {
			a.Result.Parts = append(a.Result.Parts, thread.Text(fmt.Sprintf("[%s was too large to keep: %d bytes]", f.Name, len(f.Data))))
			continue
		}
		if err != nil {
			return err
		}
		a.Result.Parts = append(a.Result.Parts, thread.Part{Type: thread.BlobPart, Name: f.Name, Hash: hash, MediaType: f.MediaType, Size: int64(len(f.Data))})
	}
	_, err := t.Log.Commit(ctx, []store.New{c.answered(t.begun.Seq, a.Result)})
	return err
}
