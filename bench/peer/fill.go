package peer

import (
	"context"
	"fmt"

	"github.com/skeinhq/skein/bench/long"
	"github.com/skeinhq/skein/bench/talk"
)

// File gives a file that holds the conversation's first n messages, kept between
// runs like those of package long.
func (l Library) File(ctx context.Context, n int64) (string, error) {
	return long.Cached(fmt.Sprintf("%s-%d.db", l.Name, n), func(path string) error {
		chat, err := l.Open(ctx, path, Off)
		if err != nil {
			return err
		}
		said := talk.New(long.Seed)
		for range n {
			keep, m := chat.Answer, said.Next()
			if m.User {
				keep = chat.Say
			}
			if err = keep(ctx, m.Text); err != nil {
				break
			}
		}
		if closed := chat.Close(); err == nil {
			err = closed
		}
		return err
	})
}
