package tui

import (
	"context"
	"fmt"
	"slices"

	"github.com/skeinhq/skein"
	agents "github.com/skeinhq/skein/internal/agent"
)

// Missed gives whom a text names that is no agent, and what is to be said of that:
// who answers instead. It gives nothing where the text names an agent, or nobody.
func Missed(ctx context.Context, e *skein.Engine, t *skein.Thread, text string) (name, remark string, err error) {
	if name = skein.Named(text); agents.CheckName(name) != nil || slices.Contains(e.Agents(), name) {
		return "", "", nil
	}
	s, err := t.Settings(ctx)
	if err != nil {
		return "", "", err
	}
	return name, fmt.Sprintf("there is no agent named %q; %s answers", name, e.Answering(s)), nil
}
