package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

const (
	maxListed = 1_000 // resources of one page
	maxURI    = 2_000 // characters, of a URI or a cursor
)

// resourceTools are the tools by which a model finds and reads a server's
// resources.
func (l *link) resourceTools() ([]tool.Tool, error) {
	name := l.server.Name
	list, err := tool.Raw(tool.Tool{
		Name:        name + "_list_resources",
		Description: "List the resources of the MCP server " + name + ", one on a line, with the URI to read each by. A long list comes in pages: the end says with which cursor it goes on.",
		Schema:      json.RawMessage(`{"type":"object","properties":{"cursor":{"type":"string","description":"where to go on, as the page before says"}},"additionalProperties":false}`),
		ReadOnly:    true,
	}, l.listResources)
	if err != nil {
		return nil, err
	}
	read, err := tool.Raw(tool.Tool{
		Name:        name + "_read_resource",
		Description: "Read a resource of the MCP server " + name + ".",
		Schema:      json.RawMessage(`{"type":"object","properties":{"uri":{"type":"string","description":"the resource's URI, as ` + name + `_list_resources gives it"}},"required":["uri"],"additionalProperties":false}`),
		ReadOnly:    true,
	}, l.readResource)
	return []tool.Tool{list, read}, err
}

func (l *link) listResources(ctx context.Context, input json.RawMessage) (tool.Output, error) {
	var in struct {
		Cursor string `json:"cursor"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return tool.Output{}, err
	}
	var page *sdk.ListResourcesResult
	templates := &sdk.ListResourceTemplatesResult{}
	err := l.use(ctx, func(ctx context.Context, s *sdk.ClientSession) (err error) {
		if page, err = s.ListResources(ctx, &sdk.ListResourcesParams{Cursor: in.Cursor}); err != nil || in.Cursor != "" {
			return err
		}
		told, err := s.ListResourceTemplates(ctx, nil)
		switch {
		case refusal(err) != nil: // it has none
			return nil
		case err == nil:
			templates = told
		}
		return err
	})
	if err != nil {
		return tool.Output{}, err
	}
	return tool.Output{Text: listed(page, templates)}, nil
}

// listed writes a page of resources.
func listed(page *sdk.ListResourcesResult, templates *sdk.ListResourceTemplatesResult) string {
	var b strings.Builder
	line := func(kind, uri, name, mediaType, description string) {
		about := strings.TrimSpace(plain(name, 200) + " " + plain(description, 300))
		fmt.Fprintf(&b, "%s%s (%s) %s\n", kind, plain(uri, maxURI), firstOf(plain(mediaType, 100), "any type"), about)
	}
	for i, r := range page.Resources {
		if i == maxListed {
			fmt.Fprintf(&b, "… %d more of this page are left out\n", len(page.Resources)-i)
			break
		}
		if r != nil {
			line("", r.URI, firstOf(r.Title, r.Name), r.MIMEType, r.Description)
		}
	}
	for i, t := range templates.ResourceTemplates {
		if t != nil && i < maxListed {
			line("template ", t.URITemplate, firstOf(t.Title, t.Name), t.MIMEType, t.Description)
		}
	}
	if b.Len() == 0 {
		b.WriteString("no resources\n")
	}
	if page.NextCursor != "" && len(page.NextCursor) <= maxURI {
		fmt.Fprintf(&b, "more: call this again with cursor %q\n", page.NextCursor)
	}
	return b.String()
}

func (l *link) readResource(ctx context.Context, input json.RawMessage) (tool.Output, error) {
	var in struct {
		URI string `json:"uri"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return tool.Output{}, err
	}
	var got *sdk.ReadResourceResult
	err := l.use(ctx, func(ctx context.Context, s *sdk.ClientSession) (err error) {
		got, err = s.ReadResource(ctx, &sdk.ReadResourceParams{URI: in.URI})
		return err
	})
	if err != nil {
		return tool.Output{}, err
	}
	if got.NeedsInput() {
		return tool.Output{}, l.fault(thread.Response, "asks for input of a person before it gives this, which is not given; read another resource")
	}
	g := gathered{name: l.server.Name + "_resource"}
	for _, c := range got.Contents {
		g.resource(c)
	}
	return g.output(), nil
}
