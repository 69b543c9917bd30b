package transcript

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// maxLine is the most bytes of one line; a longer one is passed over.
const maxLine = 64 << 20

// errLongLine stands in for a line that is too long to be read.
var errLongLine = fmt.Errorf("the line is longer than %d MB", maxLine>>20)

// eachLine calls do for every line that holds anything, with its number from 1.
// Lines end at newlines alone: U+2028 may stand inside a JSON string. Runs of NUL
// bytes, which a crash leaves in a file, are taken off both ends. Broken UTF-8
// is mended. The line's bytes are good until do returns; tooLong is set for a
// line that is too long, whose bytes are not given.
func eachLine(ctx context.Context, src io.Reader, do func(number int64, line []byte, tooLong error) error) error {
	in := bufio.NewReaderSize(src, 256<<10)
	var buf []byte
	for number := int64(1); ; number++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, long, err := readLine(in, buf[:0])
		last := errors.Is(err, io.EOF)
		if err != nil && !last {
			return failed(err)
		}
		buf = line
		if number == 1 {
			line = bytes.TrimPrefix(line, utf8BOM)
		}
		line = bytes.Trim(line, "\x00 \t\r\n")
		if !utf8.Valid(line) {
			line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
		}
		switch {
		case long:
			if e := do(number, nil, errLongLine); e != nil {
				return e
			}
		case len(line) > 0:
			if e := do(number, line, nil); e != nil {
				return e
			}
		}
		if last {
			return nil
		}
	}
}

// readLine reads up to and with the next newline into buf.
func readLine(in *bufio.Reader, buf []byte) (line []byte, long bool, err error) {
	for {
		piece, err := in.ReadSlice('\n')
		if len(buf)+len(piece) > maxLine {
			long = true
			buf = buf[:0]
		}
		if !long {
			buf = append(buf, piece...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return buf, long, err
	}
}
