package main

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// What a drawn terminal measures, in pixels.
const (
	cellWidth  = 8.4
	cellHeight = 18
	fontSize   = 14
	margin     = 14
)

// palette are the terminal's first sixteen colours, on a dark ground.
var palette = [16]string{
	"#16181d", "#e07a7a", "#8cc28c", "#d8b36a", "#7aa2e0", "#c08ad0", "#5cc4c4", "#d7dae0",
	"#6b7280", "#f09a9a", "#a8dca8", "#ecd08c", "#9cc0f8", "#d8a8e4", "#80e0e0", "#ffffff",
}

const (
	ground = "#16181d"
	ink    = "#d7dae0"
)

// frame is how the screen stands from a moment on.
type frame struct {
	at     time.Duration
	rows   []string // as SVG
	x, y   int
	cursor bool
}

func (f *frame) same(g *frame) bool {
	if f.x != g.x || f.y != g.y || f.cursor != g.cursor {
		return false
	}
	for i := range f.rows {
		if f.rows[i] != g.rows[i] {
			return false
		}
	}
	return true
}

// frames plays a cast, and gives the screens that stood for a while.
func (c *cast) frames(apart time.Duration) ([]frame, error) {
	s := newScreen(c.width, c.height)
	var out []frame
	for i, e := range c.events {
		if _, err := io.WriteString(s, e.data); err != nil {
			return nil, err
		}
		if i < len(c.events)-1 && c.events[i+1].at < e.at+apart && (len(out) == 0 || c.events[i+1].at < out[len(out)-1].at+2*apart) {
			continue
		}
		f := frame{at: e.at, x: s.x, y: s.y, cursor: s.shown}
		for _, row := range s.rows {
			f.rows = append(f.rows, rowSVG(row))
		}
		if len(out) == 0 || !f.same(&out[len(out)-1]) {
			out = append(out, f)
		}
	}
	return out, nil
}

// rowSVG draws one row: a piece of text for each run of one style.
func rowSVG(row []cell) string {
	var b strings.Builder
	for x := 0; x < len(row); {
		from := x
		var text strings.Builder
		for x < len(row) && row[x].style == row[from].style {
			text.WriteString(row[x].text)
			x++
		}
		if s := strings.TrimRight(text.String(), " "); s != "" {
			b.WriteString(runSVG(from, s, row[from].style))
		}
	}
	return b.String()
}

func runSVG(x int, text string, s style) string {
	lead := len(text) - len(strings.TrimLeft(text, " "))
	x, text = x+lead, text[lead:]
	width := float64(ansi.StringWidth(text)) * cellWidth
	attributes := ""
	if s.bold {
		attributes += ` font-weight="bold"`
	}
	if s.italic {
		attributes += ` font-style="italic"`
	}
	if s.struck {
		attributes += ` text-decoration="line-through"`
	}
	if s.faint {
		attributes += ` opacity=".55"`
	}
	if s.colour > 0 {
		attributes += fmt.Sprintf(` fill=%q`, palette[s.colour-1])
	}
	return fmt.Sprintf(`<text x="%.1f" textLength="%.1f"%s>%s</text>`, float64(x)*cellWidth, width, attributes, escaped(text))
}

func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a builder takes all
	return b.String()
}

// writeSVG draws a cast as a film that runs again and again: all frames stand one
// below the other behind a window, and are moved past it. Where motion is not
// wanted the last frame stands still. A row that many frames share is drawn once.
func (c *cast) writeSVG(w io.Writer) error {
	frames, err := c.frames(70 * time.Millisecond)
	if err != nil || len(frames) == 0 {
		return err
	}
	out := bufio.NewWriter(w)
	width, height := float64(c.width)*cellWidth, c.height*cellHeight
	total := c.events[len(c.events)-1].at + 2*time.Second
	p := func(format string, values ...any) { fmt.Fprintf(out, format, values...) } // Flush tells of an error

	p(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" role="img" aria-label="%s">`+"\n", width+2*margin, height+2*margin, escaped(c.title))
	p("<style>text{font-size:%dpx;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}\n", fontSize)
	p(".film{animation:film %.2fs step-end infinite}\n@keyframes film{\n", total.Seconds())
	for i, f := range frames {
		p("%.3f%%{transform:translateY(-%dpx)}\n", 100*f.at.Seconds()/total.Seconds()*min(1, float64(i)), i*height)
	}
	p("}\n@media (prefers-reduced-motion:reduce){.film{animation:none;transform:translateY(-%dpx)}}</style>\n", (len(frames)-1)*height)
	p(`<rect width="100%%" height="100%%" rx="8" fill=%q/>`+"\n", ground)

	ids := map[string]int{}
	p("<defs>\n")
	for _, f := range frames {
		for _, row := range f.rows {
			if _, ok := ids[row]; !ok && row != "" {
				ids[row] = len(ids)
				p(`<g id="r%d">%s</g>`+"\n", ids[row], row)
			}
		}
	}
	p("</defs>\n"+`<svg x="%d" y="%d" width="%.1f" height="%d" viewBox="0 0 %.1f %d"><g class="film" fill=%q>`+"\n", margin, margin, width, height, width, height, ink)
	for i, f := range frames {
		p(`<g transform="translate(0 %d)">`, i*height)
		for y, row := range f.rows {
			if row != "" {
				p(`<use href="#r%d" y="%d"/>`, ids[row], y*cellHeight+fontSize)
			}
		}
		if f.cursor {
			p(`<rect x="%.1f" y="%d" width="%.1f" height="%d" fill=%q opacity=".5"/>`, float64(f.x)*cellWidth, f.y*cellHeight, cellWidth, cellHeight, ink)
		}
		p("</g>\n")
	}
	p("</g></svg>\n</svg>\n")
	return out.Flush()
}
