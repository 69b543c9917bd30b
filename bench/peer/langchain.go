package peer

import (
	"context"
	"database/sql"
	"math"

	"github.com/tmc/langchaingo/memory/sqlite3"
)

type langchain struct {
	history *sqlite3.SqliteChatMessageHistory
}

func openLangchain(ctx context.Context, path string, s Sync) (Chat, error) {
	db, err := sql.Open("sqlite3", dsn(path, s))
	if err != nil {
		return nil, err
	}
	if err := db.PingContext(ctx); err != nil {
		return nil, err
	}
	// The default limit would leave out all but the oldest thousand messages.
	return &langchain{sqlite3.NewSqliteChatMessageHistory(
		sqlite3.WithContext(ctx), sqlite3.WithDB(db), sqlite3.WithSession("main"), sqlite3.WithLimit(math.MaxInt32),
	)}, nil
}

func (l *langchain) Say(ctx context.Context, text string) error {
	return l.history.AddUserMessage(ctx, text)
}

func (l *langchain) Answer(ctx context.Context, text string) error {
	return l.history.AddAIMessage(ctx, text)
}

func (l *langchain) Load(ctx context.Context) (int, error) {
	messages, err := l.history.Messages(ctx)
	return len(messages), err
}

func (l *langchain) Close() error { return l.history.DB.Close() }
