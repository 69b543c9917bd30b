package server

import (
	"slices"
	"testing"
)

// Routes gives the table to the black-box tests.
func Routes() (out []struct{ ID, Method, Path, Scope string }) {
	for _, r := range routes {
		out = append(out, struct{ ID, Method, Path, Scope string }{r.id, r.method, r.path, string(r.scope)})
	}
	return out
}

// Defaults gives the limits that are in force where nothing is said, and those that
// nobody can change.
func Defaults() (l Limits, talk, replies, queued int) {
	l.fill()
	return l, mostTalk, mostReplies, mostQueued
}

func TestTheTableHasEachPathOnce(t *testing.T) {
	var ids, patterns []string
	for _, r := range routes {
		ids, patterns = append(ids, r.id), append(patterns, r.pattern())
		if writes(r.method) && (r.scope == read || r.scope == public && r.tag != "access") {
			t.Errorf("%s changes something, and its scope is %q", r.pattern(), r.scope)
		}
		if r.summary == "" || r.tag == "" {
			t.Errorf("%s says too little", r.pattern())
		}
	}
	for _, all := range [][]string{ids, patterns} {
		slices.Sort(all)
		if d := slices.Compact(slices.Clone(all)); len(d) != len(all) {
			t.Errorf("something stands twice in %q", all)
		}
	}
}
