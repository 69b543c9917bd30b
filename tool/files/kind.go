package files

import (
	"bytes"
)

// sniffed is how many bytes at a file's start say whether it is text.
const sniffed = 8000

// magic is how files of well-known types begin.
var magic = []struct{ start, name string }{
	{"\x89PNG\r\n\x1a\n", "a PNG image"},
	{"\xff\xd8\xff", "a JPEG image"},
	{"GIF8", "a GIF image"},
	{"BM", "a BMP image"},
	{"%PDF-", "a PDF document"},
	{"PK\x03\x04", "a ZIP archive, or a document made of one"},
	{"\x1f\x8b", "gzip data"},
	{"\x28\xb5\x2f\xfd", "zstd data"},
	{"BZh", "bzip2 data"},
	{"\xfd7zXZ\x00", "xz data"},
	{"7z\xbc\xaf\x27\x1c", "a 7z archive"},
	{"\x7fELF", "an ELF program or library"},
	{"MZ", "a Windows program or library"},
	{"\xcf\xfa\xed\xfe", "a Mach-O program or library"},
	{"\xca\xfe\xba\xbe", "a Java class or Mach-O program"},
	{"\x00asm", "a WebAssembly module"},
	{"SQLite format 3\x00", "an SQLite database"},
	{"OggS", "Ogg audio or video"},
	{"ID3", "MP3 audio"},
	{"fLaC", "FLAC audio"},
	{"\x1aE\xdf\xa3", "Matroska or WebM video"},
	{"\xff\xfe", "UTF-16 text"},
	{"\xfe\xff", "UTF-16 text"},
}

// inner is how files say what they are some bytes after their start.
var inner = []struct {
	at          int
	start, name string
}{
	{8, "WEBP", "a WebP image"},
	{8, "WAVE", "WAV audio"},
	{4, "ftyp", "MP4 audio, video or a HEIF image"},
	{257, "ustar", "a tar archive"},
}

// binary says whether a file that begins like this holds something else than
// text, and what. PDF alone is named though it may begin without a NUL.
func binary(start []byte) (name string, is bool) {
	is = bytes.IndexByte(start, 0) >= 0 || bytes.HasPrefix(start, []byte("%PDF-"))
	if !is {
		return "", false
	}
	for _, m := range magic {
		if bytes.HasPrefix(start, []byte(m.start)) {
			return m.name, true
		}
	}
	for _, m := range inner {
		if len(start) > m.at && bytes.HasPrefix(start[m.at:], []byte(m.start)) {
			return m.name, true
		}
	}
	return "of an unknown type", true
}
