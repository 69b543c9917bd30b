package skein_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/model/scripted"
	"github.com/skeinhq/skein/store/memory"
	"github.com/skeinhq/skein/store/sqlite"
	"github.com/skeinhq/skein/strategy"
	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

// A conversation in ten lines: open, say, be answered, look at the prompt, open
// a line of the outline and search.
func Example() {
	dir, err := os.MkdirTemp("", "skein")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	ctx := context.Background()
	st, err := sqlite.Open(ctx, filepath.Join(dir, "skein.db"), sqlite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	e, err := skein.Open(ctx, skein.Config{Store: st})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	t, err := e.OpenThread(ctx, "launch", skein.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	for _, text := range []string{"Plan the launch for December", "Venue is the old harbour hall"} {
		answer, err := t.Ask(ctx, "ana", text)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(answer)
	}
	p, err := t.Prompt(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("sections:", len(p.Sections))
	zoomed, err := t.Zoom(ctx, "ana", thread.Span{ID: 0, N: 1}, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(zoomed)
	found, err := t.Search(ctx, "ana", skein.SearchQuery{Text: "harbour"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("hits:", len(found.Hits))
	// Output:
	// You said: ana: Plan the launch for December
	// You said: ana: Venue is the old harbour hall
	// sections: 5
	// ana → north
	// Plan the launch for December
	// hits: 3
}

// An answer comes piece by piece.
func ExampleThread_Stream() {
	ctx := context.Background()
	e, err := skein.Open(ctx, skein.Config{Store: memory.New(memory.Options{})})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	t, err := e.OpenThread(ctx, "main", skein.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	for piece, err := range t.Stream(ctx, "ana", "one two") {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("[%s]", piece.Text)
	}
	fmt.Println()
	// Output:
	// [You ][said: ][ana: ][one ][two]
}

// A key makes a retry safe: said again, nothing is written and the first entry
// comes back.
func ExampleKey() {
	ctx := context.Background()
	e, err := skein.Open(ctx, skein.Config{Store: memory.New(memory.Options{}), Now: func() time.Time { return time.Unix(0, 0) }})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	t, err := e.OpenThread(ctx, "main", skein.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		entry, err := t.Say(ctx, "ana", "Ship on the 12th", skein.Key("device-7/msg-31"))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(entry.Seq, entry.Index)
	}
	_, err = t.Say(ctx, "ana", "Ship on the 13th", skein.Key("device-7/msg-31"))
	fmt.Println(thread.CodeOf(err))
	// Output:
	// 1 0
	// 1 0
	// conflict
}

// A fork shares its origin's past and goes on by itself.
func ExampleThread_Fork() {
	ctx := context.Background()
	e, err := skein.Open(ctx, skein.Config{Store: memory.New(memory.Options{})})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	t, err := e.OpenThread(ctx, "main", skein.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	for _, text := range []string{"one", "two"} {
		if _, err := t.Ask(ctx, "ana", text); err != nil {
			log.Fatal(err)
		}
	}
	fork, err := t.Fork(ctx, 1, "other", "")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := fork.Ask(ctx, "ana", "another two"); err != nil {
		log.Fatal(err)
	}
	for _, th := range []*skein.Thread{t, fork} {
		for entry, err := range th.Messages(ctx, 0, 99) {
			if err != nil {
				log.Fatal(err)
			}
			fmt.Printf("%s %d %s\n", th.ID(), entry.Index, entry.Message.PlainText())
		}
	}
	// Output:
	// main 0 one
	// main 1 You said: ana: one
	// main 2 two
	// main 3 You said: ana: two
	// other 0 one
	// other 1 You said: ana: one
	// other 2 another two
	// other 3 You said: ana: another two
}

// A call that the permissions ask about waits until somebody decides, here or in
// any other process.
func ExampleThread_Approve() {
	ctx := context.Background()
	write, err := tool.Make(tool.Tool{Name: "write", Description: "Writes a note."}, func(_ context.Context, in struct {
		Note string `json:"note"`
	}) (string, error) {
		return "written: " + in.Note, nil
	})
	if err != nil {
		log.Fatal(err)
	}
	script, err := scripted.Read(strings.NewReader(`{"calls": [{"name": "write", "input": {"note": "ship on the 12th"}}]}
Noted.`))
	if err != nil {
		log.Fatal(err)
	}
	e, err := skein.Open(ctx, skein.Config{
		Store:  memory.New(memory.Options{}),
		Agents: []skein.Agent{{Name: "north", Permissions: tool.Permissions{Rules: []tool.Rule{{Decision: tool.Ask, Tools: []string{"write"}}}}}},
		Tools:  []tool.Tool{write},
		Model:  "scripted", Models: func(string) (model.Model, error) { return script, nil },
	})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	t, err := e.OpenThread(ctx, "main", skein.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	_, err = t.Ask(ctx, "ana", "Note the date")
	fmt.Println(thread.CodeOf(err))
	asked, err := t.Pending(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(asked[0].Question)
	if err := t.Approve(ctx, "ana", asked[0].Call); err != nil {
		log.Fatal(err)
	}
	if err := t.Reply(ctx); err != nil {
		log.Fatal(err)
	}
	z, err := t.Zoom(ctx, "ana", thread.Span{ID: 3, N: 1}, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(z)
	// Output:
	// permission
	// write: {"note":"ship on the 12th"}
	// north → ana
	// Noted.
}

// A strategy of one's own is a name and a function; it stands in a chain like any
// other.
func ExampleConfig_strategies() {
	ctx := context.Background()
	newest := strategy.Strategy{Name: "newest", Compact: func(_ context.Context, in strategy.Input) (strategy.Result, error) {
		if len(in.Messages) <= 3 {
			return strategy.Result{}, nil // keep all
		}
		return strategy.Result{Messages: in.Messages[len(in.Messages)-3:], Reason: "more than three"}, nil
	}}
	e, err := skein.Open(ctx, skein.Config{Store: memory.New(memory.Options{}), Strategies: []strategy.Strategy{newest}})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	t, err := e.OpenThread(ctx, "main", skein.Settings{Strategy: "newest"})
	if err != nil {
		log.Fatal(err)
	}
	for _, text := range []string{"one", "two", "three", "four"} {
		if _, err := t.Ask(ctx, "ana", text); err != nil {
			log.Fatal(err)
		}
	}
	p, err := t.Prompt(ctx, "")
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range p.Request.Messages {
		if said := m.Parts[0].Text; !strings.HasPrefix(said, "<context") {
			fmt.Println(said)
		}
	}
	// Output:
	// ana: three
	// You said: ana: three
	// ana: four
	// You said: ana: four
}
