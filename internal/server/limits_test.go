package server_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/internal/server"
	"github.com/skeinhq/skein/view"
)

// size is a number of bytes as the pages write it.
func size[N int | int64](n N) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MB", n>>20)
	}
	return fmt.Sprintf("%d KB", n>>10)
}

// span is a time as the pages write it.
func span(d time.Duration) string {
	switch {
	case d >= 24*time.Hour:
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	case d > time.Minute:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%d s", d/time.Second)
}

// many is a number as the pages write it.
func many(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// The pages name the limits that are in force.
func TestThePagesNameTheLimits(t *testing.T) {
	l, talk, replies, queued := server.Defaults()
	for page, want := range map[string][]string{
		"server.md": {
			fmt.Sprintf("| body, blob, header | %s, %s, %s |", size(l.Body), size(l.Blob), size(l.Header)),
			fmt.Sprintf("| a body that shows a token | %s in %s |", size(l.Sign), span(l.SignTime)),
			fmt.Sprintf("| blobs on their way at once, of everybody | %s; who finds no room within %s gets", size(l.Blobs), span(l.BlobTime)),
			fmt.Sprintf("| requests a second | %v of a token (%s at once), %v from an address (%s at once) |", l.Rate, many(l.Burst), l.AddressRate, many(l.AddressBurst)),
			fmt.Sprintf("| refused tokens | %d at once", l.Failures),
			fmt.Sprintf("| connections, streams of a token | %s, %s |", many(l.Connections), many(l.Streams)),
			fmt.Sprintf("| watches of a socket, its calls that run at once | %d, %d |", l.Watches, l.Calls),
			fmt.Sprintf("| %d, and %s of those that no operation answered; with %s of answers", replies, size(talk), size(queued)),
			fmt.Sprintf("| time for a header, a body, between requests | %s, %s, %s |", span(l.HeaderTime), span(l.BodyTime), span(l.IdleTime)),
			fmt.Sprintf("| time to take an answer | %s |", span(l.AnswerTime)),
			fmt.Sprintf("| a stream or a blob without progress | %s |", span(l.Stall)),
			fmt.Sprintf("| signs of life of a stream | every %s |", span(l.Ping)),
			fmt.Sprintf("| a ticket, a session | %s, %s |", span(l.Ticket), span(l.Session)),
		},
		"protocol.md": {
			fmt.Sprintf("%s a body, %s a blob, %s of text a message", size(l.Body), size(l.Blob), size(skein.MaxText)),
			fmt.Sprintf("%s of header", size(l.Header)),
			fmt.Sprintf("%s in %s", size(l.Sign), span(l.SignTime)),
			fmt.Sprintf("at most %d messages and holds at most %s.", view.MaxTail, size(view.MaxBytes)),
			fmt.Sprintf("%v requests a second of a token, %d at once; %d streams; %d watches of a socket, and %d calls", l.Rate, l.Burst, l.Streams, l.Watches, l.Calls),
			fmt.Sprintf("among the %s that may be on their way", size(l.Blobs)),
			fmt.Sprintf("on which %d replies wait, or %s of pongs", replies, size(talk)),
			fmt.Sprintf("address within %s.", span(l.Ticket)),
			fmt.Sprintf("A comment (`:`) every %s", span(l.Ping)),
		},
	} {
		data, err := os.ReadFile("../../docs/" + page)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(string(data)), " ")
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("docs/%s does not say %q", page, w)
			}
		}
	}
}
