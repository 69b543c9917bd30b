package server

import (
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Conditional is the part of a request that asks only for what it does not have.
type Conditional struct {
	NoneMatch string `header:"If-None-Match" doc:"The ETags of what is there already, or *: then the answer is 304 where it still holds."`

	lines []string
}

// Resolve takes all lines of the header.
func (c *Conditional) Resolve(ctx huma.Context) []error {
	r, _ := unwrap(ctx)
	c.lines = r.Header.Values("If-None-Match")
	return nil
}

// holds says whether the asker has what the entity tag names.
func (c *Conditional) holds(tag string) bool { return matches(c.lines, tag) }

// matches says whether If-None-Match, all of its lines, names the entity tag, as RFC
// 9110 has it: a list of tags, of which weak ones count too, or a star for whatever
// there is. Behind what is no tag nothing more is read.
func matches(lines []string, tag string) bool {
	tag = strings.TrimPrefix(tag, "W/")
	for _, line := range lines {
		if strings.Trim(line, " \t") == "*" {
			return true
		}
		for rest := line; ; {
			one, after, ok := cutTag(strings.TrimLeft(rest, " \t,"))
			if !ok {
				break
			}
			if one == tag {
				return true
			}
			rest = after
		}
	}
	return false
}

// cutTag cuts an entity tag off the beginning, without what says that it is weak.
func cutTag(s string) (tag, rest string, ok bool) {
	s = strings.TrimPrefix(s, "W/")
	if !strings.HasPrefix(s, `"`) {
		return "", "", false
	}
	end := strings.IndexByte(s[1:], '"')
	if end < 0 {
		return "", "", false
	}
	tag, rest = s[:end+2], strings.TrimLeft(s[end+2:], " \t")
	return tag, rest, rest == "" || rest[0] == ','
}
