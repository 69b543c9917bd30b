package skein_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/store/sqlite"
	"github.com/skeinhq/skein/thread"
)

// must is for examples that are to be short.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// The example of README.md, which must show it line for line.
func Example_readme() {
	file := filepath.Join(must(os.MkdirTemp("", "skein")), "skein.db")
	defer os.RemoveAll(filepath.Dir(file))

	ctx := context.Background()
	st := must(sqlite.Open(ctx, file, sqlite.Options{}))
	engine := must(skein.Open(ctx, skein.Config{Store: st}))
	defer engine.Close()
	t := must(engine.OpenThread(ctx, "launch", skein.Settings{}))
	fmt.Println(must(t.Ask(ctx, "ana", "Ship on the 12th")))
	fmt.Println(must(t.Ask(ctx, "ana", "Book the harbour hall")))

	fmt.Println(must(t.Zoom(ctx, "ana", thread.Span{ID: 0, N: 2}, 1)))
	fmt.Println(must(t.Search(ctx, "ana", skein.SearchQuery{Text: "harbour"})).Hits[0].Text)

	// Output:
	// You said: ana: Ship on the 12th
	// You said: ana: Book the harbour hall
	// 0+1|ana → north: Ship on the 12th
	// 1+1|north → ana: You said: ana: Ship on the 12th
	// ana → north: Book the harbour hall
}

func TestReadmeShowsTheExample(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, ok := strings.Cut(string(readme), "<!-- example -->\n```go\n")
	shown, _, ended := strings.Cut(shown, "```")
	if !ok || !ended || strings.TrimSpace(shown) == "" {
		t.Fatal("README.md has no block of Go after <!-- example -->")
	}
	var indented strings.Builder
	for line := range strings.Lines(shown) {
		if strings.TrimSpace(line) != "" {
			indented.WriteString("\t")
		}
		indented.WriteString(line)
	}
	if !strings.Contains(string(source), indented.String()) {
		t.Errorf("README.md shows an example that is not the one that runs:\n%s", shown)
	}
}

var link = regexp.MustCompile(`\]\(([^)#\s]+)[^)]*\)`)

// brokenLinks finds links to files that are not there.
func brokenLinks(tree fs.FS, pages []string) (found []string, links int, err error) {
	for _, page := range pages {
		text, err := fs.ReadFile(tree, page)
		if err != nil {
			return nil, 0, err
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			links++
			if _, err := fs.Stat(tree, path.Join(path.Dir(page), m[1])); err != nil {
				found = append(found, page+": "+m[1])
			}
		}
	}
	return found, links, nil
}

func TestDocsLinkToWhatIsThere(t *testing.T) {
	tree := os.DirFS(".")
	pages := []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}
	docs, err := fs.Glob(tree, "docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found, links, err := brokenLinks(tree, append(pages, docs...))
	if err != nil {
		t.Fatal(err)
	}
	if links < 5 {
		t.Errorf("only %d links were found", links)
	}
	for _, l := range found {
		t.Error(l)
	}
}
