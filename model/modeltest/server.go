package modeltest

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// DefaultKey is the API key that a server takes where no other is set.
const DefaultKey = "fake-key"

// Config says what a server is like. The zero value is a server that answers at
// once, by the real clock, to [DefaultKey].
type Config struct {
	Key   string           // the only API key it takes
	Now   func() time.Time // the clock of its cache and its answers
	Pace  float64          // tokens a second of its streams; 0: at once
	Table *model.Table     // the models it knows; nil: the built-in one
	Keep  int              // exchanges it remembers; 0: 1,000
	Seen  func(Exchange)   // is told of each exchange, one at a time
}

// Server is a local provider. It speaks the Messages API of Anthropic and the
// Responses and Chat Completions APIs of OpenAI, the last also in the ways of
// some compatible servers, and refuses what they refuse. See the package's
// comment for where it listens and how it answers.
type Server struct {
	config Config
	routes *http.ServeMux
	cache  cache

	running atomic.Int64

	mu     sync.Mutex
	script []Reply
	seen   []Exchange
}

// Exchange is a request that the server had, and what it made of it. What is
// below Status is set where the request was taken.
type Exchange struct {
	Path   string
	Header http.Header
	Body   []byte
	Status int

	Asked  Asked
	Prompt int          // tokens of the prompt, by thread.Weight
	Usage  thread.Usage // as billed
}

// Asked is what a request asked for, whichever API it used.
type Asked struct {
	Model    string
	Effort   string // the level; empty where there was none
	Thinks   bool   // by level, by budget or by default
	Marks    int    // cache marks
	CacheKey string
	Images   int
	Files    int
	Dropped  int // thoughts that the server left out by itself
}

// NewServer makes a server.
func NewServer(c Config) *Server {
	if c.Key == "" {
		c.Key = DefaultKey
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Table == nil {
		c.Table = model.BuiltIn()
	}
	if c.Keep == 0 {
		c.Keep = 1000
	}
	s := &Server{config: c, routes: http.NewServeMux(), cache: cache{entries: map[entryKey]entry{}}}
	s.routes.HandleFunc("POST /v1/messages", s.serve(messagesAPI))
	s.routes.HandleFunc("POST /v1/messages/count_tokens", s.serve(countAPI))
	s.routes.HandleFunc("POST /v1/responses", s.serve(responsesAPI))
	s.routes.HandleFunc("POST /v1/chat/completions", s.serve(chatAPI(s, flavours["openai"])))
	for _, name := range []string{"ollama", "vllm", "openrouter"} {
		f := flavours[name]
		s.routes.HandleFunc("POST "+f.base+"/chat/completions", s.serve(chatAPI(s, f)))
	}
	return s
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.routes.ServeHTTP(w, r) }

// Script sets what the next requests are answered with, in order; after them the
// server answers by its plain rule again. A refused request takes none.
func (s *Server) Script(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = slices.Clone(replies)
}

// next takes the script's next reply.
func (s *Server) next() (Reply, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.script) == 0 {
		return Reply{}, false
	}
	r := s.script[0]
	s.script = s.script[1:]
	return r, true
}

// Exchanges gives the requests that the server had, oldest first.
func (s *Server) Exchanges() []Exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// Running says how many requests are being answered now.
func (s *Server) Running() int { return int(s.running.Load()) }

func (s *Server) remember(e Exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.config.Seen != nil {
		s.config.Seen(e)
	}
	s.seen = append(s.seen, e)
	if over := len(s.seen) - s.config.Keep; over > 0 {
		s.seen = slices.Delete(s.seen, 0, over)
	}
}

// rules finds a model's rules in the table, if it is one of the family's.
func (s *Server) rules(name, family string) (model.Rules, error) {
	bare, asks, _ := strings.Cut(name, fakeInfix)
	if _, known := canned[asks]; asks != "" && !known {
		return model.Rules{}, fmt.Errorf("%q is none of %s", asks, strings.Join(CannedNames(), ", "))
	}
	rules, err := s.config.Table.Rules(bare)
	if err == nil && (rules.Family != family || rules.Model == "claude-*" || rules.Model == "gpt-*") {
		err = errors.New("the table knows it only by its maker")
	}
	return rules, err
}

