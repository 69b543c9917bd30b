package skein_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/tool"
	"github.com/skeinhq/skein/tool/files"
)

// TestADeniedFileIsNotFoundByASearchForAll: an agent's permissions reach the tools
// that look at more than they are called for.
func TestADeniedFileIsNotFoundByASearchForAll(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	for name, text := range map[string]string{"secrets": "PASS secret\n", "asked": "PASS asked\n", "open": "PASS open\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	search, err := files.New(root).Search()
	if err != nil {
		t.Fatal(err)
	}
	const call = `{"calls":[{"id":"c","name":"search_files","input":{"pattern":"PASS"}}]}`
	rules := []tool.Rule{{Decision: tool.Deny, Paths: []string{"secrets"}}, {Decision: tool.Ask, Paths: []string{"asked"}}}
	type approves func(th *skein.Thread, ctx context.Context, by, call string) error
	const one, two = "open:1: PASS open\n[1 hits in 1 of 1 files]\n[2 files", "asked:1: PASS asked\nopen:1: PASS open\n[2 hits in 2 of 2 files]\n[1 files"
	for _, c := range []struct {
		about    string
		others   tool.Decision
		approves approves
		want     string
	}{
		{"others are allowed", tool.Allow, nil, one},
		{"others are asked about, and allowed once", tool.Ask, (*skein.Thread).Approve, one},
		{"others are asked about, and allowed for the thread", tool.Ask, (*skein.Thread).ApproveAlways, two},
	} {
		e := engine(t, skein.Config{
			Agents: []skein.Agent{{Name: "north", Permissions: tool.Permissions{Rules: rules, Default: c.others}}},
			Tools:  []tool.Tool{search}, Model: "scripted", Models: script(t, call, "done"),
		})
		th := open(t, e, "main", skein.Settings{})
		_, err := th.Ask(ctx, "ana", "find it")
		if c.approves != nil {
			waits(t, err)
			if err := c.approves(th, ctx, "ana", "c"); err != nil {
				t.Fatal(err)
			}
			err = th.Reply(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
		if texts, _ := results(t, th); !strings.HasPrefix(texts["c"], c.want) {
			t.Errorf("%s: %s", c.about, texts["c"])
		}
	}
}
