package peer

import (
	"context"
	"fmt"
)

// Chat is one conversation, kept by one of the libraries.
type Chat interface {
	// Say stores what the user says; it is on disk when this returns.
	Say(ctx context.Context, text string) error

	// Answer stores the assistant's next message, likewise. Skein runs a turn of
	// the echo model instead, which does that among other things.
	Answer(ctx context.Context, text string) error

	// Load reads what the next turn needs, and says how many messages that are.
	Load(ctx context.Context) (messages int, err error)

	Close() error
}

// Sync says when a file is synced to disk.
type Sync string

// Full syncs each append. Off leaves it to the system, and is for filling.
const (
	Full Sync = "FULL"
	Off  Sync = "OFF"
)

// Library opens conversations.
type Library struct {
	Name string
	Open func(ctx context.Context, path string, s Sync) (Chat, error)
}

// Others are the peers.
var Others = []Library{
	{"adk-go", openADK},
	{"langchaingo", openLangchain},
}

func dsn(path string, s Sync) string {
	return fmt.Sprintf("file:%s?_journal_mode=WAL&_synchronous=%s&_busy_timeout=5000&_txlock=immediate", path, s)
}
