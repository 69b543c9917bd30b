package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skeinhq/skein/tool"
)

// OpenWith is Open with a clock for what is tried again, and with bounds of the
// test's.
func OpenWith(ctx context.Context, servers []Server, warn func(string), clock func() time.Time, patience, connect time.Duration) *Client {
	return open(ctx, servers, warn, clock, bounds{patience: patience, connect: connect})
}

// Plain makes one harmless line.
func Plain(s string, most int) string { return plain(s, most) }

// Wait is how long a server is left alone after failures.
var Wait = wait

// Messages reads what a server prints: how many messages, until which error, and
// what was heard as none.
func Messages(printed []byte) (messages int, heard []string, err error) {
	l := &lines{read: bufio.NewReaderSize(bytes.NewReader(printed), 16), hear: func(s string) { heard = append(heard, s) }}
	for {
		if _, err := l.next(context.Background()); err != nil {
			return messages, heard, err
		}
		messages++
	}
}

// Names gives the tools of a server named srv their names.
func Names(theirs []string) []string {
	l := &link{server: Server{Name: "srv"}, client: &Client{}}
	tools := make([]*sdk.Tool, len(theirs))
	for i, name := range theirs {
		tools[i] = &sdk.Tool{Name: name}
	}
	return l.names(tools)
}

// Output makes an output of a result as it comes from a server.
func Output(result []byte) (tool.Output, error) {
	var r sdk.CallToolResult
	if err := json.Unmarshal(result, &r); err != nil {
		return tool.Output{}, err
	}
	l := &link{server: Server{Name: "srv"}, client: &Client{}}
	return l.output("srv_act", &r)
}
