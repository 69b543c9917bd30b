package line

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/skeinhq/skein/thread"
)

// openedKey is where a message's Meta says what its results opened.
const openedKey = "opened"

// Opened gives the Meta of a message that carries the results of those calls of
// the history tools, so that its line names what was opened:
//
//	{"opened":{"call-1":"opened 8+4","call-2":"looked for \"studio\""}}
//
// The keys are the calls' ids. Calls of other tools are passed over; it is nil
// where nothing was opened. Without it the line names the lines whose heads the
// result shows.
func Opened(calls ...thread.Part) json.RawMessage {
	what := map[string]string{}
	for _, c := range calls {
		describe, ok := openings[c.Name]
		if !ok {
			continue
		}
		var in struct {
			ID, N, Count int64
			Query        string
		}
		// An input that cannot be read opened nothing; its result is an error.
		if err := json.Unmarshal(c.Input, &in); err != nil {
			continue
		}
		what[c.ID] = describe(in.ID, max(in.N, in.Count, 1), in.Query)
	}
	if len(what) == 0 {
		return nil
	}
	meta, err := thread.Encode(map[string]any{openedKey: what})
	if err != nil {
		return nil
	}
	return meta
}

// openings says in words what a call of the history tools opened.
var openings = map[string]func(id, n int64, query string) string{
	thread.ZoomTool: func(id, n int64, _ string) string { return fmt.Sprintf("opened %d+%d", id, n) },
	thread.ReadTool: func(id, n int64, _ string) string {
		if n == 1 {
			return fmt.Sprintf("opened %d+1", id)
		}
		return fmt.Sprintf("opened %d to %d", id, id+n-1)
	},
	thread.SearchTool: func(_, _ int64, query string) string {
		return "looked for " + strconv.Quote(Clip(thread.OneLine(valid(query)), 200))
	},
}

// opening is what a derived result opened: as the message's Meta says, else the
// lines whose heads it shows.
func opening(meta json.RawMessage, result thread.Part) string {
	if what := openedBy(meta)[result.Call]; what != "" {
		return Clip(thread.OneLine(valid(what)), thread.LineBytes/2)
	}
	var shown []string
	for _, p := range result.Parts {
		text := p.Text[:wholeRune(p.Text, resultHead)]
		for l := range strings.Lines(text) {
			head, _, ok := strings.Cut(l, "|")
			if _, err := thread.ParseSpan(head); !ok || err != nil || len(shown) == maxOpened {
				continue
			}
			shown = append(shown, head)
		}
	}
	if len(shown) == 0 {
		return "opened"
	}
	return "opened " + strings.Join(shown, ", ")
}

// maxOpened is how many lines an opening names.
const maxOpened = 8

// openedBy reads what [Opened] wrote. A Meta of another form says nothing.
func openedBy(meta json.RawMessage) map[string]string {
	var m struct{ Opened map[string]string }
	if !bytes.Contains(meta, []byte(`"`+openedKey+`"`)) || json.Unmarshal(meta, &m) != nil {
		return nil
	}
	return m.Opened
}
