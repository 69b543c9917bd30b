package mcp_test

import (
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/skeinhq/skein/tool/mcp"
)

var toolName = regexp.MustCompile(`^srv_[a-zA-Z0-9_-]{1,60}$`)

func TestNamesAreUniqueAndDoNotDependOnTheirOrder(t *testing.T) {
	one := rapid.OneOf(rapid.StringMatching(`[ab._ ]{1,3}`), rapid.String(), rapid.StringMatching(`(long){16}[a-c.]{0,2}`))
	rapid.Check(t, func(t *rapid.T) {
		theirs := rapid.SliceOfDistinct(one.Filter(func(s string) bool { return s != "" }), rapid.ID).Draw(t, "names")
		given := map[string]string{}
		seen := map[string]bool{}
		for i, name := range mcp.Names(theirs) {
			if !toolName.MatchString(name) || seen[name] {
				t.Fatalf("%q became %q, of %q", theirs[i], name, theirs)
			}
			seen[name], given[theirs[i]] = true, name
			if exact := "srv_" + theirs[i]; toolName.MatchString(exact) && name != exact {
				t.Fatalf("%q became %q without need", theirs[i], name)
			}
		}
		shuffled := rapid.Permutation(theirs).Draw(t, "shuffled")
		again := map[string]string{}
		for i, name := range mcp.Names(shuffled) {
			again[shuffled[i]] = name
		}
		if diff := cmp.Diff(given, again); diff != "" {
			t.Fatal(diff)
		}
	})
}

// FuzzMessages: whatever a server prints, it is read to its end, and what is
// heard of it is bounded.
func FuzzMessages(f *testing.F) {
	f.Add([]byte("hello\n{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":1}\n\n[]\n"))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
	f.Add([]byte(strings.Repeat("[", 10_000) + "\n" + `{"jsonrpc":"2.0","id":1.5,"result":null}` + "\r\n"))
	f.Fuzz(func(t *testing.T, printed []byte) {
		messages, heard, err := mcp.Messages(printed)
		if !errors.Is(err, io.EOF) && messages < 64 {
			t.Errorf("after %d messages: %v", messages, err)
		}
		for _, line := range heard {
			if len(line) > 5_000 {
				t.Errorf("%d bytes were heard at once", len(line))
			}
		}
	})
}

// FuzzOutput: whatever a server answers becomes an output within bounds.
func FuzzOutput(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"text","text":"a"},{"type":"image","mimeType":"image/png","data":"iVBORw0KGgo="}],"isError":true}`))
	f.Add([]byte(`{"content":[{"type":"resource","resource":{"uri":"../../etc/passwd","blob":"AAA="}},{"type":"resource","resource":null}]}`))
	f.Add([]byte(`{"content":[{"type":"resource_link","uri":"x\u0000y"}],"structuredContent":[1,{"b":2,"a":1}]}`))
	f.Add([]byte(`{"content":[],"structuredContent":{"a":"<b>"}}`))
	f.Add([]byte(`{"content":null,"resultType":"input_required","inputRequests":{}}`))
	f.Fuzz(func(t *testing.T, result []byte) {
		out, err := mcp.Output(result)
		if err != nil {
			return
		}
		if len(out.Files) > 16 {
			t.Errorf("%d files", len(out.Files))
		}
		for _, file := range out.Files {
			harmful := func(r rune) bool { return r == '/' || r == '\\' || r > unicode.MaxASCII || unicode.IsControl(r) }
			if file.Name == "" || strings.IndexFunc(file.Name, harmful) >= 0 || strings.HasPrefix(file.Name, ".") || !strings.Contains(file.MediaType, "/") {
				t.Errorf("a file %q of type %q", file.Name, file.MediaType)
			}
		}
	})
}
