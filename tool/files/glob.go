package files

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// maxGlob is the most bytes of a glob, and maxBranches into how many its braces
// may unfold.
const (
	maxGlob     = 1000
	maxBranches = 64
)

// glob matches paths from the folder that is looked at. A pattern without a slash
// is for the last part of a path, wherever it is. In others each part is for one
// part, and ** for any number of them, none included. {a,b} is either.
type glob [][]string // of each branch, its parts

// parseGlob reads a pattern; an empty one matches everything.
func parseGlob(pattern string) (glob, error) {
	if pattern == "" {
		return nil, nil
	}
	if len(pattern) > maxGlob {
		return nil, fmt.Errorf("the glob has %d bytes; at most %d are possible", len(pattern), maxGlob)
	}
	branches, err := unfold(pattern)
	if err != nil {
		return nil, fmt.Errorf("the glob %q cannot be read: %w", pattern, err)
	}
	var g glob
	for _, b := range branches {
		parts := strings.Split(strings.TrimPrefix(b, "./"), "/")
		if len(parts) == 1 {
			parts = []string{"**", b}
		}
		for _, part := range parts {
			if _, err := path.Match(part, ""); err != nil {
				return nil, fmt.Errorf("the glob %q cannot be read: *, ?, [a-z], {a,b} and ** have a meaning; \\ takes it from them", pattern)
			}
		}
		g = append(g, parts)
	}
	return g, nil
}

// unfold writes out the braces of a pattern, inner ones too.
func unfold(pattern string) ([]string, error) {
	done, open := []string(nil), []string{pattern}
	for len(open) > 0 {
		p := open[len(open)-1]
		open = open[:len(open)-1]
		start, end, commas := braces(p)
		switch {
		case start < 0:
			done = append(done, p)
			continue
		case end < 0:
			return nil, errors.New("a { is not closed")
		}
		from := start + 1
		var inside []string
		for _, comma := range append(commas, end) {
			inside = append(inside, p[:start]+p[from:comma]+p[end+1:])
			from = comma + 1
		}
		if open = append(open, inside...); len(open)+len(done) > maxBranches {
			return nil, fmt.Errorf("its braces stand for more than %d patterns", maxBranches)
		}
	}
	return done, nil
}

// braces finds the first pair of braces and the commas right in it; start is −1
// where there is none, end where it is not closed.
func braces(p string) (start, end int, commas []int) {
	start, depth := -1, 0
	for i := 0; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '{':
			if depth++; start < 0 {
				start = i
			}
		case ',':
			if depth == 1 {
				commas = append(commas, i)
			}
		case '}':
			if depth == 0 {
				continue
			}
			if depth--; depth == 0 {
				return start, i, commas
			}
		}
	}
	return start, -1, nil
}

func (g glob) match(p string) bool {
	if g == nil {
		return true
	}
	parts := strings.Split(p, "/")
	for _, branch := range g {
		if matchParts(branch, parts) {
			return true
		}
	}
	return false
}

// matchParts goes through the pattern's parts with the set of places in the path
// at which each may begin, so that many ** cost no more than few.
func matchParts(pattern, parts []string) bool {
	at := make([]bool, len(parts)+1)
	at[0] = true
	for _, want := range pattern {
		next := make([]bool, len(parts)+1)
		for i, may := range at {
			if want == "**" {
				next[i] = may || i > 0 && next[i-1]
				continue
			}
			if may && i < len(parts) {
				ok, _ := path.Match(want, parts[i]) // the pattern was checked
				next[i+1] = ok
			}
		}
		at = next
	}
	return at[len(parts)]
}
