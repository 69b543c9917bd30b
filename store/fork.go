package store

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/skeinhq/skein/thread"
)

// Create makes an empty thread.
func Create(tx Tx, n NewThread, epoch string, now time.Time) (*Head, error) {
	if n.Root == "" {
		n.Root = n.ID
	}
	if err := free(tx, "create", n.Space, n.ID); err != nil {
		return nil, err
	}
	if err := CheckDocs("create", n.Key, n.Docs); err != nil {
		return nil, err
	}
	at := Stamp(now)
	h := &Head{Thread: thread.Thread{
		Key: n.Key, Title: n.Title, Meta: n.Meta, Created: at, Updated: at, Epoch: epoch,
		Segments: []thread.Segment{{Origin: n.ID}},
		Lineage:  []thread.Origin{{Thread: n.ID}},
	}}
	if err := tx.Insert(h); err != nil {
		return nil, err
	}
	for _, d := range n.Docs {
		if err := tx.PutDoc(h, d); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// free refuses an id that is malformed or taken.
func free(tx Tx, op, space, id string) error {
	if id == "" || len(id) > 256 || !utf8.ValidString(id) || strings.ContainsRune(id, 0) {
		return fail(thread.Invalid, op, id, "", "a thread's id must be 1 to 256 bytes of text")
	}
	h, err := tx.Head(space, id)
	if err != nil || h == nil {
		return err
	}
	hint := "choose another id"
	if !h.Deleted.IsZero() && !h.Gone {
		hint = "it is deleted: undelete it, or choose another id"
	}
	return fail(thread.Conflict, op, id, hint, "there is a thread %q already", id)
}

// Fork makes a thread of h's active past up to the message at index, which must
// be the one that t, a state of h as of some moment, has there.
func Fork(tx Tx, h *Head, t *thread.Thread, index int64, id, title, epoch string, now time.Time) (*Head, error) {
	if err := visible("fork", h); err != nil {
		return nil, err
	}
	if index < 0 || index >= t.Length {
		return nil, fail(thread.NotFound, "fork", h.ID, "", "there is no active message %d to fork at", index)
	}
	if err := free(tx, "fork", h.Space, id); err != nil {
		return nil, err
	}
	if seg, _ := t.SegmentAt(index); !h.Active(seg.Origin, seg.Branch, index) {
		return nil, conflict("fork", h, "read the thread again", "message %d was undone", index)
	}
	at, _, err := place(tx, h, thread.Span{ID: index, N: 1})
	if err != nil {
		return nil, err
	}
	f, err := branchOff(tx, h, at, id, title, epoch, now)
	if err != nil {
		return nil, err
	}
	return f, copySettings(tx, h, f)
}

func branchOff(tx Tx, h *Head, at Place, id, title, epoch string, now time.Time) (*Head, error) {
	seq := at.Seq
	cut, err := cutAsOf(tx, h, seq)
	if err != nil {
		return nil, err
	}
	when := Stamp(now)
	f := &Head{Thread: thread.Thread{
		Key: thread.Key{Space: h.Space, Root: h.Root, ID: id}, Title: title, Meta: h.Meta,
		Created: when, Updated: when, Epoch: epoch,
		Tip: seq, Fixed: seq, Last: seq, Length: at.Index + 1,
		Segments: h.Rewound(at.Index+1, id, 0),
		Lineage:  h.LineageUpto(seq, id),
		Cut:      cut, Indexed: seq,
	}}
	origins, err := lineage(tx, f)
	if err == nil {
		err = f.inherit(tx, origins)
	}
	if err != nil {
		return nil, err
	}
	return f, tx.Insert(f)
}

// inherit takes over what the origins hold of cuts and lines that are due, and
// tells them that they are seen.
func (f *Head) inherit(tx Tx, origins []origin) error {
	for _, o := range origins[:len(origins)-1] {
		if o.head.Shared < o.upto {
			o.head.Shared = o.upto
			tx.Touch(o.head)
		}
		last, err := tx.LastCut(o.head, o.upto)
		if err != nil {
			return err
		}
		if last != nil && last.Cut != nil && last.Seq > o.after {
			f.Cuts = last.Cut.Number
		}
		dues, err := tx.Dues(o.head, o.after, o.upto)
		if err != nil {
			return err
		}
		for _, d := range dues {
			if f.sees(d) {
				f.Backlog++
			}
		}
	}
	return nil
}

func copySettings(tx Tx, from, to *Head) error {
	data, err := tx.Doc(from, thread.SettingsDoc)
	if err != nil || data == nil {
		return err
	}
	return tx.PutDoc(to, thread.Doc{Name: thread.SettingsDoc, Data: data})
}

// Delete hides a thread, Undelete shows it again. Both may be repeated.
func Delete(tx Tx, h *Head, now time.Time) error {
	if h.Gone {
		return NoThread("delete", h.ID)
	}
	if h.Deleted.IsZero() {
		h.Deleted = Stamp(now)
		tx.Touch(h)
	}
	return nil
}

// mostMeta is the most bytes that a thread's metadata may have.
const mostMeta = 64 << 10

// SetMeta puts other metadata in the place of h's own.
func SetMeta(tx Tx, h *Head, meta json.RawMessage) error {
	if err := visible("meta", h); err != nil {
		return err
	}
	if len(meta) > mostMeta || len(meta) > 0 && !json.Valid(meta) {
		return fail(thread.Invalid, "meta", h.ID, "", "a thread's metadata is JSON of at most %d bytes", mostMeta)
	}
	h.Meta = slices.Clone(meta)
	tx.Touch(h)
	return nil
}

// Undelete shows a hidden thread again.
func Undelete(tx Tx, h *Head) error {
	if h.Gone {
		return NoThread("undelete", h.ID)
	}
	if !h.Deleted.IsZero() {
		h.Deleted = time.Time{}
		tx.Touch(h)
	}
	return nil
}

// Bury makes a hidden thread gone for good: nobody sees it any more, and what
// only it had due is dropped. Its entries are removed by [Sweep].
func Bury(tx Tx, h *Head) error {
	h.Gone = true
	tx.Touch(h)
	return forget(tx, h, &h.Thread)
}

// Sweep removes at most limit entries of a family that no thread reaches any
// more, and says whether more are left.
func Sweep(tx Tx, space, root string, limit int) (more bool, err error) {
	family, err := tx.Family(space, root)
	if err != nil {
		return false, err
	}
	reach := map[string]int64{}
	left := len(family)
	for _, h := range family {
		if h.Gone {
			continue
		}
		for _, o := range h.Lineage[:len(h.Lineage)-1] {
			reach[o.Thread] = max(reach[o.Thread], o.Upto)
		}
	}
	for _, h := range family {
		if !h.Gone {
			continue
		}
		upto, seen := reach[h.ID]
		if h.Shared != upto {
			h.Shared = upto
			tx.Touch(h)
		}
		if first := h.FirstOwn(); upto < first {
			upto = first
		}
		if h.Tip > upto {
			if h.Tip, err = tx.Trim(h, upto, limit); err != nil {
				return false, err
			}
			tx.Touch(h)
			return true, nil
		}
		if !seen {
			left--
			if err := tx.Remove(h, left == 0); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}

// FirstOwn is the seq before the first entry that the thread holds itself.
func (f *Head) FirstOwn() int64 {
	if n := len(f.Lineage); n > 1 {
		return f.Lineage[n-2].Upto
	}
	return 0
}
