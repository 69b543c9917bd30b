package git_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"

	"github.com/skeinhq/skein/tool/git"
)

func ExampleTool() {
	dir, err := os.MkdirTemp("", "workspace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	begin := exec.Command("git", "init", "-q", "-b", "main")
	begin.Dir, begin.Env = dir, clean()
	if err := begin.Run(); err != nil {
		fmt.Println(err)
		return
	}
	if err := os.WriteFile(dir+"/a.txt", []byte("a\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}

	look, err := git.Tool(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := look.Run(context.Background(), json.RawMessage(`{"command":"status"}`))
	fmt.Print(out.Text)
	fmt.Println(err)
	// Output:
	// ## No commits yet on main
	// ?? a.txt
	// <nil>
}
