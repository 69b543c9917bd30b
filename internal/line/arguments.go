package line

import (
	"strings"
	"unicode/utf8"
)

// plainKeys are the names of inputs that say nothing which their value does not.
var plainKeys = wordSet("path file file_path filepath filename command cmd query q url pattern name oldtext newtext old_string new_string content contents text input")

// arguments reads a call's input for people: its values in their order, after
// the keys that say more than their value. It reads what is left of a clipped
// input, and the form that an earlier line gave it.
func arguments(input string) []string {
	if !strings.HasPrefix(input, `{"`) && !strings.HasPrefix(input, "[") {
		return strings.Split(strings.TrimSuffix(strings.TrimPrefix(input, "{"), "}"), ", ")
	}
	var out []string
	key := ""
	for i := 0; i < len(input); {
		switch c := input[i]; {
		case c == '"':
			text, end := quotedAt(input, i)
			i = end
			if strings.HasPrefix(strings.TrimLeft(input[i:], " "), ":") {
				key = text
				continue
			}
			out = append(out, argument(key, text))
			key = ""
		case strings.IndexByte("{}[]:, \n\t\r", c) >= 0:
			i++
		default:
			end := i
			for end < len(input) && strings.IndexByte("{}[]:,\" \n\t\r", input[end]) < 0 {
				end++
			}
			out = append(out, argument(key, input[i:end]))
			key = ""
			i = end
		}
	}
	return out
}

func argument(key, value string) string {
	if rest, ok := strings.CutPrefix(value, "cd "); ok {
		// Where a command runs is seldom what it does.
		if dir, command, ok := strings.Cut(rest, " && "); ok && !strings.Contains(dir, " ") {
			value = command
		}
	}
	if key == "" || plainKeys[strings.ToLower(key)] {
		return value
	}
	return key + ": " + value
}

// quotedAt reads the JSON string that starts at i, to the end of the input where
// it is cut, and gives the index after it.
func quotedAt(s string, i int) (text string, end int) {
	var b strings.Builder
	for i++; i < len(s); {
		switch c := s[i]; {
		case c == '"':
			return b.String(), i + 1
		case c == '\\' && i+1 < len(s):
			if u, ok := unescaped[s[i+1]]; ok {
				b.WriteByte(u)
				i += 2
				continue
			}
			b.WriteByte(c)
			i++
		default:
			_, size := utf8.DecodeRuneInString(s[i:])
			b.WriteString(s[i : i+size])
			i += size
		}
	}
	return b.String(), len(s)
}

var unescaped = map[byte]byte{'n': '\n', 't': '\t', 'r': '\n', '"': '"', '\\': '\\', '/': '/'}
