package peer_test

import (
	"path/filepath"
	"testing"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/bench/long"
	"github.com/skeinhq/skein/bench/peer"
)

func TestPeersKeepWhatIsSaid(t *testing.T) {
	for _, library := range peer.Others {
		t.Run(library.Name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "chat.db")
			for opened := range 2 {
				chat, err := library.Open(t.Context(), path, peer.Full)
				if err != nil {
					t.Fatal(err)
				}
				talkFor(t, chat, 5)
				loads(t, chat, 10*(opened+1))
				if err := chat.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestSkeinKeepsWhatIsSaid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "skein.db")
	e, err := long.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.OpenThread(t.Context(), "main", skein.Settings{}); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for opened := range 2 {
		chat, err := peer.OpenSkein(t.Context(), path, "main")
		if err != nil {
			t.Fatal(err)
		}
		talkFor(t, chat, 5)
		loads(t, chat, 10*(opened+1)+1) // the prompt tells the day, too
		if err := chat.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFilesHoldAllThatWasFilledIn(t *testing.T) {
	t.Setenv("SKEIN_BENCH_DIR", t.TempDir())
	for _, library := range peer.Others {
		path, err := library.File(t.Context(), 30)
		if err != nil {
			t.Fatal(err)
		}
		chat, err := library.Open(t.Context(), path, peer.Full)
		if err != nil {
			t.Fatal(err)
		}
		loads(t, chat, 30)
		if err := chat.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func talkFor(t *testing.T, chat peer.Chat, turns int) {
	t.Helper()
	for range turns {
		if err := chat.Say(t.Context(), "Is the harbour hall free on the 12th?"); err != nil {
			t.Fatal(err)
		}
		if err := chat.Answer(t.Context(), "It is."); err != nil {
			t.Fatal(err)
		}
	}
}

func loads(t *testing.T, chat peer.Chat, want int) {
	t.Helper()
	n, err := chat.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n != want {
		t.Errorf("%d messages were loaded, want %d", n, want)
	}
}
