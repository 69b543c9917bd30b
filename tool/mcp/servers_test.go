package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

// The test binary is its own MCP servers: with this variable set it is the named
// one, on stdin and stdout.
const actAs = "SKEIN_TEST_MCP_SERVER"

func TestMain(m *testing.M) {
	if kind := os.Getenv(actAs); kind != "" {
		if err := acts[kind](); err != nil && !errors.Is(err, io.EOF) {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

var acts = map[string]func() error{
	"full":     func() error { return serve(full()) },
	"garbage":  garbage,
	"mute":     mute,
	"refuses":  func() error { fmt.Fprintln(os.Stderr, "no \x1b[31mlicence\x1b[0m"); os.Exit(3); return nil },
	"liar":     func() error { return liar(os.Stdin, os.Stdout) },
	"numb":     numb,
	"children": children,
	"stubborn": stubborn,
	"chatty":   chatty,
	"newest":   newest,
	"deadlist": deadlist,
	"beggar":   beggar,
}

func serve(s *sdk.Server) error { return s.Run(context.Background(), &sdk.StdioTransport{}) }

func say(format string, args ...any) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprintf(format, args...)}}}
}

// picture is a whole PNG.
func picture() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// full is a server that does what servers may do.
func full() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "full", Version: "1"}, nil)
	add := func(name string, do func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error)) {
		s.AddTool(&sdk.Tool{Name: name, Description: "it " + name + "s", InputSchema: json.RawMessage(`{"type":"object"}`)}, do)
	}
	sdk.AddTool(s, &sdk.Tool{
		Name: "add", Description: "Add  two\n numbers.\x1b[2J\u202e", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true},
	}, func(_ context.Context, _ *sdk.CallToolRequest, in struct {
		B int `json:"b"`
		A int `json:"a"`
	}) (*sdk.CallToolResult, any, error) {
		return say("%d", in.A+in.B), nil, nil
	})
	add("fail", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		r := say("the disk is full")
		r.IsError = true
		return r, nil
	})
	add("refuse", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return nil, errors.New("not on a Monday")
	})
	add("hang", func(ctx context.Context, _ *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		<-ctx.Done()
		fmt.Fprintln(os.Stderr, "hang was cancelled")
		return nil, ctx.Err()
	})
	add("die", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		os.Exit(7)
		return nil, nil
	})
	add("flood", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if os.Getenv(actAs) == "" { // over HTTP
			return say("%s", strings.Repeat("x", 17<<20)), nil
		}
		fmt.Print(`{"jsonrpc":"2.0","id":1,"result":"`)
		for range 50 {
			fmt.Print(strings.Repeat("x", 1<<20))
		}
		fmt.Println(`"}`)
		return say("that was all"), nil
	})
	add("large", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return say("%s", strings.Repeat("x", 2<<20)), nil
	})
	add("see", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{
			&sdk.TextContent{Text: "look"},
			&sdk.ImageContent{MIMEType: "image/png", Data: picture()},
			&sdk.ImageContent{MIMEType: "image/png", Data: []byte("<script>")},
			&sdk.ImageContent{MIMEType: "text/html", Data: []byte("<script>")},
			&sdk.ImageContent{MIMEType: "image/jpeg", Data: append([]byte("\xff\xd8\xff"), make([]byte, 8<<20)...)},
			&sdk.AudioContent{MIMEType: "audio/wav", Data: []byte("RIFF")},
			&sdk.ResourceLink{URI: "file:///log", Name: "the log", Description: "of\x07today"},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "mem://a", Text: "alpha"}},
			&sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "mem://x/../../b.bin", Blob: []byte{1, 2}}},
		}}, nil
	})
	add("structure", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{}, StructuredContent: map[string]any{"b": 1, "a": "<"}}, nil
	})
	add("grow", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		add("grown", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return say("I am new"), nil })
		return say("grown"), nil
	})
	add("ask", func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		var got []string
		_, err := r.Session.CreateMessage(ctx, &sdk.CreateMessageParams{MaxTokens: 5}) //nolint:staticcheck // servers of today ask so
		got = append(got, fmt.Sprint("sampling: ", err))
		_, err = r.Session.Elicit(ctx, &sdk.ElicitParams{Message: "your password?", RequestedSchema: json.RawMessage(`{"type":"object"}`)})
		got = append(got, fmt.Sprint("elicitation: ", err))
		roots, err := r.Session.ListRoots(ctx, nil) //nolint:staticcheck // servers of today ask so
		if err == nil {
			for _, root := range roots.Roots {
				got = append(got, "root: "+root.URI)
			}
		} else {
			got = append(got, fmt.Sprint("roots: ", err))
		}
		return say("%s", strings.Join(got, "\n")), nil
	})
	add("environment", func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		dir, err := os.Getwd()
		return say("%s\ndir %s %v", strings.Join(os.Environ(), "\n"), dir, err), nil
	})
	s.AddPrompt(&sdk.Prompt{Name: "greet", Arguments: []*sdk.PromptArgument{{Name: "who"}}}, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{
			{Role: "user", Content: &sdk.TextContent{Text: "Be kind to " + r.Params.Arguments["who"] + "."}},
			{Role: "user", Content: &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{URI: "mem://a", Text: "Always."}}},
		}}, nil
	})
	s.AddPrompt(&sdk.Prompt{Name: "paint"}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.ImageContent{MIMEType: "image/png", Data: picture()}}}}, nil
	})
	s.AddPrompt(&sdk.Prompt{Name: "long"}, func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: strings.Repeat("x", 300<<10)}}}}, nil
	})
	s.AddResource(&sdk.Resource{URI: "mem://a", Name: "alpha", MIMEType: "text/plain", Description: "the first\nletter"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: "mem://a", MIMEType: "text/plain", Text: "alpha"}}}, nil
	})
	s.AddResource(&sdk.Resource{URI: "mem://pic", Name: "pic", MIMEType: "image/png"}, func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: "mem://pic", MIMEType: "image/png", Blob: picture()}}}, nil
	})
	s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: "mem://day/{d}", Name: "day"}, func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return nil, sdk.ResourceNotFoundError(r.Params.URI)
	})
	return s
}

