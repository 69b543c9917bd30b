package files

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/skeinhq/skein/tool"
)

// The bounds of a search: hits if no number is given and at most, bytes of a
// pattern, bytes shown of a line, and bytes of all files that are looked through.
const (
	usualHits  = 100
	maxHits    = 1000
	maxPattern = 1000
	maxHit     = 300
	maxLooking = 2 << 30
)

const searchDescription = `Searches the text of the workspace's files, line by line, in the order of their names. Gives path:line: and the line for each hit. Binary files, folders .git and very large files are left out.`

type searchInput struct {
	Pattern    string `json:"pattern" jsonschema:"a regular expression (RE2), which is looked for in each line"`
	Plain      bool   `json:"plain,omitempty" jsonschema:"pattern is plain text, no regular expression"`
	IgnoreCase bool   `json:"ignore_case,omitempty" jsonschema:"capital and small letters are the same"`
	Path       string `json:"path,omitempty" jsonschema:"file or folder to search in, from the workspace; all of it if left out"`
	Glob       string `json:"glob,omitempty" jsonschema:"only files that match, from that folder: *.go is for names at any depth, src/**/*.{ts,tsx} for paths"`
	Limit      int    `json:"limit,omitempty" jsonschema:"the most hits; 100 if left out, at most 1000"`
}

func (w *Workspace) search(ctx context.Context, in searchInput) (string, error) {
	pattern, err := compile(in)
	if err != nil {
		return "", err
	}
	g, err := parseGlob(in.Glob)
	if err != nil {
		return "", err
	}
	if in.Limit < 0 || in.Limit > maxHits {
		return "", fmt.Errorf("limit is %d; it must be between 1 and %d", in.Limit, maxHits)
	}
	if in.Limit == 0 {
		in.Limit = usualHits
	}
	s := &search{w: w, pattern: pattern, most: in.Limit, left: maxLooking}
	if in.Path == "" {
		in.Path = "."
	}
	p, err := w.at(in.Path)
	if err != nil {
		return "", err
	}
	info, err := w.root.Stat(filepath.FromSlash(p))
	if err != nil {
		return "", w.trouble(p, err)
	}
	k := &walk{w: w, from: p, left: maxEntries, caller: tool.CallerOf(ctx)}
	if info.IsDir() {
		err = k.each(ctx, func(p string, e fs.DirEntry) error {
			if !e.Type().IsRegular() || !g.match(from(k.from, p)) {
				return nil
			}
			return s.file(ctx, p)
		})
	} else if g.match(path.Base(p)) {
		if err := regular(p, info); err != nil {
			return "", err
		}
		err = s.file(ctx, p)
	}
	if err != nil && !errors.Is(err, errEnough) {
		return s.out.String(), err
	}
	return s.told() + k.missed(), nil
}

// compile gives the expression to look for.
func compile(in searchInput) (*regexp.Regexp, error) {
	switch {
	case in.Pattern == "":
		return nil, errors.New("pattern is empty; give something to look for")
	case len(in.Pattern) > maxPattern:
		return nil, fmt.Errorf("the pattern has %d bytes; at most %d are possible", len(in.Pattern), maxPattern)
	case strings.Contains(in.Pattern, "\n"):
		return nil, errors.New("the pattern has several lines, and each line is searched alone; look for one of them")
	}
	expr := in.Pattern
	if in.Plain {
		expr = regexp.QuoteMeta(expr)
	}
	if in.IgnoreCase {
		expr = "(?i:" + expr + ")"
	}
	pattern, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("%w; RE2 has no look-around and no references back; plain looks for the text as it is", err)
	}
	return pattern, nil
}

// search is a search on its way.
type search struct {
	w       *Workspace
	pattern *regexp.Regexp
	most    int
	left    int64 // bytes that may still be looked through

	out    strings.Builder
	hits   int
	files  int // with hits
	looked int
	binary int
	large  int
	shut   int // that could not be opened
	full   bool
	tired  bool // the bytes were used up
}

// file searches a file.
func (s *search) file(ctx context.Context, p string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f, info, err := s.w.open(p)
	if err != nil { // it has gone, or may not be read
		s.shut++
		return nil
	}
	defer f.Close()
	if info.Size() > maxFile {
		s.large++
		return nil
	}
	// A file may grow while it is read; what comes later is not looked at.
	r := bufio.NewReaderSize(io.LimitReader(f, maxFile), 64<<10)
	start, err := r.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		s.shut++
		return nil
	}
	if _, is := binary(start); is {
		s.binary++
		return nil
	}
	s.looked++
	return s.lines(ctx, p, r)
}

func (s *search) lines(ctx context.Context, p string, r *bufio.Reader) error {
	before := s.hits
	defer func() {
		if s.hits > before {
			s.files++
		}
	}()
	var long []byte
	for n := 1; ; n++ {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			// No longer than a file may be.
			long = append(long[:0], line...)
			line, err = r.ReadBytes('\n')
			long = append(long, line...)
			line = long
		}
		if err != nil && !errors.Is(err, io.EOF) {
			s.shut++
			return nil
		}
		if s.left -= int64(len(line)); s.left < 0 {
			s.tired = true
			return errEnough
		}
		if len(line) > 0 {
			if err := s.line(p, n, bytes.TrimRight(line, "\r\n")); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
		if n%1000 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

func (s *search) line(p string, n int, line []byte) error {
	found := s.pattern.FindIndex(line)
	if found == nil {
		return nil
	}
	if s.hits == s.most || s.out.Len() > maxText {
		s.full = true
		return errEnough
	}
	s.hits++
	fmt.Fprintf(&s.out, "%s:%d: %s\n", shown(p), n, excerpt(line, found[0]))
	return nil
}

// excerpt is a line as a hit shows it: all of it, or what is around the place.
func excerpt(line []byte, place int) string {
	start := 0
	if len(line) > maxHit && place > maxHit/2 {
		start = min(place-maxHit/3, len(line)-maxHit)
		for start > 0 && !utf8.RuneStart(line[start]) {
			start--
		}
	}
	text := shortened(string(line[start:min(len(line), start+maxHit+1)]), maxHit)
	if start > 0 {
		text = "[…] " + text
	}
	return text
}

// told is what was found, and what was not looked at.
func (s *search) told() string {
	if s.hits == 0 {
		fmt.Fprintf(&s.out, "[no hits in %d files]\n", s.looked)
	} else {
		fmt.Fprintf(&s.out, "[%d hits in %d of %d files]\n", s.hits, s.files, s.looked)
	}
	for _, note := range []struct {
		says bool
		text string
	}{
		{s.full, "there are more hits; name a folder or a glob, or look for something rarer"},
		{s.tired, fmt.Sprintf("the search stopped after %s; name a folder or a glob", bytesOf(maxLooking))},
		{s.binary > 0, fmt.Sprintf("%d binary files are left out", s.binary)},
		{s.large > 0, fmt.Sprintf("%d files of more than %s are left out", s.large, bytesOf(maxFile))},
		{s.shut > 0, fmt.Sprintf("%d files could not be opened", s.shut)},
	} {
		if note.says {
			fmt.Fprintf(&s.out, "[%s]\n", note.text)
		}
	}
	return s.out.String()
}
