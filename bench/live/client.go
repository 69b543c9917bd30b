package live

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Kind is a kind of server.
type Kind string

// The kinds of servers.
const (
	OfSkein      Kind = "skein"
	OfCentrifuge Kind = "centrifuge"
)

// client is one who watches. Its fields but the atomic ones are its reader's until
// it is closed.
type client struct {
	kind   Kind
	wire   *wire
	ended  chan struct{}
	err    error
	paused sync.Mutex // held while it reads nothing

	newest  atomic.Int64 // the stamp of the newest text
	at      atomic.Int64 // when that came
	got     atomic.Int64 // texts
	since   atomic.Int64 // texts that were due later are timed
	frames  atomic.Int64
	first   []byte
	delays  []uint32 // µs
	shown   chan struct{}
	visited func(data []byte, size int) // is shown every frame; nil: nobody
}

// begin says how a client begins: at a place, or with what is newest where that is
// nil.
type begin struct {
	at      *Place
	receive int // bytes that the system holds; 0: as it likes
	visited func(data []byte, size int)
}

// join has a client watch, and waits until it has what is there.
func join(kind Kind, address string, b begin) (*client, error) {
	c := &client{kind: kind, ended: make(chan struct{}), shown: make(chan struct{}), visited: b.visited}
	var err error
	if kind == OfSkein {
		c.wire, err = upgrade(address, "/v1/ws", b.receive)
	} else {
		c.wire, err = upgrade(address, "/connection/websocket", b.receive)
	}
	if err != nil {
		return nil, err
	}
	if err := c.wire.send(text, []byte(c.asks(b.at))); err != nil {
		return nil, errors.Join(err, c.wire.conn.Close())
	}
	go c.hear()
	select {
	case <-c.shown:
		return c, nil
	case <-c.ended:
		return nil, c.err
	case <-time.After(patience):
		return nil, errors.Join(errors.New("nothing comes"), c.close())
	}
}

// patience is how long the load waits for what must come.
const patience = 60 * time.Second

func (c *client) asks(at *Place) string {
	switch {
	case c.kind == OfSkein && at == nil:
		return fmt.Sprintf(`{"watch":1,"thread":%q}`, Thread)
	case c.kind == OfSkein:
		return fmt.Sprintf(`{"watch":1,"thread":%q,"from":%d,"epoch":%q}`, Thread, at.Seq+1, at.Epoch)
	case at == nil:
		return fmt.Sprintf(`{"id":1,"connect":{}}`+"\n"+`{"id":2,"subscribe":{"channel":%q}}`, Thread)
	}
	return fmt.Sprintf(`{"id":1,"connect":{}}`+"\n"+`{"id":2,"subscribe":{"channel":%q,"recover":true,"offset":%d,"epoch":%q}}`, Thread, at.Seq, at.Epoch)
}

// begins is in the frame that shows a client what is there.
var begins = map[Kind][]byte{OfSkein: []byte(`[["r",`), OfCentrifuge: []byte(`"subscribe":`)}

// hear reads until the connection ends.
func (c *client) hear() {
	defer close(c.ended)
	for {
		c.paused.Lock()
		c.paused.Unlock() //nolint:staticcheck // it is only waited for
		data, size, err := c.wire.next()
		if err != nil {
			c.err = err
			return
		}
		now := time.Now().UnixNano()
		if c.kind == OfCentrifuge && string(bytes.TrimSpace(data)) == "{}" {
			if c.err = c.wire.send(text, []byte("{}")); c.err != nil {
				return
			}
			continue
		}
		c.frames.Add(1)
		if c.visited != nil {
			c.visited(data, size)
		}
		c.take(data, now)
		if c.first == nil && bytes.Contains(data, begins[c.kind]) {
			c.first = bytes.Clone(data)
			close(c.shown)
		}
	}
}

// take notes the texts in a frame that are newer than those before.
func (c *client) take(data []byte, now int64) {
	for {
		i := bytes.IndexByte(data, mark)
		if i < 0 || len(data) < i+1+digits {
			return
		}
		stamp, err := strconv.ParseInt(string(data[i+1:i+1+digits]), 10, 64)
		data = data[i+1:]
		if err != nil {
			continue
		}
		if stamp > c.since.Load() {
			c.got.Add(1)
			c.delays = append(c.delays, uint32(min((now-stamp)/1000, 1<<32-1)))
		}
		if stamp > c.newest.Load() {
			c.newest.Store(stamp)
			c.at.Store(now)
		}
	}
}

// close ends the client.
func (c *client) close() error {
	err := c.wire.conn.Close()
	<-c.ended
	return err
}

// joinAll has n clients watch, some of them at once.
func joinAll(kind Kind, address string, n, atOnce int, b begin) ([]*client, error) {
	all := make([]*client, n)
	failed := make(chan error, n)
	room := make(chan struct{}, atOnce)
	var work sync.WaitGroup
	for i := range all {
		room <- struct{}{}
		work.Go(func() {
			defer func() { <-room }()
			var err error
			if all[i], err = join(kind, address, b); err != nil {
				failed <- err
			}
		})
	}
	work.Wait()
	close(failed)
	if err := <-failed; err != nil {
		return nil, errors.Join(err, closeAll(all))
	}
	return all, nil
}

func closeAll(all []*client) error {
	var errs []error
	for _, c := range all {
		if c != nil {
			errs = append(errs, c.close())
		}
	}
	return errors.Join(errs...)
}

// await waits until all have a text.
func await(all []*client, stamp int64) error {
	limit := time.Now().Add(patience)
	for _, c := range all {
		for c.newest.Load() < stamp {
			select {
			case <-c.ended:
				return fmt.Errorf("a client lost its connection: %w", c.err)
			default:
			}
			if time.Now().After(limit) {
				return errors.New("a client does not get what was written last")
			}
			time.Sleep(time.Millisecond)
		}
	}
	return nil
}

// missed is how many bytes a snapshot's messages and documents have.
func missed(frame []byte) (entries int, size int, err error) {
	var f struct {
		Ops [][]json.RawMessage `json:"ops"`
	}
	if err := json.Unmarshal(frame, &f); err != nil {
		return 0, 0, err
	}
	if len(f.Ops) == 0 || len(f.Ops[0]) != 2 {
		return 0, 0, fmt.Errorf("this is no snapshot: %.100s", frame)
	}
	var v struct {
		Entries []json.RawMessage          `json:"entries"`
		Docs    map[string]json.RawMessage `json:"docs"`
	}
	if err := json.Unmarshal(f.Ops[0][1], &v); err != nil {
		return 0, 0, err
	}
	for _, e := range v.Entries {
		size += len(e)
	}
	for _, d := range v.Docs {
		size += len(d)
	}
	return len(v.Entries), size, nil
}
