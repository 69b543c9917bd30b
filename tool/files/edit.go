package files

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sort"
	"strings"

	"golang.org/x/text/unicode/norm"
)

const editDescription = `Replaces a text in a file of the workspace by another one. old must be exactly what the file holds, without the line numbers of read_file, and must occur in it once: add lines around it until it does. Line endings are kept as they are. The file must have been read before, and not have changed since.`

type editInput struct {
	Path string `json:"path" jsonschema:"the file, from the workspace"`
	Old  string `json:"old" jsonschema:"the text to replace, exactly as it is in the file"`
	New  string `json:"new" jsonschema:"the text to put in its place; empty removes it"`
}

// around is how many lines are shown before and after a change, and maxShown the
// most lines of a change.
const (
	around   = 3
	maxShown = 60
)

func (w *Workspace) edit(ctx context.Context, in editInput) (string, error) {
	old, replacement := lf(in.Old), lf(in.New)
	switch old {
	case "":
		return "", errors.New("old is empty; give the text to replace, or write a new file with write_file")
	case replacement:
		return "", errors.New("old and new are the same, so nothing would change")
	}
	p, err := w.at(in.Path)
	if err == nil {
		err = w.mayChange(p)
	}
	if err != nil {
		return "", err
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	was, info, err := w.whole(p)
	if err != nil {
		return "", err
	}
	if err := w.current(ctx, p, was); err != nil {
		return "", err
	}
	text := newLined(string(was))
	places := occurrences(text.lf, old)
	if len(places) != 1 {
		return "", notOnce(shown(p), text.lf, old, places)
	}
	content := text.replace(places[0], len(old), replacement)
	if len(content) > maxFile {
		return "", fmt.Errorf("%s would have %s, and at most %s are possible", shown(p), bytesOf(int64(len(content))), bytesOf(maxFile))
	}
	if err := w.replace(p, was, []byte(content), info.Mode()); err != nil {
		return "", err
	}
	w.reads(ctx, p, sha256.Sum256([]byte(content)))
	after := text.lf[:places[0]] + replacement + text.lf[places[0]+len(old):]
	return changedLines(shown(p), after, places[0], places[0]+len(replacement)), nil
}

// lf is a text whose lines end with LF.
func lf(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// lined is a text together with the same text as lines that end with LF, in which
// things are looked for: what a model gives has such lines.
type lined struct {
	text string
	lf   string
	crs  []int // the places in lf whose LF has a CR before it in text
}

func newLined(text string) lined {
	l := lined{text: text, lf: lf(text)}
	for at := 0; ; {
		i := strings.Index(text[at:], "\r\n")
		if i < 0 {
			return l
		}
		l.crs = append(l.crs, at+i-len(l.crs))
		at += i + 2
	}
}

// crsBefore counts the line endings CRLF before a place in lf.
func (l lined) crsBefore(place int) int { return sort.SearchInts(l.crs, place) }

// replace puts a text in the place of n bytes of lf. Its lines end as those that
// it replaces, or else as most of the text's do.
func (l lined) replace(place, n int, by string) string {
	start, end := l.crsBefore(place), l.crsBefore(place+n)
	crlf, lines := end-start, strings.Count(l.lf[place:place+n], "\n")
	if lines == 0 {
		crlf, lines = len(l.crs), strings.Count(l.lf, "\n")
	}
	if crlf > lines-crlf {
		by = strings.ReplaceAll(by, "\n", "\r\n")
	}
	return l.text[:place+start] + by + l.text[place+n+end:]
}

// maxPlaces is the most places that are counted.
const maxPlaces = 1000

// occurrences finds the places of a text in another one, also those that overlap.
func occurrences(text, of string) (places []int) {
	for at := 0; len(places) < maxPlaces; {
		i := strings.Index(text[at:], of)
		if i < 0 {
			break
		}
		places = append(places, at+i)
		at += i + 1
	}
	return places
}

// notOnce says how often a text was found, and where to look.
func notOnce(name, text, old string, places []int) error {
	if len(places) > 0 {
		return fmt.Errorf("old occurs %s times in %s, in the lines %s; give more of the lines around the one that is meant, so that it occurs once", atLeast(len(places)), name, linesOf(text, places))
	}
	if strings.Contains(norm.NFC.String(text), norm.NFC.String(old)) {
		return fmt.Errorf("old does not occur in %s as it is written: the file has its accented letters in another Unicode normalization; replace a part without them, or the whole file with write_file", name)
	}
	line, like := nearest(text, old)
	if line == 0 {
		return fmt.Errorf("old does not occur in %s, nor anything like it; read the file again with read_file", name)
	}
	end := min(line+strings.Count(strings.TrimSuffix(old, "\n"), "\n")+1, line+maxShown)
	return fmt.Errorf("old does not occur in %s. The nearest place%s is:\n%sGive old exactly as it is there", name, like, numbered(text, line, end))
}

func atLeast(n int) string {
	if n == maxPlaces {
		return fmt.Sprintf("%d or more", n)
	}
	return fmt.Sprint(n)
}

// linesOf names the lines of the first places.
func linesOf(text string, places []int) string {
	const most = 10
	var out []string
	line, from := 1, 0
	for i, place := range places {
		if i == most {
			out = append(out, "…")
			break
		}
		line += strings.Count(text[from:place], "\n")
		from = place
		out = append(out, fmt.Sprint(line))
	}
	return strings.Join(out, ", ")
}

// changedLines shows a text around the bytes from start to end.
func changedLines(name, text string, start, end int) string {
	first := strings.Count(text[:start], "\n") + 1
	last := first + strings.Count(text[start:end], "\n")
	head := fmt.Sprintf("[%s is changed, in line %d]\n", name, first)
	if last > first {
		head = fmt.Sprintf("[%s is changed, in the lines %d to %d]\n", name, first, last)
	}
	from, to := max(1, first-around), last+around+1
	if to-from <= maxShown {
		return head + numbered(text, from, to)
	}
	half := maxShown / 2
	return head + numbered(text, from, from+half) + fmt.Sprintf("[… %d lines …]\n", to-from-2*half) + numbered(text, to-half, to)
}

// numbered writes the lines from first to before end as read_file does.
func numbered(text string, first, end int) string {
	var out strings.Builder
	line := 0
	for l := range strings.Lines(text) {
		if line++; line >= end {
			break
		}
		if line >= first {
			fmt.Fprintf(&out, "%d\t%s\n", line, shortened(strings.TrimRight(l, "\r\n"), maxLine))
		}
	}
	return out.String()
}
