package server

import (
	"crypto/rand"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/thread"
)

// Config says what a server serves. Only Engine is required.
type Config struct {
	// Engine is served, and not closed.
	Engine *skein.Engine

	// Name is who reads, and who speaks where a body names nobody, while no tokens
	// are needed; default "user".
	Name string

	// Hosts are the names by which the server is reached, without ports, besides
	// localhost and addresses written as numbers.
	Hosts []string

	// Origins are the other sites whose pages may use the server with tokens of their
	// own, such as https://app.example.com.
	Origins []string

	// Mounts are served beside the API, such as a page.
	Mounts []Mount

	// Limits bound what clients may take; the zero value of each is its default.
	Limits Limits

	// Version is the program's, for the OpenAPI document.
	Version string

	Now  func() time.Time // the clock; default time.Now
	Rand io.Reader        // where tickets and jitter come from; default crypto/rand
	Log  *slog.Logger     // told of what fails here; default nobody

	// Access is told of each request that Serve answers; nil: nobody.
	Access *slog.Logger
}

// Mount is a handler under a pattern of [http.ServeMux]. An empty Scope is for
// everybody.
type Mount struct {
	Pattern string
	Scope   string
	Handler http.Handler
}

// Limits bound what clients may take.
type Limits struct {
	Body   int64 // bytes of a request's body; default 8 MB
	Blob   int64 // bytes of a blob; default 32 MB
	Blobs  int64 // bytes of blobs that are on their way at once, of everybody; default 64 MB, and at least Blob
	Sign   int64 // bytes of a body that shows a token; default 4 KB
	Header int   // bytes of a request's header; default 32 KB

	Rate         float64 // requests a second of one token; default 50
	Burst        int     // and at once; default 200
	AddressRate  float64 // requests a second from one address; default 200
	AddressBurst int     // and at once; default 1,000
	Failures     int     // refused tokens from one address at once, one a second after that; default 10

	Connections int // at once; default 20,000
	Streams     int // of one token at once, SSE and WebSocket; default 200
	Watches     int // of one socket; default 100
	Calls       int // of one socket that run at once; default 16

	HeaderTime time.Duration // to send a header; default 10 s
	BodyTime   time.Duration // to send a body that is no blob; default 60 s
	SignTime   time.Duration // to send a body that shows a token; default 5 s
	BlobTime   time.Duration // a blob waits so long for those that are on their way; default 5 s
	IdleTime   time.Duration // between two requests of a connection; default 2 min
	AnswerTime time.Duration // to take an answer that is no stream; default 10 min
	Stall      time.Duration // a stream or a blob without progress is ended; default 60 s
	Ping       time.Duration // between two signs of life of a stream; default 20 s
	Recheck    time.Duration // between two looks at which tokens are revoked; default 2 s
	Ticket     time.Duration // how long a ticket is good; default 30 s
	Session    time.Duration // how long a session is; default 7 days
	Grace      time.Duration // what turns have to end by themselves at a drain; default 5 s
}

func or[T comparable](v *T, otherwise T) {
	var zero T
	if *v == zero {
		*v = otherwise
	}
}

// filled is the configuration with its defaults.
func (c Config) filled() (Config, error) {
	if c.Engine == nil {
		return c, &thread.Error{Code: thread.Configuration, Op: "server", Message: "a server needs an engine"}
	}
	for _, o := range c.Origins {
		if u, err := url.Parse(o); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Scheme+"://"+u.Host != o {
			return c, &thread.Error{Code: thread.Configuration, Op: "server", Message: "the origin " + o + " is not one", Hint: "write it like https://app.example.com, without a path"}
		}
	}
	for _, h := range c.Hosts {
		if h == "" || strings.ContainsAny(h, "/:@ ") {
			return c, &thread.Error{Code: thread.Configuration, Op: "server", Message: "the host " + h + " is not a name", Hint: "write it like skein.example.com, without a scheme or a port"}
		}
	}
	or(&c.Name, "user")
	or(&c.Version, "0.0.0")
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Rand == nil {
		c.Rand = rand.Reader
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.Limits.fill()
	return c, nil
}

// body is how long a request's body may be, and how long it may take.
func (l *Limits) body(w way) (size int64, t time.Duration) {
	switch w {
	case upload:
		return l.Blob, l.Stall
	case sign:
		return l.Sign, l.SignTime
	}
	return l.Body, l.BodyTime
}

func (l *Limits) fill() {
	or(&l.Body, 8<<20)
	or(&l.Blob, 32<<20)
	or(&l.Blobs, 64<<20)
	l.Blobs = max(l.Blobs, l.Blob)
	or(&l.Sign, 4<<10)
	or(&l.Header, 32<<10)
	or(&l.Rate, 50)
	or(&l.Burst, 200)
	or(&l.AddressRate, 200)
	or(&l.AddressBurst, 1000)
	or(&l.Failures, 10)
	or(&l.Connections, 20_000)
	or(&l.Streams, 200)
	or(&l.Watches, 100)
	or(&l.Calls, 16)
	or(&l.HeaderTime, 10*time.Second)
	or(&l.BodyTime, time.Minute)
	or(&l.SignTime, 5*time.Second)
	or(&l.BlobTime, 5*time.Second)
	or(&l.IdleTime, 2*time.Minute)
	or(&l.AnswerTime, 10*time.Minute)
	or(&l.Stall, time.Minute)
	or(&l.Ping, 20*time.Second)
	or(&l.Recheck, 2*time.Second)
	or(&l.Ticket, 30*time.Second)
	or(&l.Session, 7*24*time.Hour)
	or(&l.Grace, 5*time.Second)
}
