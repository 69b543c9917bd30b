package prompt

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// What Print shows: characters of a message, and lines of the outline.
const (
	shownCharacters = 160
	shownLines      = 40
)

// headings of the sections, which say how they are cached.
var headings = map[string]string{
	ToolsSection:        "tools (cached)",
	InstructionsSection: "instructions (cached)",
	ContextsSection:     "contexts (cached)",
	HistorySection:      "history (cached as it grows)",
	TurnSection:         "turn (what's new, then kept in the history)",
}

// Print writes the prompt for people: each section under a heading with its
// caching and tokens, each message in a row after its role, then the marks and
// what is the same as in the request before. Lines of the outline and what is
// told in this turn stand on lines of their own. Nothing printed can move a
// terminal's cursor.
func (p *Prompt) Print(w io.Writer) error {
	b := bufio.NewWriter(w)
	for _, s := range p.Sections {
		fmt.Fprintf(b, "── %s · %s\n", headings[s.Name], tokens(s.Tokens))
		for i := range s.Messages {
			p.printMessage(b, s.Name, &s.Messages[i])
		}
	}
	fmt.Fprintf(b, "── marks: %s\n", p.marksText())
	fmt.Fprintf(b, "── %s\n", p.Ledger)
	return b.Flush()
}

func tokens(n int) string {
	if n == 1 {
		return "1 token"
	}
	return strconv.Itoa(n) + " tokens"
}

func moreLines(n int) string {
	if n == 1 {
		return "1 more line"
	}
	return strconv.Itoa(n) + " more lines"
}

// String is the ledger in one line.
func (g Ledger) String() string {
	s := fmt.Sprintf("%s, %d the same as in the request before", tokens(g.Tokens), g.Same)
	switch {
	case g.Cause != "" && g.Block != "":
		s += fmt.Sprintf("; first different: %s (%s)", printable(g.Block), g.Cause)
	case g.Cause != "":
		s += fmt.Sprintf("; it ends earlier (%s)", g.Cause)
	}
	return s
}

func (p *Prompt) marksText() string {
	if len(p.Request.Marks) == 0 {
		return "none"
	}
	var texts []string
	for _, m := range p.Request.Marks {
		if m.Message < 0 {
			texts = append(texts, m.Name)
			continue
		}
		texts = append(texts, fmt.Sprintf("%s (message %d of %d)", m.Name, m.Message+1, len(p.Request.Messages)))
	}
	return strings.Join(texts, " · ")
}

func (p *Prompt) printMessage(b *bufio.Writer, section string, m *model.Message) {
	switch {
	case section == TurnSection:
		for _, q := range m.Parts {
			printLines(b, q.Text)
		}
	case m == p.chat:
		printOutline(b, m)
	default:
		fmt.Fprintf(b, "%-10s%s\n", m.Role, short(messageText(m)))
	}
}

// printOutline writes the lines whole, up to 40 of them; of more, the first and
// the last 20.
func printOutline(b *bufio.Writer, m *model.Message) {
	fmt.Fprintf(b, "%-10s", m.Role)
	printLines(b, strings.TrimSuffix(m.Parts[0].Text, "\n"))
	var lines []string
	for _, p := range m.Parts[1 : len(m.Parts)-1] {
		lines = append(lines, strings.Split(strings.TrimSuffix(p.Text, "\n"), "\n")...)
	}
	left := len(lines) - shownLines
	for i, line := range lines {
		switch {
		case left <= 0 || i < shownLines/2 || i >= len(lines)-shownLines/2:
			printLines(b, line)
		case i == shownLines/2:
			fmt.Fprintf(b, "… %s …\n", moreLines(left))
		}
	}
	printLines(b, chatClose)
}

func printLines(b *bufio.Writer, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintln(b, printable(line))
	}
}

// messageText is a message's parts as one text.
func messageText(m *model.Message) string {
	texts := make([]string, 0, len(m.Parts))
	for i := range m.Parts {
		texts = append(texts, partText(&m.Parts[i]))
	}
	return strings.Join(texts, " ")
}

// partTexts says how each type of part is shown.
var partTexts = map[thread.PartType]func(*thread.Part) string{
	thread.TextPart: func(p *thread.Part) string { return p.Text },
	thread.ThinkingPart: func(p *thread.Part) string {
		if p.Redacted {
			return "[thinking, redacted]"
		}
		return "[thinking] " + p.Text
	},
	thread.CallPart: func(p *thread.Part) string { return "→ " + p.Name + ": " + string(p.Input) },
	thread.BlobPart: func(p *thread.Part) string { return "[" + p.MediaType + " " + p.Name + " " + size(p.Size) + "]" },
}

func partText(p *thread.Part) string {
	if f, ok := partTexts[p.Type]; ok {
		return f(p)
	}
	head := p.Name + ": "
	if p.IsError {
		head += "error: "
	}
	return head + messageText(&model.Message{Parts: p.Parts})
}

func size(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%d KB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}

// short gives the first 160 characters of a text on one line. A character is
// what a reader takes for one; none is split.
func short(s string) string {
	state := -1
	rest := s
	for n := 0; len(rest) > 0; n++ {
		if n == shownCharacters {
			return printable(thread.OneLine(s[:len(s)-len(rest)])) + "…"
		}
		_, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
	}
	return printable(thread.OneLine(s))
}

// printable makes control characters spaces.
func printable(s string) string {
	if strings.IndexFunc(s, unprintable) < 0 {
		return s
	}
	return strings.Map(func(r rune) rune {
		if unprintable(r) {
			return ' '
		}
		return r
	}, s)
}

// unprintable says whether a rune could move a terminal's cursor, end a line or
// turn the direction of what follows.
func unprintable(r rune) bool {
	return control(r) || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// promptJSON is the prompt for programs.
type promptJSON struct {
	Sections []Section    `json:"sections"`
	Tokens   int          `json:"tokens"`
	Marks    []model.Mark `json:"marks"`
	Ledger   Ledger       `json:"ledger"`
}

// MarshalJSON writes {"sections": [{"name", "tokens", "messages"}], "tokens",
// "marks", "ledger"}.
func (p *Prompt) MarshalJSON() ([]byte, error) {
	marks := p.Request.Marks
	if marks == nil {
		marks = []model.Mark{}
	}
	return thread.Encode(promptJSON{p.Sections, p.Tokens, marks, p.Ledger})
}
