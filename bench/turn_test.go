package bench_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/bench/long"
	"github.com/skeinhq/skein/bench/peer"
	"github.com/skeinhq/skein/bench/talk"
)

// peerMessages is how long the conversation is that all libraries keep.
func peerMessages() int64 {
	if testing.Short() {
		return 500
	}
	return 10_000
}

// libraries opens the same conversation in each library, in a file of its own.
func libraries() []peer.Library {
	mine := peer.Library{Name: "skein", Open: func(ctx context.Context, path string, _ peer.Sync) (peer.Chat, error) {
		return peer.OpenSkein(ctx, path, long.ID(peerMessages()))
	}}
	return append([]peer.Library{mine}, peer.Others...)
}

func conversationFile(b *testing.B, l peer.Library) string {
	b.Helper()
	var kept string
	var err error
	if l.Name == "skein" {
		kept, err = long.File(b.Context(), peerMessages(), skein.Settings{})
	} else {
		kept, err = l.File(b.Context(), peerMessages())
	}
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "chat.db")
	copyFile(b, kept, path)
	return path
}

func copyFile(b *testing.B, from, to string) {
	b.Helper()
	in, err := os.Open(from)
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		b.Fatal(err)
	}
	if err := out.Close(); err != nil {
		b.Fatal(err)
	}
}

func open(b *testing.B, l peer.Library, path string) peer.Chat {
	b.Helper()
	chat, err := l.Open(b.Context(), path, peer.Full)
	if err != nil {
		b.Fatal(err)
	}
	return chat
}

func closeChat(b *testing.B, chat peer.Chat) {
	b.Helper()
	if err := chat.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkAppend stores one message, synced to disk.
func BenchmarkAppend(b *testing.B) {
	for _, l := range libraries() {
		b.Run("impl="+l.Name, func(b *testing.B) {
			chat := open(b, l, conversationFile(b, l))
			defer closeChat(b, chat)
			said := talk.New(3)
			b.ReportAllocs()
			for b.Loop() {
				if err := chat.Say(b.Context(), said.Next().Text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkLoad reads what the next turn needs, in a program that has the
// conversation open.
func BenchmarkLoad(b *testing.B) {
	for _, l := range libraries() {
		b.Run("impl="+l.Name, func(b *testing.B) {
			chat := open(b, l, conversationFile(b, l))
			defer closeChat(b, chat)
			load(b, chat)
			b.ReportAllocs()
			for b.Loop() {
				load(b, chat)
			}
		})
	}
}

// BenchmarkLoadCold does that from the file alone: it opens the conversation
// first.
func BenchmarkLoadCold(b *testing.B) {
	for _, l := range libraries() {
		b.Run("impl="+l.Name, func(b *testing.B) {
			path := conversationFile(b, l)
			b.ReportAllocs()
			for b.Loop() {
				chat := open(b, l, path)
				load(b, chat)
				b.StopTimer()
				closeChat(b, chat)
				b.StartTimer()
			}
		})
	}
}

// BenchmarkTurn is all that stands between what the user says and the call of
// the model: store it, then read what the turn needs. The answer is stored
// without being timed.
func BenchmarkTurn(b *testing.B) {
	for _, l := range libraries() {
		b.Run("impl="+l.Name, func(b *testing.B) {
			chat := open(b, l, conversationFile(b, l))
			defer closeChat(b, chat)
			load(b, chat)
			said := talk.New(4)
			b.ReportAllocs()
			for b.Loop() {
				if err := chat.Say(b.Context(), said.Next().Text); err != nil {
					b.Fatal(err)
				}
				load(b, chat)
				b.StopTimer()
				if err := chat.Answer(b.Context(), said.Next().Text); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
		})
	}
}

func load(b *testing.B, chat peer.Chat) {
	b.Helper()
	n, err := chat.Load(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	if n == 0 {
		b.Fatal("nothing was loaded")
	}
}
