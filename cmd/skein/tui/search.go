package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skeinhq/skein"
)

// search finds messages and goes to them.
type search struct {
	list
	query   query
	asked   string // what the hits are for
	asking  bool
	results skein.Results
}

func (m *model) showSearch(text string) []effect {
	s := &search{query: newQuery(text)}
	m.panel = s
	return s.ask()
}

// ask looks for what is typed, unless that is done already.
func (s *search) ask() []effect {
	text := strings.TrimSpace(s.query.text())
	if text == "" || text == s.asked {
		return nil
	}
	s.asked, s.asking = text, true
	return []effect{findWords{text}}
}

func (s *search) title(*model) string {
	switch n := len(s.results.Hits); {
	case s.asking:
		return "search · looking…"
	case s.asked == "":
		return "search"
	case s.results.Capped > 0:
		return fmt.Sprintf("search · %s, of the newest %s matches", counted(int64(n), "hit", "hits"), grouped(int64(s.results.Capped)))
	default:
		return "search · " + counted(int64(n), "hit", "hits")
	}
}

func (s *search) hint() string { return "Enter searches, then goes to the message · Esc closes" }

func (s *search) rows(m *model, height int) []string {
	line, _ := s.query.line(m.cells, m.width-5)
	out := []string{"  " + strong.on("› ") + line, ""}
	hits := s.results.Hits
	if len(hits) == 0 {
		if s.asked != "" && !s.asking {
			out = append(out, m.paragraph("No message holds these words.")...)
		}
		return out
	}
	from, to := s.window(len(hits), height-len(out))
	for i, h := range hits[from:to] {
		var spans [][2]int // where its words stand
		for _, r := range h.Marks {
			spans = append(spans, [2]int{r.Start, r.End})
		}
		out = append(out, m.choice(faint.on(fmt.Sprintf("%d ", h.ID))+marked(h.Text, spans), from+i == s.at))
	}
	return out
}

// marked draws text, harmless and on one line, with some spans of it in bold.
func marked(text string, spans [][2]int) string {
	slices.SortFunc(spans, func(a, b [2]int) int { return a[0] - b[0] })
	flat := func(s string) string { return safe(strings.NewReplacer("\n", " ", "\t", " ").Replace(s)) }
	var b strings.Builder
	at := 0
	for _, s := range spans {
		if s[0] < at || s[1] > len(text) {
			continue
		}
		b.WriteString(flat(text[at:s[0]]))
		b.WriteString(strong.on(flat(text[s[0]:s[1]])))
		at = s[1]
	}
	b.WriteString(flat(text[at:]))
	return b.String()
}

func (s *search) key(m *model, name, text string) []effect {
	if by, ok := moves(name, m.panelHeight()-2); ok {
		s.move(by, len(s.results.Hits))
		return nil
	}
	switch name {
	case "esc":
		m.panel = nil
	case "enter":
		if asked := s.ask(); asked != nil {
			return asked
		}
		if s.at < len(s.results.Hits) {
			m.panel = nil
			m.transcript.show(s.results.Hits[s.at].ID)
		}
	default:
		s.query.key(name, text)
	}
	return nil
}

func (s *search) news(m *model, msg any) []effect {
	found, ok := msg.(wordsFound)
	if !ok || !m.current(found.sitting) || found.query != s.asked {
		return nil
	}
	s.asking, s.list = false, list{}
	s.results = found.results
	if m.say(found.err) {
		s.asked = "" // Enter looks again
	}
	return nil
}

func (s *search) scroll(by int) { s.move(by, len(s.results.Hits)) }

func (s *search) cursor(m *model) (x, y int, ok bool) {
	_, x = s.query.line(m.cells, m.width-5)
	return 4 + x, 2, true
}
