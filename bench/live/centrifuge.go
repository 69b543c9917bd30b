package live

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/centrifugal/centrifuge"
	"github.com/google/uuid"

	"github.com/skeinhq/skein/thread"
	"github.com/skeinhq/skein/view"
)

// history is how many entries centrifuge keeps, in memory, for who comes back.
const history = 200

// centrifugeSite is a centrifuge node with its broker in memory. Clients subscribe
// with recovery, so that they miss nothing, as Skein's do not.
type centrifugeSite struct {
	node *centrifuge.Node

	mu   sync.Mutex // held while a text is published: entries come in their order
	next int64
}

// Centrifuge starts a node that gathers what it sends to a client for so long.
func Centrifuge(gather time.Duration) (Site, error) {
	node, err := centrifuge.New(centrifuge.Config{})
	if err != nil {
		return nil, err
	}
	node.OnConnecting(func(context.Context, centrifuge.ConnectEvent) (centrifuge.ConnectReply, error) {
		return centrifuge.ConnectReply{Credentials: &centrifuge.Credentials{UserID: "ana"}, WriteDelay: gather}, nil
	})
	node.OnConnect(func(c *centrifuge.Client) {
		c.OnSubscribe(func(_ centrifuge.SubscribeEvent, reply centrifuge.SubscribeCallback) {
			reply(centrifuge.SubscribeReply{Options: centrifuge.SubscribeOptions{EnableRecovery: true}}, nil)
		})
	})
	if err := node.Run(); err != nil {
		return nil, err
	}
	return &centrifugeSite{node: node, next: 1}, nil
}

func (s *centrifugeSite) Serve(ctx context.Context, ln net.Listener) error {
	mux := http.NewServeMux()
	mux.Handle("/connection/websocket", centrifuge.NewWebsocketHandler(s.node, centrifuge.WebsocketConfig{UseWriteBufferPool: true}))
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(ln) }()
	<-ctx.Done()
	err := web.Close()
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

func (s *centrifugeSite) Publish(_ context.Context, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	e := thread.Say(thread.Message{Author: "ana", Role: thread.User, Parts: []thread.Part{thread.Text(text)}})
	e.Seq, e.Prev, e.Index, e.ID, e.Time = s.next, s.next-1, s.next-1, id.String(), time.Now()
	_, data, err := view.Project(&e)
	if err != nil {
		return err
	}
	s.next++
	_, err = s.node.Publish(Thread, data, centrifuge.WithHistory(history, time.Hour))
	return err
}

func (s *centrifugeSite) Answer(context.Context, int, int, time.Duration) error {
	return errors.New("centrifuge makes no answers")
}

func (s *centrifugeSite) Where(context.Context) (Place, error) {
	h, err := s.node.History(Thread)
	return Place{int64(h.Offset), h.Epoch}, err
}

func (s *centrifugeSite) Close() error { return s.node.Shutdown(context.Background()) }
