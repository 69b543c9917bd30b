package model

import (
	"context"
	"errors"
	"iter"
	"net/url"
	"slices"
	"strings"

	"github.com/skeinhq/skein/thread"
)

const (
	// maxTold is the most characters of what a provider told.
	maxTold = 1000

	// leastSecret is the fewest bytes of a secret: what is shorter stands in words
	// by chance.
	leastSecret = 6
)

// Secrets are the texts that no error may show.
type Secrets []string

// SecretsOf gathers the secrets of a provider: its key, and the values of the
// headers that are sent with each request. A key that is the provider's own name
// is none.
func SecretsOf(provider, key string, headers map[string][]string) Secrets {
	texts := []string{key}
	for _, values := range headers {
		for _, v := range values {
			texts = append(texts, v)
			if _, bare, ok := strings.Cut(v, " "); ok { // as Bearer
				texts = append(texts, bare)
			}
		}
	}
	var s Secrets
	for _, t := range texts {
		if t = strings.TrimSpace(t); len(t) < leastSecret || strings.Contains(provider, t) {
			continue
		}
		s = append(s, t, url.QueryEscape(t), url.PathEscape(t))
	}
	// A secret may begin another: the longer goes first.
	slices.SortFunc(s, func(x, y string) int { return len(y) - len(x) })
	return slices.Compact(s)
}

// Guard asks through stream, hides the secrets in its errors, and ends an answer
// whose text grows too large.
func (s Secrets) Guard(ctx context.Context, provider string, stream iter.Seq2[Event, error]) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		size := 0
		for e, err := range stream {
			if size += len(e.Text); err == nil && size > MaxText {
				yield(Event{}, BrokenOff(ctx, provider, ErrTooMuch))
				return
			}
			if !yield(e, s.Hide(err)) {
				return
			}
		}
	}
}

// Hide gives an error of a provider without the secrets, and no longer than is
// fit to be shown.
func (s Secrets) Hide(err error) error {
	var e *thread.Error
	if !errors.As(err, &e) {
		return err
	}
	out := *e
	out.Message, out.Hint = s.clean(e.Message), s.clean(e.Hint)
	if f, ok := e.Details.(Failure); ok {
		f.Type, f.Request = s.clean(f.Type), s.clean(f.Request)
		out.Details = f
	}
	if e.Err != nil {
		if text := e.Err.Error(); s.clean(text) != text {
			out.Err = &told{s.clean(text), func(target error) bool { return errors.Is(e.Err, target) }}
		}
	}
	return &out
}

// clean replaces the secrets before it cuts: half a secret is one too.
func (s Secrets) clean(text string) string {
	for _, secret := range s {
		text = strings.ReplaceAll(text, secret, "…")
	}
	if len(text) <= maxTold {
		return text
	}
	if r := []rune(text); len(r) > maxTold {
		return string(r[:maxTold-1]) + "…"
	}
	return text
}

// told is a cause of which only the text is left.
type told struct {
	text string
	is   func(error) bool
}

func (t *told) Error() string        { return t.text }
func (t *told) Is(target error) bool { return t.is(target) }
