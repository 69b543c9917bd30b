package git

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strings"

	"github.com/skeinhq/skein/internal/process"
)

// hash is a whole hash of an object, SHA-1 or SHA-256.
var hash = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// resolve gives the hashes that a revision of the model stands for, so that
// nothing that a model wrote is given to a command as a revision.
func (m *mirror) resolve(ctx context.Context, c command, revision string) (string, error) {
	if revision == "" {
		return "", nil
	}
	from, dots, to := parts(revision)
	if dots == "" {
		return m.lookUp(ctx, revision)
	}
	if !c.ranges {
		return "", fmt.Errorf("%s takes one revision, and %s are two", c.name, quoted(revision))
	}
	for _, end := range []*string{&from, &to} {
		if *end == "" {
			*end = "HEAD"
		}
		var err error
		if *end, err = m.lookUp(ctx, *end); err != nil {
			return "", err
		}
	}
	return from + dots + to, nil
}

// parts takes a range apart. Dots within braces or behind a colon part nothing:
// they belong to a text that is looked for, or to a file's name.
func parts(revision string) (from, dots, to string) {
	for i, rest := range outside(revision) {
		for _, dots := range []string{"...", ".."} {
			if to, ok := strings.CutPrefix(rest, dots); ok {
				return revision[:i], dots, to
			}
		}
		if rest[0] == ':' {
			break
		}
	}
	return revision, "", ""
}

// fileOf gives the file that a revision names behind a colon, in a commit or in
// the index; "" where it names none, or the workspace.
func fileOf(revision string) string {
	file, _ := fileIn(revision)
	return file
}

// fileIn gives the file, and says whether the revision names one.
func fileIn(revision string) (file string, is bool) {
	for i, rest := range outside(revision) {
		if rest[0] != ':' {
			continue
		}
		file := rest[1:]
		if i == 0 && strings.HasPrefix(file, "/") {
			return "", false // a text that is looked for in messages
		}
		if stage := stages.FindString(file); i == 0 && stage != "" {
			file = file[len(stage):]
		}
		return file, true
	}
	return "", false
}

// stages is how a version of a file in the index is numbered.
var stages = regexp.MustCompile(`^[0-3]:`)

// outside goes through the places of a revision that lie within no braces, each
// with what follows from there on.
func outside(revision string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		braces := 0
		for i := range len(revision) {
			switch revision[i] {
			case '{':
				braces++
			case '}':
				braces = max(0, braces-1)
			}
			if braces == 0 && !yield(i, revision[i:]) {
				return
			}
		}
	}
}

// lookUp gives the hash of one revision.
func (m *mirror) lookUp(ctx context.Context, revision string) (string, error) {
	switch {
	case strings.HasPrefix(revision, "-"):
		return "", fmt.Errorf("%s is no revision: none begins with -", quoted(revision))
	case len(revision) > maxRevision:
		return "", fmt.Errorf("the revision has %d bytes; at most %d are possible", len(revision), maxRevision)
	case strings.ContainsAny(revision, "\x00\n\r"):
		return "", fmt.Errorf("%s is no revision: none has several lines", quoted(revision))
	}
	out, err := process.Ask(ctx, m.command("rev-parse", "--verify", "--quiet", "--end-of-options", revision))
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	found := strings.TrimSpace(string(out))
	if err != nil || !hash.MatchString(found) {
		return "", errors.New(unknown(revision))
	}
	return found, nil
}

func unknown(revision string) string {
	if at, file, ok := strings.Cut(revision, ":"); ok && at != "" {
		return fmt.Sprintf("there is no %s in the revision %s, or no such revision; log shows commits, show lists the files of a folder as %s:folder", quoted(file), quoted(at), quoted(at))
	}
	return fmt.Sprintf("there is no revision %s; log shows commits, and HEAD is the newest once there is one", quoted(revision))
}
