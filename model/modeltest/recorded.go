package modeltest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// Provider says from where an adapter's exchanges are recorded.
type Provider struct {
	URL    string // of the real API, up to where the adapter's paths begin
	KeyEnv string // the environment variable that has the key
}

// RecordEnv is the environment variable that, set to 1, makes [Recorded] ask the
// real provider and write its recordings anew.
const RecordEnv = "SKEIN_RECORD"

// Recordable is what the comment of a recording says that the real provider may
// be asked for.
const Recordable = "A real one may take its place."

// updateFlag is the flag that writes what is expected anew. The name is shared
// with other packages' tests, each of which has it for itself.
const updateFlag = "update"

// Recorded tries an adapter with recordings: files of txtar whose names fit the
// pattern. Each is asked with the recording's request and answered with its
// response, byte by byte; the bytes that the adapter sends and what it tells must
// be the recording's.
//
// With the test's flag -update, where the test has one, the bytes sent and what
// is told are written anew from the recorded response. With SKEIN_RECORD=1 and
// the provider's key in the environment the response is too: it is then the real
// provider's, without the secrets (see [Record]). Only a recording whose comment
// says [Recordable] is: no provider fails when it is asked to.
func Recorded(t *testing.T, open Opener, from Provider, pattern string) {
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no recording fits %s: %v", pattern, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			r := &recording{T: t, file: file, archive: txtar.Parse(data), open: open}
			if os.Getenv(RecordEnv) == "1" {
				r.record(from)
				return
			}
			r.replay(data)
		})
	}
}

// recording is one file that is tried.
type recording struct {
	*testing.T
	file    string
	archive *txtar.Archive
	open    Opener
}

func (r *recording) replay(data []byte) {
	p, err := NewReplay(data)
	if err != nil {
		r.Fatal(err)
	}
	told := r.ask(StartHandler(r.T, p))
	if f := flag.Lookup(updateFlag); f != nil && f.Value.String() == "true" {
		r.set(requestSection, p.Request())
		r.set(toldSection, told)
		r.write()
		return
	}
	r.compare(requestSection, p.Request())
	r.compare(toldSection, told)
}

// record asks the real provider and writes the file anew.
func (r *recording) record(from Provider) {
	if !bytes.Contains(r.archive.Comment, []byte(Recordable)) {
		r.Skip("it cannot be asked for")
	}
	p, err := NewRecord(from.URL, os.Getenv(from.KeyEnv))
	if err != nil {
		r.Skipf("%v (%s)", err, from.KeyEnv)
	}
	told := r.ask(StartHandler(r.T, p))
	request, response := p.Sections()
	r.archive.Comment = fmt.Appendf(nil, "Recorded from %s on %s, without secrets. %s\n\n", from.URL, time.Now().UTC().Format(time.DateOnly), Recordable)
	r.set(requestSection, request)
	r.set(responseSection, response)
	r.set(toldSection, told)
	r.write()
}

// ask asks the model at a URL with the recording's request and gives what was
// told, one event a line.
func (r *recording) ask(url string) []byte {
	var request model.Request
	if err := json.Unmarshal(section(r.archive, askSection), &request); err != nil {
		r.Fatalf("the section %q is no request: %v", askSection, err)
	}
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Minute)
	defer cancel()
	var out bytes.Buffer
	for e, err := range r.open(r.T, url).Stream(ctx, &request) {
		if err != nil {
			out.Write(toldError(err))
			break
		}
		out.Write(encode(e))
		out.WriteByte('\n')
	}
	return bytes.ReplaceAll(out.Bytes(), []byte(url), []byte("http://provider"))
}

// toldError is an error as a recording has it, with its cause.
func toldError(err error) []byte {
	var e *thread.Error
	if !errors.As(err, &e) {
		return fmt.Appendf(nil, "not a *thread.Error: %v\n", err)
	}
	cause := ""
	if e.Err != nil {
		cause = e.Err.Error()
	}
	return append(encode(fields{"error", e, "cause", cause}), '\n')
}

func (r *recording) compare(name string, got []byte) {
	want := section(r.archive, name)
	if bytes.Equal(got, want) {
		return
	}
	a, b := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := 0; i < len(a) || i < len(b); i++ {
		line := func(lines []string) string {
			if i < len(lines) {
				return lines[i]
			}
			return "(nothing)"
		}
		if line(a) != line(b) {
			r.Fatalf("%s: section %q, line %d:\ngot  %s\nwant %s", r.file, name, i+1, line(a), line(b))
		}
	}
}

func (r *recording) set(name string, data []byte) {
	if !bytes.HasSuffix(data, []byte("\n")) {
		data = append(bytes.Clone(data), '\n')
	}
	for i := range r.archive.Files {
		if r.archive.Files[i].Name == name {
			r.archive.Files[i].Data = data
			return
		}
	}
	r.archive.Files = append(r.archive.Files, txtar.File{Name: name, Data: data})
}

func (r *recording) write() {
	if err := os.WriteFile(r.file, txtar.Format(r.archive), 0o644); err != nil {
		r.Fatal(err)
	}
	r.Logf("%s is written anew", r.file)
}
