package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skeinhq/skein/thread"
)

// MaxPrompt is the most bytes of a prompt's text.
const MaxPrompt = 256 << 10

// Prompt gives the text of a server's prompt: that of its messages, with a blank
// line between. It waits for a server that is still starting, up to its Timeout.
// Errors: not-found (no such server), timeout, configuration (the server cannot
// be reached), response (it refuses, has something other than text, or more than
// MaxPrompt of it), aborted.
func (c *Client) Prompt(ctx context.Context, server, name string, args map[string]string) (string, error) {
	l, err := c.find(server)
	if err != nil {
		return "", err
	}
	var got *sdk.GetPromptResult
	err = l.use(ctx, func(ctx context.Context, s *sdk.ClientSession) (err error) {
		got, err = s.GetPrompt(ctx, &sdk.GetPromptParams{Name: name, Arguments: args})
		return err
	})
	var typed *thread.Error
	switch {
	case err == nil:
		return l.promptText(name, got)
	case errors.As(err, &typed):
		return "", err
	case errors.Is(err, context.DeadlineExceeded):
		return "", &thread.Error{Code: thread.Timeout, Op: "mcp", Message: fmt.Sprintf("the prompt %q of the MCP server %s did not come in time", name, server), Err: err}
	}
	return "", &thread.Error{Code: thread.Aborted, Op: "mcp", Message: fmt.Sprintf("the prompt %q of the MCP server %s was not waited for", name, server), Err: err}
}

func (l *link) promptText(name string, got *sdk.GetPromptResult) (string, error) {
	var texts []string
	size := 0
	for _, m := range got.Messages {
		text, ok := textOf(m)
		if !ok {
			return "", l.fault(thread.Response, "gave the prompt %q with a part that is no text; use another", name)
		}
		if size += len(text); size > MaxPrompt {
			return "", l.fault(thread.Response, "gave the prompt %q with more than %d bytes; use a shorter one", name, MaxPrompt)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n\n"), nil
}

func textOf(m *sdk.PromptMessage) (text string, ok bool) {
	if m == nil {
		return "", false
	}
	switch c := m.Content.(type) {
	case *sdk.TextContent:
		text, ok = c.Text, true
	case *sdk.EmbeddedResource:
		if c.Resource != nil && c.Resource.Blob == nil {
			text, ok = c.Resource.Text, true
		}
	}
	return strings.ToValidUTF8(text, string(utf8.RuneError)), ok
}
