package skein_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The rules of the repository, checked on its own source. Each rule is a
// function from a tree to what it finds, so that arch_rules_test.go can show on
// small made-up trees that it is able to fail.

const module = "github.com/skeinhq/skein"

// floors says where each package stands. A package imports only floors below
// its own. One without a row stands where its nearest parent with a row does,
// and may import that parent; the root is nobody's parent.
var floors = map[string]float64{
	"cmd/skein":          12,
	"internal/server":    11,
	"internal/mcpserver": 11,
	"web":                11,
	"client":             11,
	"cmd/skein/tui":      11,
	"internal/replay":    10,
	"telemetry":          10,
	".":                  9,
	"internal/agent":     8,
	"strategy":           7,
	"internal/prompt":    6,
	"guide":              5,
	"tool":               4,
	"internal/recall":    3,
	"internal/window":    3,
	"internal/line":      2,
	"store":              1,
	"model":              1,
	"internal/outline":   1,
	"view":               1,
	"transcript":         1,
	"model/wire":         0.7, // below the providers beside it
	"internal/word":      0.5,
	"internal/process":   0.5,
	"thread":             0,
}

// heavy are the modules that only leaf packages may need: whoever imports the
// root and one store gets none of them.
var heavy = []string{
	"charm.land/",
	"github.com/alecthomas/kong",
	"github.com/anthropics/",
	"github.com/chromedp/",
	"github.com/coder/websocket",
	"github.com/danielgtaylor/huma",
	"github.com/gobwas/ws",
	"github.com/jackc/pgx",
	"github.com/mattn/go-sqlite3",
	"github.com/modelcontextprotocol/go-sdk",
	"github.com/nats-io/",
	"github.com/openai/",
	"github.com/prometheus/",
	"github.com/sashabaranov/go-openai",
	"go.opentelemetry.io/otel/exporters",
	"go.opentelemetry.io/otel/sdk",
	"golang.org/x/term",
	"net/http",
}

// The longest a file of Go may be, tests and generated ones aside.
const maxLines = 600

// The most files a package may have before its comment stands in doc.go.
const maxWithoutDoc = 3

// sourceFile is what the rules need to know of one Go file.
type sourceFile struct {
	path      string // from the repository's root
	text      string
	tree      *ast.File
	fset      *token.FileSet
	imports   []string // of the module's own packages, from the root
	test      bool
	generated bool
}

func (f *sourceFile) dir() string { return path.Dir(f.path) }

// sources reads every Go file of the main module. Modules of their own, hidden
// folders and testdata are none of it.
func sources(tree fs.FS) ([]sourceFile, error) {
	var files []sourceFile
	err := fs.WalkDir(tree, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skipped(tree, p)
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		f, err := source(tree, p)
		files = append(files, f)
		return err
	})
	return files, err
}

