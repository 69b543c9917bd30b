package files_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
	"github.com/skeinhq/skein/tool/files"
)

func Example() {
	dir, err := os.MkdirTemp("", "workspace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	root, err := os.OpenRoot(dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer root.Close()
	tools, err := files.New(root).Tools()
	if err != nil {
		fmt.Println(err)
		return
	}

	ctx := tool.WithCaller(context.Background(), tool.Caller{Thread: "t1"})
	for _, call := range []struct{ name, input string }{
		{"write_file", `{"path":"notes/today.md","content":"tea\nbread\n"}`},
		{"edit_file", `{"path":"notes/today.md","old":"tea","new":"coffee"}`},
		{"edit_file", `{"path":"notes/today.md","old":"milk","new":"cream"}`},
		{"read_file", `{"path":"../secret"}`},
	} {
		a, err := tool.Answer(ctx, tools, thread.Call("c", call.name, json.RawMessage(call.input)))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(a.Result.Parts[0].Text)
	}
	// Output:
	// [notes/today.md is written: 10 bytes, 2 lines]
	// [notes/today.md is changed, in line 1]
	// 1	coffee
	// 2	bread
	//
	// old does not occur in notes/today.md, nor anything like it; read the file again with read_file
	// the path ../secret holds ..; give it from the workspace, whose files alone can be reached
}
