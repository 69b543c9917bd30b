package storetest

import (
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skeinhq/skein/store"
	"github.com/skeinhq/skein/thread"
)

// token makes a token whose secret is as good as the digit it is made of.
func (s *suite) token(id, name, digit string) store.Token {
	return store.Token{
		ID: id, Space: "lab", Name: name, Hash: strings.Repeat(digit, 64),
		Scopes: []string{"read", "write"}, Created: store.Stamp(s.clock.Now()),
	}
}

func (s *suite) put(t store.Token) store.Token {
	s.Helper()
	s.must(s.PutToken(s.ctx, t))
	return t
}

func (s *suite) tokens(space string) []store.Token {
	s.Helper()
	all, err := s.Tokens(s.ctx, space)
	s.must(err)
	return all
}

var tokens = []test{
	{"ATokenIsFoundByItsHash", func(s *suite) {
		a := s.token("1", "ana", "a")
		a.Threads = []string{"x", "y"}
		s.put(a)
		b := s.put(s.token("2", "bo", "b"))
		for _, want := range []store.Token{a, b} {
			got, err := s.Token(s.ctx, "lab", want.Hash)
			s.must(err)
			if d := cmp.Diff(want, got); d != "" {
				s.Fatal(d)
			}
		}
		if d := cmp.Diff([]store.Token{a, b}, s.tokens("lab")); d != "" {
			s.Fatal(d)
		}
		if n := len(s.tokens("other")); n != 0 {
			s.Fatalf("another space has %d tokens", n)
		}
		for _, where := range [][2]string{{"other", a.Hash}, {"lab", strings.Repeat("c", 64)}, {"lab", ""}} {
			_, err := s.Token(s.ctx, where[0], where[1])
			s.refused(err, thread.NotFound)
		}
	}},
	{"ALiveTokensNameIsItsOwn", func(s *suite) {
		s.put(s.token("1", "ana", "a"))
		for _, t := range []store.Token{s.token("2", "ana", "b"), s.token("1", "bo", "b"), s.token("2", "bo", "a")} {
			s.refused(s.PutToken(s.ctx, t), thread.Conflict)
		}
		elsewhere := s.token("1", "ana", "a")
		elsewhere.Space = "other"
		s.put(elsewhere)
		s.must(s.RevokeToken(s.ctx, "lab", "1"))
		s.put(s.token("2", "ana", "b"))
		s.refused(s.PutToken(s.ctx, s.token("3", "ana", "c")), thread.Conflict)
	}},
	{"ARevokedTokenStaysRevoked", func(s *suite) {
		a := s.put(s.token("1", "ana", "a"))
		s.clock.Add(time.Hour)
		s.must(s.RevokeToken(s.ctx, "lab", "1"))
		when := store.Stamp(s.clock.Now())
		s.clock.Add(time.Hour)
		s.must(s.RevokeToken(s.ctx, "lab", "1"))
		got, err := s.Token(s.ctx, "lab", a.Hash)
		s.must(err)
		if got.Live() || !got.Revoked.Equal(when) {
			s.Fatalf("revoked at %v, want %v", got.Revoked, when)
		}
		s.refused(s.RevokeToken(s.ctx, "lab", "2"), thread.NotFound)
		s.refused(s.RevokeToken(s.ctx, "other", "1"), thread.NotFound)
	}},
	{"TheUseOfATokenIsNoted", func(s *suite) {
		a := s.put(s.token("1", "ana", "a"))
		s.clock.Add(time.Minute)
		s.must(s.UseToken(s.ctx, "lab", "1"))
		got, err := s.Token(s.ctx, "lab", a.Hash)
		s.must(err)
		if want := store.Stamp(s.clock.Now()); !got.Used.Equal(want) || !got.Created.Equal(a.Created) {
			s.Fatalf("used at %v, want %v", got.Used, want)
		}
		s.refused(s.UseToken(s.ctx, "lab", "2"), thread.NotFound)
	}},
	{"WhatIsNoTokenIsRefused", func(s *suite) {
		for _, t := range []store.Token{s.token("", "ana", "a"), s.token("1", "", "a"), s.token("1", "ana", "A"), s.token("1", "ana", "")} {
			s.refused(s.PutToken(s.ctx, t), thread.Invalid)
		}
	}},
}
