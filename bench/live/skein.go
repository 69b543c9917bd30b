package live

import (
	"context"
	"errors"
	"iter"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/skeinhq/skein"
	"github.com/skeinhq/skein/internal/server"
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/store/sqlite"
	"github.com/skeinhq/skein/thread"
)

// Thread is the one that is watched; centrifuge's channel has the same name.
const Thread = "launch"

// skeinSite is Skein's server over a database on disk.
type skeinSite struct {
	engine *skein.Engine
	server *server.Server
	thread *skein.Thread
	model  *paced
}

// Skein opens Skein's server with a new database in dir. What is committed within
// gather is sent at once.
func Skein(ctx context.Context, dir string, gather time.Duration) (_ Site, err error) {
	st, err := sqlite.Open(ctx, filepath.Join(dir, "skein.db"), sqlite.Options{})
	if err != nil {
		return nil, err
	}
	s := &skeinSite{model: &paced{}}
	s.engine, err = skein.Open(ctx, skein.Config{Store: st, Gather: gather, Models: func(string) (model.Model, error) { return s.model, nil }})
	if err != nil {
		return nil, errors.Join(err, st.Close())
	}
	if s.thread, err = s.engine.Create(ctx, Thread, "The launch", skein.Settings{}); err != nil {
		return nil, errors.Join(err, s.engine.Close())
	}
	// All clients are at one address and without a token here.
	s.server, err = server.New(ctx, server.Config{Engine: s.engine, Limits: server.Limits{
		Rate: 1e6, Burst: 1e6, AddressRate: 1e6, AddressBurst: 1e6, Streams: 1e6,
	}})
	if err != nil {
		return nil, errors.Join(err, s.engine.Close())
	}
	return s, nil
}

func (s *skeinSite) Serve(ctx context.Context, ln net.Listener) error { return s.server.Serve(ctx, ln) }

func (s *skeinSite) Publish(ctx context.Context, text string) error {
	_, err := s.thread.Say(ctx, "ana", text)
	return err
}

func (s *skeinSite) Answer(ctx context.Context, count, size int, every time.Duration) error {
	s.model.set(count, size, every)
	_, err := s.thread.Ask(ctx, "ana", "go on")
	return err
}

func (s *skeinSite) Where(ctx context.Context) (Place, error) {
	state, err := s.thread.State(ctx)
	return Place{state.Tip, state.Epoch}, err
}

func (s *skeinSite) Close() error { return errors.Join(s.server.Close(), s.engine.Close()) }

// paced is a model that answers with so many pieces, one every so often.
type paced struct {
	mu    sync.Mutex // guards the rest
	count int
	piece string
	every time.Duration
}

func (p *paced) set(count, size int, every time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count, p.piece, p.every = count, strings.Repeat("abcd", size/4+1)[:size], every
}

func (p *paced) Stream(ctx context.Context, _ *model.Request) iter.Seq2[model.Event, error] {
	p.mu.Lock()
	count, piece, every := p.count, p.piece, p.every
	p.mu.Unlock()
	return func(yield func(model.Event, error) bool) {
		begun := time.Now()
		for i := range count {
			if err := model.Wait(ctx, time.Until(begun.Add(time.Duration(i)*every))); err != nil {
				yield(model.Event{}, err)
				return
			}
			if !yield(model.Event{Type: model.TextDelta, Text: piece}, nil) {
				return
			}
		}
		yield(model.Event{Type: model.Done, Parts: []thread.Part{thread.Text(strings.Repeat(piece, count))}, Stop: thread.StopEnd}, nil)
	}
}
