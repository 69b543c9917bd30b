package transcript

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"github.com/skeinhq/skein/thread"
)

// blob keeps an attachment given in base64. ok is false where it has to stay
// raw: nobody keeps blobs, or it is no base64.
func (r *Reader) blob(mediaType, name, data string) (p thread.Part, ok bool, err error) {
	if r.opts.Blob == nil || data == "" {
		return thread.Part{}, false, nil
	}
	bytes, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		if bytes, err = base64.RawStdEncoding.DecodeString(data); err != nil {
			return thread.Part{}, false, nil
		}
	}
	p, err = r.opts.Blob(mediaType, name, bytes)
	return p, err == nil, err
}

// dataURL takes data:image/png;base64,… apart.
func dataURL(url string) (mediaType, data string, ok bool) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return "", "", false
	}
	head, data, ok := strings.Cut(rest, ",")
	mediaType, coded := strings.CutSuffix(head, ";base64")
	return mediaType, data, ok && coded
}

// rawPart keeps what nothing else can.
func rawPart(data json.RawMessage) thread.Part {
	return thread.Part{Type: thread.RawPart, Raw: data}
}

// input makes a call's input an object, which every provider asks for. Anything
// else goes into the object's field "arguments"; changed says so.
func input(text string) (in json.RawMessage, changed bool) {
	text = strings.TrimSpace(text)
	if text == "" || text == "null" {
		return nil, false
	}
	var value any = text
	if json.Valid([]byte(text)) {
		if text[0] == '{' {
			return json.RawMessage(text), false
		}
		value = json.RawMessage(text)
	}
	in, err := thread.Encode(struct {
		Arguments any `json:"arguments"`
	}{value})
	if err != nil { // cannot be: a string and valid JSON can be written
		panic(err)
	}
	return in, true
}

// milliseconds makes a time as Skein keeps them.
func milliseconds(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC().Truncate(time.Millisecond)
}

// shortHash tells keys apart where the source gives no ids.
func shortHash(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
