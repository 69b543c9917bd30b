package chat

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/skeinhq/skein/model"
)

// complaint is an error in any of the shapes in which servers give it: an object
// or a text under "error", a message or a detail of its own, or a list of one.
type complaint struct {
	Error   json.RawMessage `json:"error"`
	Message json.RawMessage `json:"message"`
	Detail  json.RawMessage `json:"detail"`
	Type    string          `json:"type"`
	Code    json.RawMessage `json:"code"`
	Status  string          `json:"status"`
}

// understand reads an error's body: a message for people, and what goes into f.
func understand(data []byte, f *model.Failure) (message string) {
	data = bytes.TrimSpace(data)
	if list := []json.RawMessage(nil); json.Unmarshal(data, &list) == nil && len(list) > 0 {
		data = list[0]
	}
	if text := ""; json.Unmarshal(data, &text) == nil {
		return text
	}
	var c complaint
	if json.Unmarshal(data, &c) != nil {
		return ""
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return understand(c.Error, f)
	}
	code := strings.Trim(string(c.Code), `"`)
	if n, err := strconv.Atoi(code); err == nil && n >= 400 && n < 600 {
		f.Status = n
		code = ""
	}
	if code == "null" {
		code = ""
	}
	f.Type = strings.Join(strings.Fields(c.Type+" "+code+" "+c.Status), " ")
	for _, m := range []json.RawMessage{c.Message, c.Detail} {
		if text := ""; json.Unmarshal(m, &text) == nil && text != "" {
			return text
		}
		if len(m) > 0 && string(m) != "null" {
			return string(m)
		}
	}
	return ""
}
