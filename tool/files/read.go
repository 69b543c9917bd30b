package files

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
	"unicode/utf8"
)

// The bounds of what is read at once: lines if no number is given, the bytes of
// all lines, and those of one line. The text stays below what a result may have,
// so that nothing is cut out of its middle.
const (
	usualLines = 2000
	maxText    = 80_000
	maxLine    = 2000
)

const readDescription = `Reads a file of the workspace: its lines, each with its number and a tab before it. A long file is read in parts: offset is the first line, limit how many. A file must be read before it is changed.`

type readInput struct {
	Path   string `json:"path" jsonschema:"the file, from the workspace"`
	Offset int    `json:"offset,omitempty" jsonschema:"number of the first line to read; 1 if left out"`
	Limit  int    `json:"limit,omitempty" jsonschema:"the most lines to read; 2000 if left out"`
}

func (w *Workspace) read(ctx context.Context, in readInput) (string, error) {
	if in.Offset < 0 || in.Limit < 0 {
		return "", errors.New("offset and limit must be 1 or more")
	}
	if in.Limit == 0 {
		in.Limit = usualLines
	}
	p, err := w.at(in.Path)
	if err != nil {
		return "", err
	}
	f, info, err := w.open(p)
	if err != nil {
		return "", err
	}
	defer f.Close()
	page := page{first: max(in.Offset, 1), most: in.Limit, hash: sha256.New()}
	if err := page.read(ctx, f); err != nil {
		return "", w.trouble(p, err)
	}
	if page.binary != "" {
		return fmt.Sprintf("[%s is binary: %s, %s; it is not shown]", shown(p), page.binary, bytesOf(info.Size())), nil
	}
	if page.ended {
		w.reads(ctx, p, sum(page.hash.Sum(nil)))
	}
	return page.told(shown(p), info.Size())
}

// page is some lines of a file, and what is known of the file after reading them.
// It reads on to the end for the hash and the number of lines, but no further
// than maxFile unless the lines lie there.
type page struct {
	first, most int
	hash        hash.Hash

	kept    []byte // the beginning of the line that is read
	text    strings.Builder
	shown   int  // lines in text
	full    bool // text takes no more
	lines   int  // read so far
	size    int64
	ended   bool // all of the file was read, and it can be changed
	binary  string
	crlf    int // lines that end so
	lf      int
	unclean int // bytes that are no UTF-8, and NULs, in text
	bom     bool
}

func (p *page) read(ctx context.Context, f io.Reader) error {
	r := bufio.NewReaderSize(io.TeeReader(f, p.hash), 64<<10)
	start, err := r.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if name, is := binary(start); is {
		p.binary = name
		return nil
	}
	if p.bom = bytes.HasPrefix(start, []byte(bom)); p.bom {
		if _, err := r.Discard(len(bom)); err != nil {
			return err
		}
		p.size += int64(len(bom))
	}
	for {
		if p.lines%1000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		more, err := p.line(ctx, r)
		if err != nil {
			return err
		}
		if !more {
			p.ended = p.size <= maxFile
			return nil
		}
		if p.full && p.size > maxFile {
			return nil
		}
	}
}

// bom is the mark that some put before a text.
const bom = "\uFEFF"

// line reads one line, of which it keeps the beginning, and says whether there
// was one.
func (p *page) line(ctx context.Context, r *bufio.Reader) (bool, error) {
	p.kept = p.kept[:0]
	length, end := 0, byte(0)
	for {
		piece, err := r.ReadSlice('\n')
		length += len(piece)
		p.kept = append(p.kept, piece[:min(len(piece), maxLine+utf8.UTFMax-len(p.kept))]...)
		if len(piece) > 1 {
			end = piece[len(piece)-2]
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			end = piece[len(piece)-1]
			if err := ctx.Err(); err != nil {
				return false, err
			}
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		if length == 0 {
			return false, nil
		}
		whole := err == nil
		p.size += int64(length)
		p.lines++
		switch {
		case !whole:
		case end == '\r':
			p.crlf++
		default:
			p.lf++
		}
		p.add(length)
		return true, nil
	}
}

// add adds a line to the text if it is one of those that are wanted.
func (p *page) add(length int) {
	if p.lines < p.first || p.full {
		return
	}
	line := bytes.TrimSuffix(bytes.TrimSuffix(p.kept, []byte("\n")), []byte("\r"))
	cut := ""
	if len(line) > maxLine {
		n := maxLine
		for n > 0 && !utf8.RuneStart(line[n]) {
			n--
		}
		line = line[:n]
		cut = fmt.Sprintf(" [… the line goes on: it has %s]", bytesOf(int64(length)))
	}
	text, unclean := readable(line)
	if p.text.Len()+len(text) > maxText && p.shown > 0 {
		p.full = true
		return
	}
	p.unclean += unclean
	fmt.Fprintf(&p.text, "%d\t%s%s\n", p.lines, text, cut)
	p.shown++
	p.full = p.shown == p.most
}

// readable is a line as valid UTF-8 without NULs, and how many bytes were not.
func readable(line []byte) (string, int) {
	if utf8.Valid(line) && bytes.IndexByte(line, 0) < 0 {
		return string(line), 0
	}
	var out strings.Builder
	unclean := 0
	for len(line) > 0 {
		r, n := utf8.DecodeRune(line)
		if r == utf8.RuneError && n == 1 || r == 0 {
			r = utf8.RuneError
			unclean++
		}
		out.WriteRune(r)
		line = line[n:]
	}
	return out.String(), unclean
}

// told is the page as a model reads it: what it is of, then the lines.
func (p *page) told(name string, size int64) (string, error) {
	if p.lines == 0 {
		return fmt.Sprintf("[%s is empty]", name), nil
	}
	if p.shown == 0 {
		return "", fmt.Errorf("%s has %d lines, and offset is %d; read from a line that there is", name, p.lines, p.first)
	}
	last := p.first + p.shown - 1
	var head strings.Builder
	fmt.Fprintf(&head, "[%s: ", name)
	switch all := p.first == 1 && last == p.lines && p.ended; {
	case all:
		fmt.Fprintf(&head, "all %d lines", p.lines)
	case p.ended:
		fmt.Fprintf(&head, "lines %d to %d of %d", p.first, last, p.lines)
	default:
		fmt.Fprintf(&head, "lines %d to %d; the file has %s, too many to change it here", p.first, last, bytesOf(max(size, p.size)))
	}
	for _, note := range []struct {
		says bool
		text string
	}{
		{p.crlf > 0 && p.lf == 0, "lines end with CRLF, which edit_file keeps"},
		{p.crlf > 0 && p.lf > 0, fmt.Sprintf("%d lines end with CRLF and %d with LF; edit_file takes either", p.crlf, p.lf)},
		{p.bom, "it begins with a byte order mark, which edit_file keeps"},
		{p.unclean > 0, fmt.Sprintf("%d bytes are NULs or no UTF-8 and shown as \uFFFD; edit_file cannot find them", p.unclean)},
		{last < p.lines || !p.ended && p.full, fmt.Sprintf("offset %d goes on", last+1)},
	} {
		if note.says {
			head.WriteString("; " + note.text)
		}
	}
	return head.String() + "]\n" + p.text.String(), nil
}