// garbage prints what is no message before and between messages.
func garbage() error {
	fmt.Println("Starting the server … \x1b[32mdone\x1b[0m")
	fmt.Println(`{"level":"info","msg":"listening"}`)
	fmt.Print(strings.Repeat("z", 100<<10), "\n\n")
	return serve(full())
}

// mute reads and never answers.
func mute() error {
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// message is what the servers written by hand read.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name   string `json:"name"`
		Cursor string `json:"cursor"`
	} `json:"params"`
}

// byHand answers each request with what answer gives; "" is no answer.
func byHand(in io.Reader, out io.Writer, answer func(message) string) error {
	d := json.NewDecoder(in)
	for {
		var m message
		if err := d.Decode(&m); err != nil {
			return err
		}
		text := answer(m)
		if m.Method == "initialize" && text == "" {
			text = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"hand","version":"1"}}`
		}
		if len(m.ID) == 0 || text == "" {
			continue
		}
		if _, err := fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, text); err != nil {
			return err
		}
	}
}

// liar says of its tools what is not so.
func liar(in io.Reader, out io.Writer) error {
	schemas := []string{
		`"no schema"`, `null`, `[]`, `{"type":"string"}`, `{"type":"object","$ref":"#"}`,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"allOf":[{"$ref":"#/$defs/x"}]}}}`,
		`{"type":"object","description":"` + strings.Repeat("x", 1<<20) + `"}`,
		`{"type":"object","properties":{"a":{"pattern":"("}}}`,
		`{"type":"object","properties":{"z":{"type":"integer"},"a":{"type":"string"}},"required":["z"]}`,
	}
	var tools []string
	for i, s := range schemas {
		tools = append(tools, fmt.Sprintf(`{"name":"s%d","inputSchema":%s}`, i, s))
	}
	slices.Reverse(tools)
	tools = append(tools, `{"name":"none"}`, `null`, `{"name":"","inputSchema":{"type":"object"}}`,
		`{"name":"a.b","inputSchema":{"type":"object"}}`, `{"name":"a b","inputSchema":{"type":"object"}}`, `{"name":"a_b","inputSchema":{"type":"object"}}`,
		`{"name":"a_b","inputSchema":{"type":"object"}}`, `{"name":"`+strings.Repeat("long", 30)+`","inputSchema":{"type":"object"}}`,
		`{"name":"wordy","description":"`+strings.Repeat("word ", 9_000)+`","inputSchema":{"type":"object"}}`)
	return byHand(in, out, func(m message) string {
		switch m.Method {
		case "tools/list":
			// The cursor leads on for ever.
			n, _ := strconv.Atoi(m.Params.Cursor)
			if n == 0 {
				return `{"nextCursor":"1","tools":[` + strings.Join(tools, ",") + `]}`
			}
			return fmt.Sprintf(`{"nextCursor":"%d","tools":[]}`, n+1)
		case "tools/call":
			// Notifications and requests that a careless client falls over.
			for _, method := range []string{"notifications/elicitation/complete", "notifications/cancelled", "notifications/resources/updated", "notifications/progress", "notifications/message", "notifications/tools/list_changed", "notifications/nonsense"} {
				fmt.Fprintf(out, `{"jsonrpc":"2.0","method":%q}`+"\n", method)
				fmt.Fprintf(out, `{"jsonrpc":"2.0","method":%q,"params":null}`+"\n", method)
			}
			fmt.Fprintln(out, `{"jsonrpc":"2.0","id":77,"result":{}}`)
			fmt.Fprintln(out, `{"jsonrpc":"2.0","id":"q","method":"elicitation/create"}`)
			if m.Params.Name == "s0" {
				return `{"content":[{"type":"hologram"}]}`
			}
			return `{"content":[{"type":"text","text":"fine"}]}`
		case "ping":
			return `{}`
		}
		return ""
	})
}

