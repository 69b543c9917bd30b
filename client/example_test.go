package client_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/client"
	"github.com/skeinhq/skein/internal/server"
	"github.com/skeinhq/skein/store/memory"
	"github.com/skeinhq/skein/thread"
)

// A thread is made, followed, and spoken in; the answer comes by the watch.
func Example() {
	ctx := context.Background()
	url, stop := exampleServer(ctx)
	defer stop()

	c, err := client.New(client.Config{URL: url})
	if err != nil {
		panic(err)
	}
	if _, err := c.Create(ctx, client.NewThread{ID: "launch"}); err != nil {
		panic(err)
	}
	if _, err := c.Say(ctx, "launch", client.Message{Author: "ana", Text: "Ship on the 12th"}); err != nil {
		panic(err)
	}
	w := c.Watch("launch", client.WatchOptions{Tail: 10})
	for u, err := range w.Updates(ctx) {
		if err != nil {
			panic(err)
		}
		if u.View.Length == 2 {
			break
		}
	}
	for _, e := range w.View().Entries {
		fmt.Println(e.Message.Author+":", e.Message.PlainText())
	}
	// Output:
	// ana: Ship on the 12th
	// north: You said: ana: Ship on the 12th
}

// What fails has a code, and often says what to do.
func ExampleClient_Thread() {
	ctx := context.Background()
	url, stop := exampleServer(ctx)
	defer stop()

	c, err := client.New(client.Config{URL: url})
	if err != nil {
		panic(err)
	}
	_, err = c.Thread(ctx, "nowhere")
	fmt.Println(thread.CodeOf(err))
	// Output: not-found
}

// exampleServer serves an engine in memory.
func exampleServer(ctx context.Context) (url string, stop func()) {
	engine, err := skein.Open(ctx, skein.Config{Store: memory.New(memory.Options{})})
	if err != nil {
		panic(err)
	}
	s, err := server.New(ctx, server.Config{Engine: engine})
	if err != nil {
		panic(err)
	}
	h := httptest.NewServer(s)
	return h.URL, func() {
		h.CloseClientConnections()
		h.Close()
		if err := s.Close(); err != nil {
			panic(err)
		}
		if err := engine.Close(); err != nil {
			panic(err)
		}
	}
}
