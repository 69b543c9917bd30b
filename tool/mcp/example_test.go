package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
	"github.com/skeinhq/skein/tool/mcp"
)

// A server's tools are called as any others. Here the test program itself is the
// server, in a process of its own.
func Example() {
	servers := []mcp.Server{{Name: "sums", Command: []string{os.Args[0]}, Env: map[string]string{actAs: "full"}}}
	if err := mcp.Check(servers); err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	client := mcp.Open(ctx, servers, func(warning string) { fmt.Println(warning) })
	defer client.Close()

	for _, set := range client.Sets(ctx) {
		call := thread.Call("1", "sums_add", json.RawMessage(`{"a":2,"b":3}`))
		answer, err := tool.Answer(ctx, set.Tools, call)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(set.Name, "says", answer.Result.Parts[0].Text)
	}
	greeting, err := client.Prompt(ctx, "sums", "greet", map[string]string{"who": "Ana"})
	fmt.Println(greeting, err)
	// Output:
	// sums says 5
	// Be kind to Ana.
	//
	// Always. <nil>
}
