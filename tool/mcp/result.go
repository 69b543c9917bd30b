package mcp

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/tool"
)

const (
	maxFile  = 8 << 20 // bytes
	maxFiles = 16      // of one result
)

// output makes a tool's output of a result: its texts, one after the other, and
// its files. What is left out is said. A result that the server calls an error is
// one.
func (l *link) output(name string, r *sdk.CallToolResult) (tool.Output, error) {
	if r.NeedsInput() {
		return tool.Output{}, l.fault(thread.Response, "asks for input of a person in the call, which is not given; call it with all that it needs")
	}
	g := gathered{name: name}
	for _, c := range r.Content {
		g.content(c)
	}
	if len(g.texts) == 0 && r.StructuredContent != nil {
		raw, err := thread.Encode(r.StructuredContent)
		if err != nil {
			return tool.Output{}, err
		}
		g.say(string(raw))
	}
	out := g.output()
	if !r.IsError {
		return out, nil
	}
	if out.Text == "" {
		out.Text = "it does not say what"
	}
	return tool.Output{Files: out.Files}, errors.New("the MCP server " + l.server.Name + " reports an error: " + out.Text)
}

// gathered is a result's parts.
type gathered struct {
	name  string // of the tool; files are named after it
	texts []string
	size  int
	files []tool.File
}

func (g *gathered) output() tool.Output {
	return tool.Output{Text: strings.Join(g.texts, "\n"), Files: g.files}
}

// say adds a text, up to what is kept of an output.
func (g *gathered) say(text string) {
	text = text[:min(len(text), tool.MaxOutput-g.size)]
	if text == "" {
		return
	}
	g.size += len(text)
	g.texts = append(g.texts, text)
}

func (g *gathered) note(format string, args ...any) {
	g.say("[" + plain(fmt.Sprintf(format, args...), maxReason) + "]")
}

func (g *gathered) content(c sdk.Content) {
	switch c := c.(type) {
	case *sdk.TextContent:
		g.say(c.Text)
	case *sdk.ImageContent:
		g.file("image", "image/", c.MIMEType, "", c.Data)
	case *sdk.AudioContent:
		g.file("audio", "audio/", c.MIMEType, "", c.Data)
	case *sdk.ResourceLink:
		g.note("resource %s: %s %s", c.URI, firstOf(c.Title, c.Name), c.Description)
	case *sdk.EmbeddedResource:
		g.resource(c.Resource)
	default:
		g.note("a part of a kind that is not known was left out")
	}
}

// resource adds what a resource holds: a text for the model to read, anything
// else as a file.
func (g *gathered) resource(r *sdk.ResourceContents) {
	switch {
	case r == nil:
		g.note("an empty resource")
	case r.Blob != nil:
		mediaType := firstOf(r.MIMEType, "application/octet-stream")
		g.file("resource", "", mediaType, r.URI, r.Blob)
	default:
		g.note("resource %s", r.URI)
		g.say(r.Text)
	}
}

// file adds a file, if it is what it is said to be.
func (g *gathered) file(kind, family, said, uri string, data []byte) {
	mediaType, _, err := mime.ParseMediaType(said)
	wrong := ""
	switch {
	case err != nil || !strings.HasPrefix(mediaType, family):
		wrong = fmt.Sprintf("its media type is %q", said)
	case len(data) == 0:
		wrong = "it is empty"
	case len(data) > maxFile:
		wrong = fmt.Sprintf("it has %d bytes, at most %d", len(data), maxFile)
	case len(g.files) == maxFiles:
		wrong = fmt.Sprintf("it is the one after %d files", maxFiles)
	case strings.HasPrefix(mediaType, "image/"):
		wrong = notThatImage(mediaType, data)
	}
	if wrong != "" {
		g.note("%s %s was left out: %s", kind, uri, wrong)
		return
	}
	f := tool.File{Name: g.fileName(uri, mediaType), MediaType: mediaType, Data: data}
	g.files = append(g.files, f)
	g.note("%s %s: %s, %s, %d bytes", kind, uri, f.Name, mediaType, len(data))
}

// endings are the images and sounds that are known, by the end of their names.
var endings = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp",
	"audio/wav": ".wav", "audio/x-wav": ".wav", "audio/mpeg": ".mp3", "audio/ogg": ".ogg", "audio/flac": ".flac",
	"application/pdf": ".pdf", "application/json": ".json", "text/plain": ".txt",
}

// notThatImage says why bytes are not the image that they are said to be. Of a
// kind that has no recognizable beginning, the word is taken.
func notThatImage(mediaType string, data []byte) string {
	if endings[mediaType] == "" {
		return ""
	}
	if is := http.DetectContentType(data); is != mediaType {
		return fmt.Sprintf("it is said to be %s and is %s", mediaType, is)
	}
	return ""
}

var unsafeName = regexp.MustCompile(`[^a-zA-Z0-9._-]+`)

// fileName gives a file a harmless name: that of its resource, or the tool's.
func (g *gathered) fileName(uri, mediaType string) string {
	if name := strings.Trim(unsafeName.ReplaceAllString(path.Base(uri), "_"), "._"); uri != "" && name != "" && len(name) <= 100 {
		return name
	}
	return fmt.Sprintf("%s-%d%s", g.name, len(g.files)+1, firstOf(endings[mediaType], ".bin"))
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
