package guide_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing/fstest"

	"github.com/skeinhq/skein/guide"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

// A review skill with the git tool: the tool is locked until the messages show
// that the skill was loaded.
func Example() {
	ctx := context.Background()
	git := tool.Tool{
		Name: "git", Description: "Shows what changed.", ReadOnly: true, Schema: json.RawMessage(`{"type":"object"}`),
		Run: func(context.Context, json.RawMessage) (tool.Output, error) { return tool.Output{Text: "+ a line"}, nil },
	}
	skills := guide.Skills{{
		Name: "review", Description: "How we review a change. Load it before any review.",
		Instructions: guide.Text("Read the whole change before you say anything."),
		Tools:        []tool.Tool{git},
	}}
	if err := skills.Check(nil); err != nil {
		fmt.Println(err)
		return
	}
	var messages []thread.Entry // of the thread, as the model sees them
	load, err := skills.LoadTool(guide.Input{}, func(context.Context) ([]string, error) {
		return guide.Loaded("north", messages), nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	reason, _ := skills.Denied("git", guide.Loaded("north", messages))
	fmt.Println(reason)

	call := thread.Call("1", guide.LoadSkill, json.RawMessage(`{"name":"review"}`))
	answered, err := tool.Answer(ctx, append(skills.Tools(), load), call)
	if err != nil {
		fmt.Println(err)
		return
	}
	messages = append(messages,
		thread.Say(thread.Message{Author: "north", Role: thread.Assistant, Parts: []thread.Part{call}}),
		thread.Say(thread.Message{Author: guide.LoadSkill, Role: thread.Tool, Parts: []thread.Part{answered.Result}}))
	fmt.Println(answered.Result.Parts[0].Text)

	loaded := guide.Loaded("north", messages)
	for _, k := range skills {
		var open []string
		for _, t := range k.Tools {
			if _, denied := skills.Denied(t.Name, loaded); !denied {
				open = append(open, t.Name)
			}
		}
		fmt.Println(k.Name, open)
	}
	// Output:
	// Load the review skill with load_skill before using git
	// Read the whole change before you say anything.
	//
	// Tools now available: git
	// review [git]
}

func ExampleResolve() {
	in := guide.Input{
		Workspace: fstest.MapFS{"AGENTS.md": {Data: []byte("Run the tests before you say that it works.\n")}},
		Model:     "echo",
	}
	text, err := guide.Resolve(context.Background(), []guide.Instruction{
		guide.Text("You are north."),
		guide.AgentsFile(),
		{Name: "model", Resolve: func(_ context.Context, in guide.Input) (string, error) {
			return "You run on " + in.Model + ".", nil
		}},
	}, in)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(text)
	// Output:
	// You are north.
	//
	// Run the tests before you say that it works.
	//
	// You run on echo.
}

func ExampleFolder() {
	dir := fstest.MapFS{
		"release/SKILL.md":      {Data: []byte("---\nname: release\ndescription: How we release.\n---\nFollow steps.md.\n")},
		"release/steps.md":      {Data: []byte("1. Tag.\n")},
		"review/SKILL.md":       {Data: []byte("---\nname: review\ndescription: How we review a change.\n---\nRead it all.\n")},
		"review/guides/code.md": {},
	}
	skills, err := guide.Folder(dir, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(skills.Catalogue())
	// Output:
	// Skills, each for the work its line names; before such work, load it with load_skill:
	// - release: How we release.
	// - review: How we review a change.
}
