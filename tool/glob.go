package tool

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// MaxGlob is the most bytes of a glob.
const MaxGlob = 1000

// dialect says what the wildcards of a glob match: anything but the characters
// of without. With segments, ** between slashes matches any number of segments.
type dialect struct {
	without  string
	segments bool
}

var (
	namesDialect    = dialect{}
	pathsDialect    = dialect{without: "/", segments: true}
	commandsDialect = dialect{}

	// A wildcard of an allow rule never stands for what makes one command line
	// two: that must be in the glob itself.
	allowedCommandsDialect = dialect{without: shellMarks}
)

// compile turns a glob into the expression that matches the same texts, as a
// whole. Its error completes "the glob … ".
func (d dialect) compile(glob string) (*regexp.Regexp, error) {
	switch {
	case glob == "":
		return nil, errors.New("is empty")
	case len(glob) > MaxGlob:
		return nil, fmt.Errorf("has %d bytes, the most is %d", len(glob), MaxGlob)
	case !utf8.ValidString(glob):
		return nil, errors.New("is not UTF-8")
	}
	g := globber{dialect: d, rest: glob}
	for g.rest != "" {
		if err := g.next(); err != nil {
			return nil, err
		}
	}
	if g.depth > 0 {
		return nil, errors.New("has a { without a }; write \\{ for the character")
	}
	re, err := regexp.Compile(`\A(?s:` + g.out.String() + `)\z`)
	if err != nil {
		return nil, errors.New("is too deeply nested")
	}
	return re, nil
}

// globber translates a glob piece by piece.
type globber struct {
	dialect
	out   strings.Builder
	rest  string
	begun bool // something stands before rest in its segment
	depth int  // of open braces
}

// next translates the first piece of the rest.
func (g *globber) next() error {
	r, n := utf8.DecodeRuneInString(g.rest)
	begun := g.begun
	g.begun = r != '/'
	if g.segments && strings.HasPrefix(g.rest, "**") {
		return g.across(begun)
	}
	if g.segments && g.rest == "/**" {
		g.out.WriteString("(?:/.*)?") // src/** is src too
		g.rest = ""
		return nil
	}
	g.rest = g.rest[n:]
	switch {
	case r == '*':
		g.out.WriteString(g.one() + "*")
	case r == '?':
		g.out.WriteString(g.one())
	case r == '[':
		return g.class()
	case r == '\\':
		if g.rest == "" {
			return errors.New("ends with a \\ that escapes nothing")
		}
		r, n := utf8.DecodeRuneInString(g.rest)
		g.rest = g.rest[n:]
		g.out.WriteString(regexp.QuoteMeta(string(r)))
	case r == '{':
		g.depth++
		g.out.WriteString("(?:")
	case r == ',' && g.depth > 0:
		g.out.WriteString("|")
	case r == '}':
		if g.depth--; g.depth < 0 {
			return errors.New("has a } without a {; write \\} for the character")
		}
		g.out.WriteString(")")
	default:
		g.out.WriteString(regexp.QuoteMeta(string(r)))
	}
	return nil
}

// across translates ** and the slash after it.
func (g *globber) across(begun bool) error {
	g.rest = g.rest[2:]
	g.begun = false
	switch {
	case begun || g.rest != "" && g.rest[0] != '/':
		return errors.New("has a ** that does not stand alone between slashes")
	case g.rest == "":
		g.out.WriteString(".*")
	default:
		g.rest = g.rest[1:]
		g.out.WriteString("(?:[^/]+/)*")
	}
	return nil
}

// one is the expression of any single character that a wildcard may stand for.
func (g *globber) one() string {
	if g.without == "" {
		return "."
	}
	return "[^" + hex(g.without) + "]"
}

// class translates what follows a [: characters and ranges up to the ], after a
// ! or ^ those that are not meant.
func (g *globber) class() error {
	negated := strings.HasPrefix(g.rest, "!") || strings.HasPrefix(g.rest, "^")
	if negated {
		g.rest = g.rest[1:]
	}
	var ranges [][2]rune
	for !strings.HasPrefix(g.rest, "]") {
		low, err := g.classRune()
		if err != nil {
			return err
		}
		high := low
		if strings.HasPrefix(g.rest, "-") && !strings.HasPrefix(g.rest, "-]") {
			g.rest = g.rest[1:]
			if high, err = g.classRune(); err != nil {
				return err
			}
		}
		if high < low {
			return fmt.Errorf("has the range %c-%c, which is backwards", low, high)
		}
		ranges = append(ranges, [2]rune{low, high})
	}
	g.rest = g.rest[1:]
	if len(ranges) == 0 {
		return errors.New("has a [] that matches nothing")
	}
	g.out.WriteString(g.classOf(ranges, negated))
	return nil
}

func (g *globber) classRune() (rune, error) {
	escaped := strings.HasPrefix(g.rest, `\`)
	if escaped {
		g.rest = g.rest[1:]
	}
	r, n := utf8.DecodeRuneInString(g.rest)
	if n == 0 {
		return 0, errors.New("has a [ without a ]; write \\[ for the character")
	}
	g.rest = g.rest[n:]
	return r, nil
}

func (g *globber) classOf(ranges [][2]rune, negated bool) string {
	var b strings.Builder
	if negated {
		b.WriteString("[^" + hex(g.without))
	} else {
		b.WriteString("[")
		ranges = outside(ranges, g.without)
	}
	for _, r := range ranges {
		fmt.Fprintf(&b, `\x{%x}-\x{%x}`, r[0], r[1])
	}
	if len(ranges) == 0 {
		return `[^\x{0}-\x{10FFFF}]` // nothing is left
	}
	b.WriteString("]")
	return b.String()
}

// outside takes characters out of ranges.
func outside(ranges [][2]rune, without string) [][2]rune {
	for _, c := range without {
		var kept [][2]rune
		for _, r := range ranges {
			if c < r[0] || c > r[1] {
				kept = append(kept, r)
				continue
			}
			if r[0] < c {
				kept = append(kept, [2]rune{r[0], c - 1})
			}
			if c < r[1] {
				kept = append(kept, [2]rune{c + 1, r[1]})
			}
		}
		ranges = kept
	}
	return ranges
}

// hex writes characters as an expression's class takes them.
func hex(chars string) string {
	var b strings.Builder
	for _, c := range chars {
		fmt.Fprintf(&b, `\x{%x}`, c)
	}
	return b.String()
}
