package modeltest

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"image"
	_ "image/gif" // known formats, for their sizes
	_ "image/jpeg"
	_ "image/png"
	"net/http"
)

// picture is what a provider looks at before it takes an image.
type picture struct {
	kind          string // the media type that its bytes show
	width, height int
}

// look reads an image's kind and size from its bytes. Its kind is empty where it
// is no image that a provider knows.
func look(data []byte) picture {
	kind := http.DetectContentType(data)
	if kind == "image/webp" {
		w, h := webpSize(data)
		return picture{kind, w, h}
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return picture{}
	}
	return picture{kind, c.Width, c.Height}
}

// webpSize reads the size from the first chunk of a WebP file, which has one of
// three forms.
func webpSize(data []byte) (width, height int) {
	if len(data) < 30 {
		return 0, 0
	}
	switch string(data[12:16]) {
	case "VP8 ":
		return int(binary.LittleEndian.Uint16(data[26:]) & 0x3fff), int(binary.LittleEndian.Uint16(data[28:]) & 0x3fff)
	case "VP8L":
		bits := binary.LittleEndian.Uint32(data[21:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1
	case "VP8X":
		at := func(i int) int { return int(data[i]) | int(data[i+1])<<8 | int(data[i+2])<<16 }
		return at(24) + 1, at(27) + 1
	}
	return 0, 0
}

func unbase64(s string) ([]byte, bool) {
	data, err := base64.StdEncoding.DecodeString(s)
	return data, err == nil
}