// api is one of the APIs: how it checks the key, reads a body, bills, refuses
// and answers.
type api struct {
	vendor  string // what ids of calls begin with
	limit   int64  // bytes of a body
	key     func(h http.Header) (key string, problem *problem)
	read    func(s *Server, h http.Header, body []byte) (*request, *problem)
	reply   func(s *Server, header string, r *request) (Reply, *problem)
	bill    func(s *Server, account string, r *request) bill
	trouble func(t Trouble, r *request) problem
	refuse  func(w http.ResponseWriter, p problem)
	whole   func(r *request, a answer, b bill, now time.Time) any
	stream  func(c *call) error
	broken  func(c *call, p problem) // an error in the middle of a stream
}

// call is one request being answered.
type call struct {
	*wire
	api  api
	req  *request
	ans  answer
	bill bill
	now  time.Time
}

// serve makes the handler of an API.
func (s *Server) serve(a api) http.HandlerFunc {
	return func(w http.ResponseWriter, hr *http.Request) {
		s.running.Add(1)
		defer s.running.Add(-1)
		body, err := io.ReadAll(io.LimitReader(hr.Body, a.limit+1))
		if err != nil {
			return // whoever asked has gone
		}
		e := Exchange{Path: hr.URL.Path, Header: hr.Header.Clone(), Body: body}
		refuse := func(p problem) {
			if p.status == 0 {
				p.status = http.StatusBadRequest
			}
			e.Status = p.status
			s.remember(e)
			a.refuse(w, p)
		}
		r, account, p := s.admit(a, hr, body)
		if p != nil {
			refuse(*p)
			return
		}
		reply, p := a.reply(s, hr.Header.Get(ReplyHeader), r)
		if p != nil {
			refuse(*p)
			return
		}
		if err := model.Wait(hr.Context(), time.Duration(reply.Delay)); err != nil {
			return
		}
		if reply.Trouble != "" && reply.After == 0 && !reply.Trouble.later() {
			p := a.trouble(reply.Trouble, r)
			if reply.RetryAfter > 0 {
				w.Header().Set("Retry-After", seconds(time.Duration(reply.RetryAfter)))
			}
			refuse(p)
			return
		}
		c := &call{wire: newWire(w, hr, reply, s.config.Pace), api: a, req: r, ans: ready(r, reply, a.vendor), bill: a.bill(s, account, r), now: s.config.Now()}
		e.Status, e.Asked, e.Prompt = http.StatusOK, r.asked(), r.tokens()
		e.Usage = thread.Usage{Input: int64(c.bill.input), CacheRead: int64(c.bill.read), CacheWrite: int64(c.bill.write), Output: int64(c.ans.output), Reasoning: int64(c.ans.thought)}
		s.remember(e)
		c.send()
	}
}

// admit checks a request before it is answered.
func (s *Server) admit(a api, hr *http.Request, body []byte) (*request, string, *problem) {
	key, p := a.key(hr.Header)
	switch {
	case p != nil:
		return nil, "", p
	case subtle.ConstantTimeCompare([]byte(key), []byte(s.config.Key)) != 1:
		return nil, "", &problem{status: http.StatusUnauthorized, message: key}
	case int64(len(body)) > a.limit:
		return nil, "", &problem{status: http.StatusRequestEntityTooLarge}
	}
	r, p := a.read(s, hr.Header, body)
	return r, key, p
}

// send answers, whole or as a stream, until it is done or its trouble comes.
func (c *call) send() {
	if !c.req.stream {
		c.whole(encode(c.api.whole(c.req, c.ans, c.bill, c.now)))
		return
	}
	c.begin()
	err := c.api.stream(c)
	c.wire.err = nil
	switch {
	case !errors.Is(err, errTrouble):
	case c.reply.Trouble == Cut:
		panic(http.ErrAbortHandler) // the way to break a connection
	case c.reply.Trouble == Garbage:
		c.raw("event: \x01\x02\ndata: {\"type\": <html>\n\n")
	case c.reply.Trouble != Truncated:
		c.api.broken(c, c.api.trouble(c.reply.Trouble, c.req))
	}
}

func seconds(d time.Duration) string { return fmt.Sprint(int64((d + time.Second - 1) / time.Second)) }
