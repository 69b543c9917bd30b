package live

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Load is what the cases are measured with.
type Load struct {
	Seconds float64 // of each case
	Watched int     // clients of the cases with many
	Idle    int     // connections that do nothing
	Profile string  // a folder for profiles of the servers; empty: none are taken
	Out     io.Writer
}

// Case is one measurement.
type Case struct {
	Name  string
	Run   func(l *Load, kind Kind) error
	Alone bool // Skein's only: nothing of centrifuge's is like it
}

// Cases are all of them, in their order.
var Cases = []Case{
	{"Fan", func(l *Load, k Kind) error { return l.fan(k, 25, 0) }, false},
	{"FanGathered", func(l *Load, k Kind) error { return l.fan(k, 250, 20*time.Millisecond) }, false},
	{"Idle", (*Load).idle, false},
	{"Reconnect", (*Load).reconnect, false},
	{"Stalled", (*Load).stalled, true},
	{"Neighbours", (*Load).neighbours, true},
	{"Tokens", (*Load).tokens, true},
}

// figure is a value and its unit.
type figure struct {
	value float64
	unit  string
}

// say writes a case's figures as the testing package does a benchmark's.
func (l *Load) say(name string, kind Kind, all ...figure) {
	fmt.Fprintf(l.Out, "Benchmark%s/impl=%s 1", name, kind)
	for _, f := range all {
		fmt.Fprintf(l.Out, " %.6g %s", f.value, f.unit)
	}
	fmt.Fprintln(l.Out)
}

// with runs a case on a server that is ended afterwards.
func with(kind Kind, gather time.Duration, run func(p *process) error) error {
	p, err := start(kind, gather)
	if err != nil {
		return err
	}
	err = run(p)
	return errors.Join(err, p.stop())
}

// entry is how many bytes of text an entry has.
const entry = 300

// fan is many who watch one thread that is written to at a steady rate.
func (l *Load) fan(kind Kind, rate float64, gather time.Duration) error {
	return with(kind, gather, func(p *process) error {
		all, err := joinAll(kind, p.address, l.Watched, 50, begin{})
		if err != nil {
			return err
		}
		if err := l.write(p, all, command{Count: int(rate), Rate: rate, Size: entry}); err != nil { // to warm up
			return errors.Join(err, closeAll(all))
		}
		done, err := l.profiled(p, fmt.Sprintf("fan-%v", rate))
		if err != nil {
			return errors.Join(err, closeAll(all))
		}
		since := time.Now().UnixNano()
		for _, c := range all {
			c.since.Store(since)
			c.frames.Store(0)
			c.got.Store(0)
		}
		before, err := p.processor()
		if err == nil {
			err = l.write(p, all, command{Count: int(rate * l.Seconds), Rate: rate, Size: entry})
		}
		if err != nil {
			return errors.Join(err, closeAll(all))
		}
		after, err := p.processor()
		if err := errors.Join(err, done(), closeAll(all)); err != nil {
			return err
		}
		var got, frames int64
		for _, c := range all {
			got += c.got.Load()
			frames += c.frames.Load()
		}
		name := "Fan"
		if gather > 0 {
			name = "FanGathered"
		}
		times := delays(all)
		l.say(name, kind, figure{float64(after-before) / float64(got), "cpu-ns/delivery"}, figure{float64(after-before) / float64(frames), "cpu-ns/frame"},
			figure{share(times, 0.5), "p50-ms"}, figure{share(times, 0.99), "p99-ms"}, figure{100 * float64(got) / (rate * l.Seconds * float64(len(all))), "%-delivered"})
		return nil
	})
}

// write has the server write, and waits until all have it.
func (l *Load) write(p *process, all []*client, c command) error {
	c.Do = "publish"
	r, err := p.tell(c)
	if err != nil {
		return err
	}
	return await(all, r.Last)
}

// profiled takes a profile of the server until done is called.
func (l *Load) profiled(p *process, name string) (done func() error, err error) {
	if l.Profile == "" {
		return func() error { return nil }, nil
	}
	_, err = p.tell(command{Do: "profile", Path: filepath.Join(l.Profile, fmt.Sprintf("%s-%s.cpu", p.kind, name))})
	return func() error {
		_, err := p.tell(command{Do: "profile"})
		return err
	}, err
}

// delays are the times of all clients in order.
func delays(all []*client) []uint32 {
	var out []uint32
	for _, c := range all {
		out = append(out, c.delays...)
	}
	slices.Sort(out)
	return out
}

