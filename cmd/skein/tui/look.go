package tui

import (
	"image/color"
	"strings"

	"charm.land/glamour/v2"
	gansi "charm.land/glamour/v2/ansi"
	"github.com/charmbracelet/x/ansi"
)

// accent is the one colour: the terminal's own cyan, which its theme has made
// readable. All else is weight: bold for who speaks, faint for what is beside the
// point. Without colours the weights are enough.
const accentCode = "6"

var accentColor color.Color = ansi.Cyan

// style draws text.
type style struct{ s ansi.Style }

var (
	bold   = style{ansi.Style{}.Bold()}
	faint  = style{ansi.Style{}.Faint()}
	accent = style{ansi.Style{}.ForegroundColor(accentColor)}
	strong = style{ansi.Style{}.Bold().ForegroundColor(accentColor)}
	bad    = style{ansi.Style{}.ForegroundColor(ansi.Red)}
)

// on draws text that has no styles of its own.
func (s style) on(text string) string {
	if text == "" || len(s.s) == 0 {
		return text
	}
	return s.s.Styled(text)
}

func set[T any](v T) *T { return &v }

// markdownStyle is how Markdown looks. Nothing is boxed, and nothing is coloured
// but headings, code and links.
func markdownStyle() gansi.StyleConfig {
	text := func(p gansi.StylePrimitive) gansi.StyleBlock { return gansi.StyleBlock{StylePrimitive: p} }
	heading := text(gansi.StylePrimitive{Bold: set(true), Color: set(accentCode)})
	c := gansi.StyleConfig{
		BlockQuote:     gansi.StyleBlock{StylePrimitive: gansi.StylePrimitive{Faint: set(true)}, Indent: set(uint(1)), IndentToken: set("│ ")},
		List:           gansi.StyleList{LevelIndent: 2},
		Heading:        heading,
		Strikethrough:  gansi.StylePrimitive{CrossedOut: set(true)},
		Emph:           gansi.StylePrimitive{Italic: set(true)},
		Strong:         gansi.StylePrimitive{Bold: set(true)},
		HorizontalRule: gansi.StylePrimitive{Faint: set(true), Format: "\n────────\n"},
		Item:           gansi.StylePrimitive{BlockPrefix: "• "},
		Enumeration:    gansi.StylePrimitive{BlockPrefix: ". "},
		Task:           gansi.StyleTask{Ticked: "[x] ", Unticked: "[ ] "},
		Link:           gansi.StylePrimitive{Faint: set(true)},
		LinkText:       gansi.StylePrimitive{Color: set(accentCode)},
		Image:          gansi.StylePrimitive{Faint: set(true)},
		ImageText:      gansi.StylePrimitive{Format: "image: {{.text}} →"},
		Code:           text(gansi.StylePrimitive{Color: set(accentCode)}),
		CodeBlock:      gansi.StyleCodeBlock{StyleBlock: text(gansi.StylePrimitive{})},
		Table:          gansi.StyleTable{CenterSeparator: set("┼"), ColumnSeparator: set("│"), RowSeparator: set("─")},
		DefinitionDescription: gansi.StylePrimitive{
			BlockPrefix: "\n  ",
		},
	}
	return c
}

// markdown renders Markdown for one width.
type markdown struct {
	cells    cells
	width    int
	renderer *glamour.TermRenderer
}

func newMarkdown(c cells, width int) (*markdown, error) {
	r, err := newRenderer(width)
	return &markdown{cells: c, width: width, renderer: r}, err
}

func newRenderer(width int) (*glamour.TermRenderer, error) {
	return glamour.NewTermRenderer(
		glamour.WithStyles(markdownStyle()), glamour.WithWordWrap(width),
		glamour.WithPreservedNewLines(), glamour.WithInlineTableLinks(true),
	)
}

// rendererOf gives the renderer for a block. A table would be stretched over the
// whole width: one that needs less gets less.
func (m *markdown) rendererOf(text string) *glamour.TermRenderer {
	first, rest, _ := strings.Cut(text, "\n")
	rule, _, _ := strings.Cut(rest, "\n")
	if !strings.Contains(first, "|") || !tableRule.MatchString(rule) {
		return m.renderer
	}
	need := 0
	for line := range strings.SplitSeq(text, "\n") {
		columns := strings.Count(line, "|") + 1
		need = max(need, m.cells.width(strings.Join(strings.Fields(line), " "))+2*columns)
	}
	if need >= m.width {
		return m.renderer
	}
	r, err := newRenderer(need)
	if err != nil {
		return m.renderer
	}
	return r
}

// block renders one block as lines.
func (m *markdown) block(b block) []string {
	if b.code {
		return m.code(b.text)
	}
	asWritten := func() []string { return m.cells.wrap(strings.TrimRight(b.text, "\n"), m.width) }
	if deep(b.text, m.width) {
		return asWritten()
	}
	out, err := m.rendererOf(b.text).Render(shield(untab(b.text)))
	if err != nil { // what cannot be rendered
		return asWritten()
	}
	var lines []string
	for line := range strings.SplitSeq(strings.Trim(out, "\n"), "\n") {
		line = trimStyled(unshield(line))
		if m.cells.width(line) > m.width {
			lines = append(lines, strings.Split(m.cells.method.Hardwrap(line, m.width, true), "\n")...)
			continue
		}
		lines = append(lines, line)
	}
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return carried(lines)
}

// code renders a fenced block as it stands, under its language.
func (m *markdown) code(text string) []string {
	first, body, _ := strings.Cut(text, "\n")
	fence := strings.TrimSpace(first)
	mark := fence[:1]
	language := strings.TrimSpace(strings.TrimLeft(fence, mark))
	body = strings.TrimRight(body, "\n")
	if i := strings.LastIndexByte(body, '\n'); strings.TrimSpace(body[i+1:]) != "" && strings.Trim(strings.TrimSpace(body[i+1:]), mark) == "" && len(strings.TrimSpace(body[i+1:])) >= 3 {
		body = body[:max(i, 0)]
	}
	var lines []string
	if language != "" {
		lines = append(lines, faint.on(m.cells.clip(language, m.width)))
	}
	for _, line := range m.cells.wrap(body, m.width-2) {
		if line != "" {
			line = "  " + line
		}
		lines = append(lines, line)
	}
	return lines
}

// trimStyled takes the blanks off a styled line's end.
func trimStyled(line string) string {
	for {
		switch {
		case strings.HasSuffix(line, " "):
			line = strings.TrimRight(line, " ")
		case strings.HasSuffix(line, " \x1b[0m"), strings.HasSuffix(line, " \x1b[m"):
			i := strings.LastIndexByte(line, 0x1b)
			line = strings.TrimRight(line[:i], " ") + ansi.ResetStyle
		case line == "\x1b[m", line == "\x1b[0m":
			return ""
		default:
			return line
		}
	}
}

// carried ends every line without a style, and begins the next with it, so that
// each line can be drawn alone.
func carried(lines []string) []string {
	open := ""
	for i, line := range lines {
		begin := open
		for at := 0; at < len(line); {
			j := strings.IndexByte(line[at:], 0x1b)
			if j < 0 {
				break
			}
			at += j
			n, isStyle := sequence(line[at:])
			if seq := line[at : at+n]; isStyle {
				if seq == "\x1b[m" || seq == "\x1b[0m" {
					open = ""
				} else {
					open += seq
				}
			}
			at += n
		}
		line = begin + line
		if open != "" {
			line += ansi.ResetStyle
		}
		lines[i] = line
	}
	return lines
}
