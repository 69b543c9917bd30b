package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/internal/agent"
	"github.com/skeinhq/skein/internal/prompt"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/scripted"
	"github.com/skeinhq/skein/store/sqlite"
	"github.com/skeinhq/skein/thread"
)

// commands are what the scripts of the harness can do besides.
var commands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"until":     until,
	"steps":     steps,
	"validated": validated,
	"port":      port,
}

// comesWithin is how long a script waits for something that must come.
const comesWithin = 2 * time.Minute

// until waits until a command prints what a pattern matches: until PATTERN COMMAND…
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until PATTERN COMMAND…")
	}
	re, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	var printed string
	for end := time.Now().Add(comesWithin); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		err := ts.Exec(args[1], args[2:]...)
		if printed = ts.ReadFile("stdout"); err == nil && re.MatchString(printed) {
			return
		}
	}
	ts.Fatalf("%q never matched; at last it was\n%s%s", args[0], printed, ts.ReadFile("stderr"))
}

// steps writes a script of 60 replies that work in a repository: steps FILE [DELAY].
// The 20th runs a command that does not end soon; the 40th is thought about for
// DELAY; the 50th writes a file.
func steps(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: steps FILE [DELAY]")
	}
	var b strings.Builder
	write := func(r scripted.Reply) {
		data, err := json.Marshal(r)
		ts.Check(err)
		b.Write(append(data, '\n'))
	}
	call := func(name string, input any) scripted.Reply {
		data, err := json.Marshal(input)
		ts.Check(err)
		return scripted.Reply{Calls: []scripted.Call{{Name: name, Input: data}}}
	}
	type in map[string]any
	first := map[int]scripted.Reply{
		1:  call("load_skill", in{"name": "review"}),
		2:  call("git", in{"command": "status"}),
		3:  call("git", in{"command": "log"}),
		20: call("shell", in{"command": "echo step-20 >> log; touch at20; sleep 20"}),
		50: call("write_file", in{"path": "report.md", "content": "Eleven edits.\n"}),
		60: {Text: "All sixty steps are done."},
	}
	edits := 0
	for i := 1; i <= 60; i++ {
		r, ok := first[i]
		switch {
		case ok:
		case i%5 == 1:
			r = call("read_file", in{"path": "notes.md"})
		case i%5 == 2:
			r = call("edit_file", in{"path": "notes.md", "old": fmt.Sprintf("count: %d\n", edits), "new": fmt.Sprintf("count: %d\n", edits+1)})
			edits++
		case i%5 == 3:
			r = call("read_file", in{"path": "long.txt"})
		case i%5 == 4:
			r = call("search_files", in{"pattern": "harbour"})
		default:
			r = call("shell", in{"command": fmt.Sprintf("echo step-%d >> log", i)})
		}
		if i == 40 && len(args) > 1 {
			d, err := time.ParseDuration(args[1])
			ts.Check(err)
			r.Delay = scripted.Duration(d)
		}
		write(r)
	}
	b.WriteString(`{"summary": "They count in notes.md and keep a log."}` + "\n")
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o600))
}

// validated sees that the prompt of every answer of a thread can be made again and
// is valid for its model: validated DB THREAD ANSWERS.
func validated(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: validated DB THREAD ANSWERS")
	}
	ctx := context.Background()
	st, err := sqlite.Open(ctx, ts.MkAbs(args[0]), sqlite.Options{ReadOnly: true})
	ts.Check(err)
	found, err := agent.ReadDir(os.DirFS(ts.MkAbs("agents")))
	ts.Check(err)
	e, err := skein.Open(ctx, skein.Config{Store: st, Agents: found, ReadOnly: true})
	ts.Check(err)
	defer e.Close()
	t, err := e.Thread(ctx, args[1])
	ts.Check(err)
	rules, err := model.BuiltIn().Rules(model.Scripted)
	ts.Check(err)
	state, err := t.State(ctx)
	ts.Check(err)
	answers := 0
	for entry, err := range t.Messages(ctx, 0, state.Length) {
		ts.Check(err)
		if entry.Message == nil || entry.Message.Role != thread.Assistant {
			continue
		}
		answers++
		p, err := t.PromptAt(ctx, entry.Seq)
		if err == nil {
			err = prompt.Validate(&p.Request, rules)
		}
		if err != nil {
			ts.Fatalf("the prompt of the answer at %d: %v", entry.Seq, err)
		}
		if p.Stamp.Hash != entry.Message.Request.Hash {
			ts.Fatalf("the prompt of the answer at %d is another one now", entry.Seq)
		}
	}
	if fmt.Sprint(answers) != args[2] {
		ts.Fatalf("%d answers, want %s", answers, args[2])
	}
}

// toolServer is an MCP server over stdio: a tool that only reads, as it says, one
// that does not, and a prompt.
func toolServer() {
	if len(os.Args) > 1 { // a file that tells that it was started
		if err := os.WriteFile(os.Args[1], nil, 0o600); err != nil {
			panic(err)
		}
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "tides", Version: "1"}, nil)
	type place struct {
		Place string `json:"place"`
	}
	say := func(text string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
	}
	mcp.AddTool(s, &mcp.Tool{Name: "tide", Description: "Tells the tide.", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *mcp.CallToolRequest, in place) (*mcp.CallToolResult, any, error) {
			return say("high water in " + in.Place + " at noon, key " + os.Getenv("TIDE_KEY")), nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "book", Description: "Books a boat."},
		func(_ context.Context, _ *mcp.CallToolRequest, in place) (*mcp.CallToolResult, any, error) {
			return say("booked in " + in.Place), nil, nil
		})
	s.AddPrompt(&mcp.Prompt{Name: "manners"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "Speak of tides politely."}}}}, nil
	})
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		os.Exit(1)
	}
}