// numb shakes hands, tells one tool, and then answers nothing at all.
func numb() error {
	return byHand(os.Stdin, os.Stdout, func(m message) string {
		if m.Method == "tools/list" {
			return `{"tools":[{"name":"wait","inputSchema":{"type":"object"}}]}`
		}
		return ""
	})
}

// children starts a child that holds its pipes, and says its id in a call. Neither
// ends when its input does.
func children() error {
	child := exec.Command("sleep", "600")
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	if err := child.Start(); err != nil {
		return err
	}
	_ = byHand(os.Stdin, os.Stdout, func(m message) string {
		switch m.Method {
		case "tools/list":
			return `{"tools":[{"name":"child","inputSchema":{"type":"object"}}]}`
		case "tools/call":
			return fmt.Sprintf(`{"content":[{"type":"text","text":"%d"}]}`, child.Process.Pid)
		}
		return ""
	})
	return stay()
}

// stubborn does not end when its input does.
func stubborn() error {
	if err := serve(full()); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return stay()
}

func stay() error {
	for {
		time.Sleep(time.Hour)
	}
}

// chatty prints on stderr without end, then serves.
func chatty() error {
	for i := range 5_000 {
		fmt.Fprintf(os.Stderr, "line %d %s\n", i, strings.Repeat("y", 10_000*(i%2)))
	}
	return serve(full())
}

// newest speaks the newest protocol alone.
func newest() error {
	s := full()
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
			if method == "initialize" {
				return nil, errors.New("that handshake is of the past")
			}
			return next(ctx, method, r)
		}
	})
	return serve(s)
}

// deadlist dies when it is asked for its tools.
func deadlist() error {
	return byHand(os.Stdin, os.Stdout, func(m message) string {
		if m.Method == "tools/list" {
			os.Exit(9)
		}
		return ""
	})
}

// handler serves a server over streamable HTTP. Sessions that nobody took leave of
// end with the test.
func handler(t *testing.T, s *sdk.Server) http.Handler {
	t.Cleanup(func() {
		for session := range s.Sessions() {
			session.Close()
		}
	})
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
}

// asked gives a request's id and method.
func asked(t *testing.T, r *http.Request) (id, method string) {
	t.Helper()
	var m message
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		t.Error(err)
	}
	return string(m.ID), m.Method
}

// beggar asks and asks, in the handshake already, and reads no answer.
func beggar() error {
	for i := 0; ; i++ {
		if _, err := fmt.Printf(`{"jsonrpc":"2.0","id":%d,"method":"sampling/createMessage","params":{"maxTokens":1,"messages":[],"systemPrompt":%q}}`+"\n", i, strings.Repeat("please ", 1000)); err != nil {
			return err
		}
	}
}
