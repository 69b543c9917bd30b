package transcript_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/transcript"
)

// endless is a source of n records, made as it is read.
type endless struct {
	head, foot string
	record     func(i int) string
	n          int

	next int
	left []byte
}

func (s *endless) Read(p []byte) (int, error) {
	for len(s.left) == 0 {
		switch {
		case s.next == 0:
			s.left = []byte(s.head)
		case s.next <= s.n:
			s.left = []byte(s.record(s.next - 1))
		case s.next == s.n+1:
			s.left = []byte(s.foot)
		default:
			return 0, io.EOF
		}
		s.next++
	}
	n := copy(p, s.left)
	s.left = s.left[n:]
	return n, nil
}

func (s *endless) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekStart {
		return 0, errors.New("only back to the start")
	}
	s.next, s.left = 0, nil
	return 0, nil
}

var filler = strings.Repeat("a line of a file\\n", 300)

// endlessly gives sources of n records of about 5 KB.
var endlessly = map[string]func(n int) *endless{
	"pi list": func(n int) *endless {
		return &endless{head: v1 + "\n", n: n, record: func(i int) string {
			if i%2 == 0 {
				return flat(calls("c"+strconv.Itoa(i))) + "\n"
			}
			return flat(`{"role":"toolResult","toolCallId":"c`+strconv.Itoa(i-1)+`","toolName":"ls","content":[{"type":"text","text":"`+filler+filler+`"}]}`) + "\n"
		}}
	},
	"pi tree": func(n int) *endless {
		return &endless{head: v3 + "\n", n: n, record: func(i int) string {
			parent := ""
			if i > 0 {
				parent = strconv.Itoa(i - 1)
			}
			return said(strconv.Itoa(i), parent, `{"role":"user","content":"`+filler+`"}`) + "\n"
		}}
	},
	"chat": func(n int) *endless {
		return &endless{head: `{"messages":[{"role":"user","content":"hi"}`, foot: "]}", n: n, record: func(int) string {
			return `,{"role":"user","content":"` + filler + `"}`
		}}
	},
}

// TestMemoryDoesNotGrowWithTheSource reads sources of 20 MB.
func TestMemoryDoesNotGrowWithTheSource(t *testing.T) {
	const records, most = 4_000, 12 << 20
	for name, source := range endlessly {
		t.Run(name, func(t *testing.T) {
			r, err := transcript.Read(context.Background(), source(records), transcript.Options{})
			if err != nil {
				t.Fatal(err)
			}
			base := live()
			items, peak := 0, uint64(0)
			for _, err := range r.Items() {
				if err != nil {
					t.Fatal(err)
				}
				if items++; items%1000 == 0 {
					peak = max(peak, live())
				}
			}
			if items < records {
				t.Errorf("%d items of %d records", items, records)
			}
			if peak > base+most {
				t.Errorf("%d bytes are held, more than %d", peak-base, most)
			}
		})
	}
}

func live() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestTooLongLineIsPassedOver(t *testing.T) {
	if testing.Short() {
		t.Skip("it reads 65 MB")
	}
	source := &endless{head: v1 + "\n" + flat(user("before")) + "\n", foot: "\n" + flat(user("after")) + "\n", n: 65, record: func(int) string {
		return strings.Repeat("x", 1<<20)
	}}
	l := &log{}
	report, _, err := l.load(source, transcript.Options{})
	if err != nil {
		t.Fatal(err)
	}
	wantLog(t, l, "user user: before\nuser user: after")
	wantNotes(t, report, "3: the line is longer than 64 MB")
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{
		lines(v1, flat(user("hi")), flat(calls("a", "")), flat(result("a", "x")), flat(result("z", "x"))),
		lines(v3, said("a", "", user("one")), said("b", "a", calls("c")), said("b", "b", result("c", "y")), "{", said("d", "x", bot("z"))),
		lines(v3, `{"type":"message","id":7,"parentId":{},"message":{"role":"bashExecution","command":1}}`),
		`{"messages":[{"role":"user","content":[{"type":"image_url","image_url":"data:,"}]},{"role":"assistant","tool_calls":[{"function":{"arguments":{}}}]},{"role":"tool"}],"model":3}`,
		"[{\"role\":\"user\",\"content\":\"\xe2\",\"\xe2\":1}]",
		`[{"role":"assistant","function_call":{"name":"f"}},{"role":"function","name":"f","content":{}}]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		l := &log{}
		o := transcript.Options{Blob: func(mediaType, name string, data []byte) (thread.Part, error) {
			return thread.Part{Type: thread.BlobPart, MediaType: mediaType, Name: name, Size: int64(len(data))}, nil
		}}
		report, added, err := l.load(bytes.NewReader(source), o)
		if thread.CodeOf(err) == thread.Invalid && report.Format == "" {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if report.Read != report.Kept+report.Skipped || len(report.Notes)+report.Unnoted < report.Skipped+report.Repaired {
			t.Fatalf("the report does not add up: %+v", report)
		}
		if err := paired(l.entries); err != nil {
			t.Fatalf("%v in\n%s", err, l)
		}
		if added != len(l.entries) {
			t.Fatalf("%d added, %d there", added, len(l.entries))
		}
		for _, e := range l.entries {
			body, err := e.EncodeBody()
			if err != nil || !utf8.Valid(body) {
				t.Fatalf("entry that cannot be stored: %v: %q", err, body)
			}
			if e.Message.Author == "" || e.Message.Role == "" {
				t.Fatalf("message of nobody: %s", body)
			}
		}
		if _, again, err := l.load(bytes.NewReader(source), o); err != nil || again != 0 {
			t.Fatalf("once more adds %d: %v", again, err)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	for name, source := range endlessly {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			src := source(1000)
			size, err := io.Copy(io.Discard, src)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				r, err := transcript.Read(context.Background(), src, transcript.Options{})
				if err != nil {
					b.Fatal(err)
				}
				for _, err := range r.Items() {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