func skipped(tree fs.FS, dir string) error {
	if dir == "." {
		return nil
	}
	name := path.Base(dir)
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "node_modules" {
		return fs.SkipDir
	}
	if _, err := fs.Stat(tree, path.Join(dir, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

func source(tree fs.FS, p string) (sourceFile, error) {
	text, err := fs.ReadFile(tree, p)
	if err != nil {
		return sourceFile{}, err
	}
	f := sourceFile{path: p, text: string(text), fset: token.NewFileSet(), test: strings.HasSuffix(p, "_test.go")}
	if f.tree, err = parser.ParseFile(f.fset, p, text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
		return sourceFile{}, err
	}
	f.generated = ast.IsGenerated(f.tree)
	for _, spec := range f.tree.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return sourceFile{}, err
		}
		if imported == module {
			f.imports = append(f.imports, ".")
		} else if own, ok := strings.CutPrefix(imported, module+"/"); ok {
			f.imports = append(f.imports, own)
		}
	}
	return f, nil
}

// home gives the package of the floor table that dir belongs to.
func home(dir string) (pkg string, ok bool) {
	for p := dir; ; p = path.Dir(p) {
		if _, ok := floors[p]; ok && (p != "." || dir == ".") {
			return p, true
		}
		if p == "." {
			return "", false
		}
	}
}

// wrongArrows finds imports that do not lead down. Test files may import
// upward.
func wrongArrows(files []sourceFile) (found []string) {
	for _, f := range files {
		from, ok := home(f.dir())
		if !ok {
			found = append(found, fmt.Sprintf("%s: the package has no row in the floor table", f.path))
			continue
		}
		if f.test {
			continue
		}
		for _, to := range f.imports {
			if why := wrongArrow(f.dir(), from, to); why != "" {
				found = append(found, fmt.Sprintf("%s: %s", f.path, why))
			}
		}
	}
	return found
}

func wrongArrow(dir, from, to string) string {
	target, ok := home(to)
	switch {
	case !ok:
		return fmt.Sprintf("imports %s, which has no row in the floor table", to)
	case floors[target] < floors[from]:
		return ""
	case strings.HasPrefix(dir, to+"/"): // a sub-package and its parent
		return ""
	}
	return fmt.Sprintf("%s (floor %v) imports %s (floor %v)", dir, floors[from], to, floors[target])
}

// heavyAmong finds packages that belong in leaves.
func heavyAmong(deps []string) (found []string) {
	for _, dep := range deps {
		for _, h := range heavy {
			if dep == h || strings.HasPrefix(dep, strings.TrimSuffix(h, "/")+"/") {
				found = append(found, dep)
				break
			}
		}
	}
	return found
}

// undocumented finds packages that do not say what they are for, or say it in
// one file among many.
func undocumented(files []sourceFile) (found []string) {
	type pkg struct {
		files     int
		commented bool
		told      bool // in doc.go; for a command, in main.go
	}
	pkgs := map[string]*pkg{}
	var dirs []string
	for _, f := range files {
		if f.test {
			continue
		}
		p := pkgs[f.dir()]
		if p == nil {
			p = &pkg{}
			pkgs[f.dir()] = p
			dirs = append(dirs, f.dir())
		}
		p.files++
		if f.tree.Doc == nil || strings.TrimSpace(f.tree.Doc.Text()) == "" {
			continue
		}
		p.commented = true
		switch path.Base(f.path) {
		case "doc.go":
			p.told = true
		case "main.go":
			p.told = p.told || f.tree.Name.Name == "main"
		}
	}
	for _, dir := range dirs {
		switch p := pkgs[dir]; {
		case !p.commented:
			found = append(found, dir+": the package has no comment")
		case p.files > maxWithoutDoc && !p.told:
			found = append(found, fmt.Sprintf("%s: the package has %d files, and its comment is not in doc.go", dir, p.files))
		}
	}
	return found
}

// tooLong finds files that are more than one noun or one step.
func tooLong(files []sourceFile) (found []string) {
	for _, f := range files {
		if f.test || f.generated {
			continue
		}
		if n := strings.Count(f.text, "\n"); n > maxLines {
			found = append(found, fmt.Sprintf("%s: %d lines, at most %d", f.path, n, maxLines))
		}
	}
	return found
}

var vague = regexp.MustCompile(`^(utils?|commons?|helpers?|managers?|misc)(_|$)`)

// vagueNames finds packages and files whose names say nothing.
func vagueNames(files []sourceFile) (found []string) {
	for _, f := range files {
		names := append(strings.Split(f.dir(), "/"), f.tree.Name.Name, strings.TrimSuffix(path.Base(f.path), ".go"))
		if i := slices.IndexFunc(names, vague.MatchString); i >= 0 {
			found = append(found, fmt.Sprintf("%s: %q says nothing", f.path, names[i]))
		}
	}
	return found
}

// statements know SQL by how its statements begin, all in capitals or all in
// small letters; prose that begins so has one capital.
var statements = []*regexp.Regexp{sql(strings.ToUpper), sql(strings.ToLower)}

func sql(letters func(string) string) *regexp.Regexp {
	words := regexp.MustCompile(`[A-Z]{2,}`)
	pattern := `SELECT .* FROM |INSERT (OR [A-Za-z]+ )?INTO |UPDATE [^ ]+ SET |DELETE FROM |(CREATE|DROP|ALTER) (VIRTUAL |TEMP |UNIQUE )?(TABLE|INDEX|TRIGGER|VIEW) |PRAGMA [^ ]+|BEGIN (IMMEDIATE|EXCLUSIVE)|SAVEPOINT `
	pattern = words.ReplaceAllStringFunc(pattern, letters)
	return regexp.MustCompile(`^ *(` + pattern + `)`)
}

func isSQL(text string) bool {
	text = strings.Join(strings.Fields(text), " ") + " "
	return slices.ContainsFunc(statements, func(r *regexp.Regexp) bool { return r.MatchString(text) })
}

// strayQueries finds SQL, or a database driver, outside the stores.
func strayQueries(files []sourceFile) (found []string) {
	for _, f := range files {
		if f.test || strings.HasPrefix(f.path, "store/") {
			continue
		}
		for _, spec := range f.tree.Imports {
			if strings.Contains(spec.Path.Value, "database/sql") || strings.Contains(spec.Path.Value, "go-sqlite3") {
				found = append(found, fmt.Sprintf("%s: imports %s", f.path, spec.Path.Value))
			}
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			if text, err := strconv.Unquote(lit.Value); err == nil && isSQL(text) {
				found = append(found, fmt.Sprintf("%s: SQL outside store/: %.60q", f.fset.Position(lit.Pos()), text))
			}
			return true
		})
	}
	return found
}

// The markers are put together here so that this file holds none itself.
var leftover = regexp.MustCompile(`\b(` + strings.Join([]string{"TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"}, "|") + `)\b|panic\("(?i:to` + `do|not implemented|unimplemented)`)

// leftOvers finds notes of work that somebody meant to come back to.
func leftOvers(files []sourceFile) (found []string) {
	for _, f := range files {
		for i, text := range strings.Split(f.text, "\n") {
			if m := leftover.FindString(text); m != "" {
				found = append(found, fmt.Sprintf("%s:%d: %s", f.path, i+1, m))
			}
		}
	}
	return found
}

// sourceRules are the rules that need the source alone.
var sourceRules = map[string]func([]sourceFile) []string{
	"arrows lead down":           wrongArrows,
	"packages say what they are": undocumented,
	"files are short":            tooLong,
	"names say something":        vagueNames,
	"SQL lives in stores":        strayQueries,
	"nothing is left for later":  leftOvers,
}

func TestSourceKeepsTheRules(t *testing.T) {
	files, err := sources(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 50 {
		t.Fatalf("only %d Go files were found: the walk is broken", len(files))
	}
	for name, rule := range sourceRules {
		t.Run(name, func(t *testing.T) {
			for _, violation := range rule(files) {
				t.Error(violation)
			}
		})
	}
}

func TestHeavyModulesStayInLeaves(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".", "./store/sqlite", "./store/memory", "./model/echo", "./telemetry").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, module+"/thread") {
		t.Fatalf("go list gave %d packages and not thread", len(deps))
	}
	for _, dep := range heavyAmong(deps) {
		t.Errorf("who imports skein with a store gets %s", dep)
	}
}
