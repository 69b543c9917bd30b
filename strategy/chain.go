package strategy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/skeinhq/skein/thread"
)

// The names of the strategies that come with Skein.
const (
	OutlineName   = "outline"
	SummarizeName = "summarize"
	TruncateName  = "truncate"
	SlidingName   = "sliding"
)

// Chain is the strategies of a thread, each of which gets what the one before it
// left. An empty one is the outline alone.
type Chain []Strategy

// Outline is the strategy of every thread that has no other: lines stand for
// what is no longer sent whole. It gets no list of messages.
func Outline() Strategy { return Strategy{Name: OutlineName} }

// known are the strategies by their names, with their defaults.
func known() []Strategy {
	return []Strategy{
		Outline(),
		SummarizeHistory(Summarize{}),
		TruncateToolResults(Truncate{}),
		SlidingWindow(Sliding{}),
	}
}

// Parse reads the names of a chain, separated by commas: "truncate, summarize".
// Strategies of one's own are known by their names and go before Skein's of the
// same name, so that those can be given options. It fails with configuration
// where a name is unknown or the chain does not hold (see [Chain.Check]).
func Parse(names string, own ...Strategy) (Chain, error) {
	var chain Chain
	if strings.TrimSpace(names) == "" {
		return chain, nil
	}
	candidates := slices.Concat(own, known())
	for name := range strings.SplitSeq(names, ",") {
		s, err := find(strings.TrimSpace(name), candidates)
		if err != nil {
			return nil, err
		}
		chain = append(chain, s)
	}
	return chain, chain.Check()
}

func find(name string, candidates []Strategy) (Strategy, error) {
	var names []string
	seen := map[string]bool{}
	for _, s := range candidates {
		if s.Name == name {
			return s, nil
		}
		if !seen[s.Name] {
			names = append(names, s.Name)
		}
		seen[s.Name] = true
	}
	hint := "known: " + strings.Join(names, ", ")
	if near := nearest(name, names); near != "" {
		hint = "did you mean " + near + "? " + hint
	}
	return Strategy{}, &thread.Error{Code: thread.Configuration, Op: "strategy", Message: fmt.Sprintf("there is no strategy named %q", name), Hint: hint}
}

// usable are names that can stand in a list and in a log.
var usable = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// Check fails with configuration where the chain cannot work: names must be
// unique and of letters, digits, _ and -; the outline stands last, and before it
// only truncation, since whatever else leaves would be under no line.
func (c Chain) Check() error {
	seen := map[string]bool{}
	for i, s := range c {
		var what, hint string
		switch {
		case !usable.MatchString(s.Name):
			what, hint = fmt.Sprintf("%q is no name for a strategy", s.Name), "use up to 64 letters, digits, _ and -, a letter first"
		case seen[s.Name]:
			what, hint = fmt.Sprintf("the strategy %s stands twice in %s", s.Name, c), "name it once"
		case s.Compact == nil && s.Name != OutlineName:
			what, hint = fmt.Sprintf("the strategy %s has no function", s.Name), "set Compact"
		case s.Compact != nil && s.Name == OutlineName:
			what, hint = "a strategy of one's own cannot be named outline", "give it another name"
		case s.Compact == nil && i < len(c)-1:
			what, hint = fmt.Sprintf("the outline is not the last strategy of %s", c), "it cuts by itself: let it stand last"
		case c.Outlined() && i < len(c)-1 && !s.edits:
			what, hint = fmt.Sprintf("the strategy %s stands before the outline", s.Name), "only "+TruncateName+" may: lines must stand for all that leaves"
		}
		if what != "" {
			return &thread.Error{Code: thread.Configuration, Op: "strategy", Message: what, Hint: hint}
		}
		seen[s.Name] = true
	}
	return nil
}

// String names the strategies, joined by commas; "outline" where there are none.
func (c Chain) String() string {
	if len(c) == 0 {
		return OutlineName
	}
	names := make([]string, len(c))
	for i, s := range c {
		names[i] = s.Name
	}
	return strings.Join(names, ",")
}

// Outlined says whether the outline stands for what leaves: the chain is empty
// or ends in it.
func (c Chain) Outlined() bool {
	return len(c) == 0 || c[len(c)-1].Compact == nil
}

// nearest gives the name that is at most two edits away, or that typed is the
// start of; the first of the nearest.
func nearest(typed string, names []string) string {
	best, at := "", 3
	for _, n := range names {
		d := edits(strings.ToLower(typed), strings.ToLower(n))
		if len(typed) > 1 && strings.HasPrefix(n, typed) {
			d = 1
		}
		if d < at {
			best, at = n, d
		}
	}
	return best
}

// edits is the Levenshtein distance, in bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		corner := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := corner
			if a[i-1] != b[j-1] {
				change++
			}
			corner = row[j]
			row[j] = min(change, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
