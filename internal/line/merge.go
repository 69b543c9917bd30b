package line

import (
	"strings"
	"unicode"

	"github.com/skeinhq/skein/thread"
)

// Merge writes the line of two neighbouring lines by rule: what says most of
// both, anchors before prose, in their order, with who spoke to whom. What
// [Extract] promises holds for it too; its sources are the two lines. Two lines
// that fit together are joined by a newline.
func Merge(left, right string) string {
	if len(left)+1+len(right) <= thread.LineBytes {
		return left + "\n" + right
	}
	us := speaking(append(parse(left, 0), parse(right, 1)...))
	assign(us)
	for i := range us {
		if us[i].kind == called {
			us[i].text = strings.Join(shortened(arguments(us[i].text)), "\n")
		}
	}
	return choose(us, left, right)
}

// shortened shows of long paths among a call's values the last names only, and
// leaves out numbers, which say how much was read and such.
func shortened(values []string) []string {
	var out []string
	for _, v := range values {
		if _, number, _ := strings.Cut(v, ": "); isNumber(v) || isNumber(number) {
			continue
		}
		if !strings.Contains(v, " ") {
			v = lastNames(v)
		}
		out = append(out, v)
	}
	if out == nil {
		return values
	}
	return out
}

func isNumber(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !isDigit(r) })
}

// silent are lines that say nothing of their message.
var silent = map[string]bool{privateLine: true, erasedLine: true, noText: true, Ellipsis: true}

// parse reads a line back into its utterances. Text before any head belongs to
// nobody.
func parse(line string, half int) []utterance {
	var out []utterance
	for l := range strings.SplitSeq(line, "\n") {
		head, text := cutHead(l)
		switch {
		case head != "" || len(out) == 0:
			out = append(out, utterance{head: head, text: text, half: half})
		case silent[strings.TrimSpace(l)]:
			out = append(out, utterance{text: l, half: half})
		default:
			out[len(out)-1].text += "\n" + l
		}
	}
	return out
}

// speaking leaves out the utterances that say nothing, unless all do.
func speaking(us []utterance) []utterance {
	var kept []utterance
	for _, u := range us {
		if !silent[strings.TrimSpace(u.text)] {
			kept = append(kept, u)
		}
	}
	if len(kept) == 0 {
		return us[:1]
	}
	return kept
}

// cutHead parts "ana → north: " from what follows it; without an arrow the name
// must be one word.
func cutHead(l string) (head, text string) {
	i := strings.Index(l, ": ")
	if i < 0 {
		if !strings.HasSuffix(l, ":") || !strings.Contains(l, " → ") {
			return "", l
		}
		return l + " ", ""
	}
	who, whom, arrow := strings.Cut(l[:i], " → ")
	if who == "" || len(who) > 2*nameBytes || len(whom) > (maxAddressees+1)*(nameBytes+2) || strings.ContainsAny(who, "{}\"…") {
		return "", l
	}
	if !arrow && strings.ContainsFunc(who, func(r rune) bool {
		return !(unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-.@", r))
	}) {
		return "", l
	}
	return l[:i+2], l[i+2:]
}

// toolNames are names of tools that many agents have: they tell a tool's result
// from a user's words where its call stands in another line.
var toolNames = wordSet("read write edit bash shell grep glob find ls cat search zoom fetch web_search webfetch websearch git python exec apply_patch read_file write_file edit_file list_files search_files todowrite todo task")

// assign finds out of what kind the utterances are. A call's text stands in
// braces; who calls is an agent, what is called a tool, and who speaks to an
// agent and is neither is a user.
func assign(us []utterance) {
	agents, tools := map[string]bool{"assistant": true, "model": true}, map[string]bool{}
	for i := range us {
		who, whom := speakers(us[i].head)
		if whom != "" && strings.HasPrefix(us[i].text, "{") && !strings.Contains(whom, ",") {
			us[i].kind = called
			agents[who], tools[whom] = true, true
		}
	}
	for i := range us {
		who, whom := speakers(us[i].head)
		if us[i].kind == called {
			continue
		}
		switch {
		case tools[who] || toolNames[strings.ToLower(who)]:
			us[i].kind = gave
		case agents[who]:
			us[i].kind = agentSaid
		case agents[whom] || who == "user":
			us[i].kind = userSaid
		default:
			us[i].kind = agentSaid // nobody knows; all are alike
		}
	}
}

// speakers gives who a head says spoke, and to whom.
func speakers(head string) (who, whom string) {
	who, whom, _ = strings.Cut(strings.TrimSuffix(strings.TrimSpace(head), ":"), " → ")
	return who, whom
}