// share is the time, in milliseconds, that so many of all are within.
func share(sorted []uint32, part float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return float64(sorted[int(part*float64(len(sorted)-1))]) / 1000
}

// settle is how long a server is let be before its memory is measured.
const settle = 2 * time.Second

// idle is connections that watch and to which nothing is sent.
func (l *Load) idle(kind Kind) error {
	return with(kind, 0, func(p *process) error {
		if _, err := p.tell(command{Do: "publish", Count: 20, Rate: 100, Size: entry}); err != nil {
			return err
		}
		few, err := joinAll(kind, p.address, 50, 50, begin{})
		if err := errors.Join(err, closeAll(few)); err != nil {
			return err
		}
		time.Sleep(settle)
		before, err := p.memory()
		if err != nil {
			return err
		}
		all, err := joinAll(kind, p.address, l.Idle, 50, begin{})
		if err != nil {
			return err
		}
		time.Sleep(settle)
		after, err := p.memory()
		if err == nil && l.Profile != "" {
			_, err = p.tell(command{Do: "heap", Path: filepath.Join(l.Profile, string(kind)+"-idle.heap")})
		}
		if err := errors.Join(err, closeAll(all)); err != nil {
			return err
		}
		m := after.minus(before)
		n := float64(len(all)) * 1024
		l.say("Idle", kind, figure{float64(m.own) / n, "KB/connection"}, figure{float64(m.kernel) / n, "KB-kernel/connection"})
		return nil
	})
}

// reconnect is many who come back at once to a thread that went on by five entries.
func (l *Load) reconnect(kind Kind) error {
	return with(kind, 0, func(p *process) error {
		if _, err := p.tell(command{Do: "publish", Count: 100, Rate: 100, Size: entry}); err != nil {
			return err
		}
		all, err := joinAll(kind, p.address, l.Watched, 50, begin{})
		if err != nil {
			return err
		}
		at, err := p.tell(command{Do: "where"})
		if err := errors.Join(err, closeAll(all)); err != nil {
			return err
		}
		last, err := p.tell(command{Do: "publish", Count: 5, Rate: 25, Size: entry})
		if err != nil {
			return err
		}
		before, err := p.processor()
		if err != nil {
			return err
		}
		begun := time.Now()
		all, err = joinAll(kind, p.address, l.Watched, l.Watched, begin{at: &at.Place})
		if err != nil {
			return err
		}
		if err := await(all, last.Last); err != nil {
			return errors.Join(err, closeAll(all))
		}
		end := int64(0)
		for _, c := range all {
			end = max(end, c.at.Load())
		}
		took := time.Unix(0, end).Sub(begun)
		after, err := p.processor()
		if err := errors.Join(err, closeAll(all)); err != nil {
			return err
		}
		out := []figure{{took.Seconds() * 1000, "ms-all"}, {float64(after-before) / float64(len(all)), "cpu-ns/client"}, {float64(len(all[0].first)), "bytes/client"}}
		if kind == OfSkein {
			entries, size, err := missed(all[0].first)
			if err != nil {
				return err
			}
			if entries != 5 {
				return fmt.Errorf("who missed five entries is sent %d", entries)
			}
			out = append(out, figure{float64(len(all[0].first)) / float64(size), "bytes/missed-byte"})
		}
		l.say("Reconnect", kind, out...)
		return nil
	})
}

// stalled is clients that read nothing while much is written: what they hold of
// the server's memory and the system's.
func (l *Load) stalled(kind Kind) error {
	const clients, small = 50, 32 << 10
	much := command{Do: "publish", Count: 1250, Rate: 250, Size: 4 << 10}
	return with(kind, 0, func(p *process) error {
		if _, err := p.tell(much); err != nil {
			return err
		}
		well, err := joinAll(kind, p.address, 1, 1, begin{})
		if err != nil {
			return err
		}
		if err := l.write(p, well, much); err != nil {
			return errors.Join(err, closeAll(well))
		}
		time.Sleep(settle)
		before, err := p.memory()
		if err != nil {
			return errors.Join(err, closeAll(well))
		}
		ill, err := joinAll(kind, p.address, clients, clients, begin{receive: small})
		if err != nil {
			return errors.Join(err, closeAll(well))
		}
		pause(ill)
		defer resume(ill)
		if err := l.write(p, well, much); err != nil {
			return err
		}
		time.Sleep(settle)
		after, err := p.memory()
		if err != nil {
			return err
		}
		m := after.minus(before)
		l.say("Stalled", kind, figure{float64(m.own+m.kernel) / clients / 1024, "KB/client"}, figure{float64(m.kernel) / clients / 1024, "KB-kernel/client"})
		return nil
	})
}

