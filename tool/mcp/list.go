package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

const (
	maxTools       = 256   // of one server
	maxPages       = 64    // of its list
	maxDescription = 2_000 // characters
)

// set gives the server's tools as they are known, after asking for them where
// that is due and the server answers.
func (l *link) set(ctx context.Context) tool.Set {
	if s := l.patiently(ctx); s != nil {
		l.refresh(ctx, s)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return tool.Set{Name: l.server.Name, Tools: slices.Clone(l.tools)}
}

// patiently waits for a session, but for no try longer than its patience.
func (l *link) patiently(ctx context.Context) *session {
	d, s, err := l.ready()
	if d == nil || err != nil {
		return s
	}
	left := time.Until(d.begun.Add(l.client.bounds.patience))
	within, cancel := context.WithTimeout(ctx, max(left, 0))
	defer cancel()
	select {
	case <-d.done:
		return d.session
	case <-within.Done():
	}
	if ctx.Err() == nil && left > 0 {
		l.client.tell(fmt.Sprintf("the MCP server %s is still starting after %v, its tools are absent until it has", l.server.Name, l.client.bounds.patience))
	}
	return nil
}

// refresh asks for the tools if they are stale.
func (l *link) refresh(ctx context.Context, s *session) {
	within, cancel := context.WithTimeout(ctx, l.client.bounds.patience)
	defer cancel()
	select {
	case l.listing <- struct{}{}:
		defer func() { <-l.listing }()
	case <-within.Done():
		return
	}
	if !l.claim() {
		return
	}
	tools, err := l.offer(within, s)
	switch {
	case err == nil:
		l.mu.Lock()
		l.tools = tools
		l.mu.Unlock()
		return
	case ctx.Err() != nil:
		l.markStale()
		return
	}
	l.client.tell(fmt.Sprintf("the MCP server %s does not tell its tools: %s", l.server.Name, l.said(err)))
	switch {
	case refusal(err) != nil: // it would say the same again
	case within.Err() != nil:
		s.drop("it did not tell its tools in time")
		s.wait(ctx)
	default: // it has died, or would say the same again
		l.probe(ctx, s)
	}
}

// claim takes over to ask for the tools. What the server changes from here on
// makes them stale again.
func (l *link) claim() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.stale
	l.stale = false
	return was
}

// offer asks what a server offers: its tools, and those by which its resources
// are read.
func (l *link) offer(ctx context.Context, s *session) ([]tool.Tool, error) {
	told := s.InitializeResult()
	if told == nil || told.Capabilities == nil {
		return nil, nil
	}
	var theirs []*sdk.Tool
	if told.Capabilities.Tools != nil {
		var err error
		if theirs, err = l.list(ctx, s); err != nil {
			return nil, err
		}
	}
	names := l.names(theirs)
	var tools []tool.Tool
	for i, t := range theirs {
		if names[i] != "" {
			tools = append(tools, l.adopt(t, names[i]))
		}
	}
	if told.Capabilities.Resources != nil {
		ours, err := l.resourceTools()
		if err != nil {
			return nil, err
		}
		for _, t := range ours {
			if !slices.Contains(names, t.Name) { // a server's own tool goes first
				tools = append(tools, t)
			}
		}
	}
	slices.SortFunc(tools, func(a, b tool.Tool) int { return strings.Compare(a.Name, b.Name) })
	return tools, nil
}

// list asks for the tools, page by page.
func (l *link) list(ctx context.Context, s *session) ([]*sdk.Tool, error) {
	var tools []*sdk.Tool
	params := &sdk.ListToolsParams{}
	for range maxPages {
		page, err := s.ListTools(ctx, params)
		if err != nil {
			return nil, err
		}
		tools = append(tools, page.Tools...)
		if page.NextCursor == "" || len(tools) > maxTools {
			break
		}
		params = &sdk.ListToolsParams{Cursor: page.NextCursor}
	}
	// In an order of ours before any is left out, so that the same ones stay.
	slices.SortStableFunc(tools, func(a, b *sdk.Tool) int { return strings.Compare(a.Name, b.Name) })
	if len(tools) > maxTools {
		l.client.tell(fmt.Sprintf("the MCP server %s has more than %d tools, the rest is left out", l.server.Name, maxTools))
		tools = tools[:maxTools]
	}
	return tools, nil
}

var foreign = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// names gives each tool its name for a model, or "" where it has none of its own.
// A name depends on the server's names alone, not on their order: one that has to
// be cut, or that would be another's, ends with a fingerprint of the original.
func (l *link) names(tools []*sdk.Tool) []string {
	const most = 64
	prefix := l.server.Name + "_"
	clean := func(name string) string { return prefix + foreign.ReplaceAllString(name, "_") }
	count := map[string]int{}
	for _, t := range tools {
		count[clean(t.Name)]++
	}
	names := make([]string, len(tools))
	seen := map[string]bool{}
	for i, t := range tools {
		name := clean(t.Name)
		exact := name == prefix+t.Name
		if len(name) > most || (count[name] > 1 && !exact) {
			sum := sha256.Sum256([]byte(t.Name))
			mark := "_" + hex.EncodeToString(sum[:4])
			name = name[:min(len(name), most-len(mark))] + mark
		}
		if t.Name == "" || seen[name] {
			l.client.tell(fmt.Sprintf("the MCP server %s has a tool without a name of its own, %q, which is left out", l.server.Name, plain(t.Name, most)))
			continue
		}
		seen[name] = true
		names[i] = name
	}
	return names
}

// anything is the schema of a tool whose own cannot be used.
var anything = json.RawMessage(`{"type":"object"}`)

// adopt makes a server's tool one of ours.
func (l *link) adopt(t *sdk.Tool, name string) tool.Tool {
	description := t.Description
	if description == "" {
		description = t.Title
	}
	ours := tool.Tool{
		Name:        name,
		Description: plain(description, maxDescription),
		ReadOnly:    l.server.Trust && t.Annotations != nil && t.Annotations.ReadOnlyHint,
	}
	theirs := t.Name
	run := func(ctx context.Context, input json.RawMessage) (tool.Output, error) {
		return l.call(ctx, theirs, name, input)
	}
	checked, err := tool.Raw(withSchema(ours, t.InputSchema), run)
	if err == nil {
		return checked
	}
	l.client.tell(fmt.Sprintf("the MCP server %s: %s; it is told as one that takes any object", l.server.Name, plain(err.Error(), maxReason)))
	ours.Schema, ours.Run = anything, run
	return ours
}

// withSchema writes a schema in one order of its own: that of the names.
func withSchema(t tool.Tool, schema any) tool.Tool {
	if raw, err := thread.Encode(schema); err == nil {
		t.Schema = raw
	}
	return t
}

// call runs a server's tool.
func (l *link) call(ctx context.Context, theirs, ours string, input json.RawMessage) (out tool.Output, err error) {
	if len(input) == 0 {
		input = json.RawMessage(`{}`)
	}
	var result *sdk.CallToolResult
	err = l.use(ctx, func(ctx context.Context, s *sdk.ClientSession) (err error) {
		result, err = s.CallTool(ctx, &sdk.CallToolParams{Name: theirs, Arguments: input})
		return err
	})
	if err != nil {
		return tool.Output{}, err
	}
	return l.output(ours, result)
}
