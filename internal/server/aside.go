package server

import (
	"context"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// aside says whether an entry tells of a call or of a turn's failure that belongs to
// messages which the viewer may not see. Where the message of a call cannot be
// found, nobody sees it.
func aside(ctx context.Context, t *skein.Thread, e thread.Entry, viewer string) (bool, error) {
	var call string
	before := e.Seq
	switch {
	case e.Approval != nil:
		call = e.Approval.Call
		if e.Approval.Asked != 0 {
			before = e.Approval.Asked
		}
	case e.Turn != nil && e.Turn.Call != "":
		call = e.Turn.Call
	case e.Turn != nil && e.Turn.Error != nil:
		return privateTurn(ctx, t, e, viewer)
	default:
		return false, nil
	}
	by, err := t.Caller(ctx, call, before)
	if thread.CodeOf(err) == thread.NotFound {
		return true, nil
	}
	return err == nil && !by.Message.VisibleTo(viewer), err
}

// privateTurn says whether the turn that an entry ends has to do with a message that
// the viewer may not see: one of its own, or one that people said just before it.
func privateTurn(ctx context.Context, t *skein.Thread, end thread.Entry, viewer string) (bool, error) {
	q := store.EntriesQuery{Before: end.Seq, Newest: true, Inactive: true, Kinds: []thread.Kind{thread.MessageKind}}
	for e, err := range t.Entries(ctx, q) {
		if err != nil {
			return false, err
		}
		m := e.Message
		if e.Seq < end.Turn.Turn && (m == nil || m.Role != thread.User) {
			return false, nil
		}
		if m != nil && !m.VisibleTo(viewer) {
			return true, nil
		}
	}
	return false, nil
}