// pause lets clients read nothing more; resume ends that, and them.
func pause(all []*client) {
	for _, c := range all {
		c.paused.Lock()
	}
}

func resume(all []*client) {
	for _, c := range all {
		c.paused.Unlock()
		_ = c.wire.conn.Close() // it is over in any case
	}
}

// neighbours is a hundred who watch, of whom ten stop reading: what that does to
// the times of the others.
func (l *Load) neighbours(kind Kind) error {
	const clients, ill, rate = 100, 10, 50
	return with(kind, 0, func(p *process) error {
		all, err := joinAll(kind, p.address, clients-ill, clients, begin{})
		if err != nil {
			return err
		}
		others, err := joinAll(kind, p.address, ill, ill, begin{receive: 32 << 10})
		if err != nil {
			return errors.Join(err, closeAll(all))
		}
		c := command{Count: int(rate * l.Seconds), Rate: rate, Size: 4 << 10}
		round := func() (float64, error) {
			since := time.Now().UnixNano()
			for _, c := range all {
				c.delays = c.delays[:0]
				c.since.Store(since)
			}
			if err := l.write(p, all, c); err != nil {
				return 0, err
			}
			return share(delays(all), 0.99), nil
		}
		if _, err = round(); err != nil { // to warm up
			return errors.Join(err, closeAll(all))
		}
		well, err := round()
		if err != nil {
			return errors.Join(err, closeAll(all))
		}
		pause(others)
		defer resume(others)
		if _, err := round(); err != nil { // until they hold all that they can
			return errors.Join(err, closeAll(all))
		}
		beside, err := round()
		if err := errors.Join(err, closeAll(all)); err != nil {
			return err
		}
		l.say("Neighbours/stalled=0", kind, figure{well, "p99-ms"})
		l.say("Neighbours/stalled=10", kind, figure{beside, "p99-ms"})
		return nil
	})
}

// tokens is an answer that comes in pieces of four bytes, a hundred a second.
func (l *Load) tokens(kind Kind) error {
	return with(kind, 0, func(p *process) error {
		socket, stream := &flow{}, &flow{}
		c, err := join(kind, p.address, begin{visited: socket.take})
		if err != nil {
			return err
		}
		w, err := dial(p.address, "/v1/threads/"+Thread+"/events", "Accept: text/event-stream\r\n", 0)
		if err != nil {
			return errors.Join(err, c.close())
		}
		var reader sync.WaitGroup
		reader.Go(func() { _ = events(w, stream) }) // it ends when it is closed under it
		count := int(100 * l.Seconds)
		_, err = p.tell(command{Do: "answer", Count: count, Rate: 100, Size: 4})
		time.Sleep(settle)
		err = errors.Join(err, w.conn.Close(), c.close())
		reader.Wait()
		if err != nil {
			return err
		}
		l.say("Tokens/over=websocket", kind, figure{socket.each(), "bytes/token"})
		l.say("Tokens/over=sse", kind, figure{stream.each(), "bytes/token"})
		return nil
	})
}

// flow counts what an answer's text takes: all that is sent from its first piece
// to its last.
type flow struct {
	tokens, bytes, since int
}

var appends = []byte(`["a",["docs","live","text"],`)

func (f *flow) take(data []byte, size int) {
	f.since += size
	i := bytes.Index(data, appends)
	if i < 0 {
		return
	}
	if f.tokens == 0 {
		f.since = size
	}
	_, text, _ := bytes.Cut(data[i+len(appends):], []byte(`,"`))
	text, _, _ = bytes.Cut(text, []byte(`"`))
	f.tokens += len(text) / 4
	f.bytes += f.since
	f.since = 0
}

func (f *flow) each() float64 { return float64(f.bytes) / float64(f.tokens) }

// events reads server-sent events with the chunks they come in. It ends with the
// connection.
func events(w *wire, f *flow) error {
	size, data := 0, []byte(nil)
	for {
		line, err := w.in.ReadBytes('\n')
		if err != nil {
			return err
		}
		size += len(line)
		switch {
		case bytes.HasPrefix(line, []byte("data: ")):
			data = line
		case strings.TrimSpace(string(line)) == "" && data != nil:
			f.take(data, size)
			size, data = 0, nil
		}
	}
}
