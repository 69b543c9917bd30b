package server

import (
	"runtime"
	"sync"

	"github.com/skeinhq/skein"
)

// pump writes what can be written without waiting, for all sockets that have
// something: a few goroutines do, in the place of one for each. What cannot be
// written at once is the socket's own to write.
type pump struct {
	mu      sync.Mutex // guards the rest
	waiting []*socket
	next    int // of waiting
	running int
}

// inARow is how many turns a goroutine takes at once before it lets others run: whoever says
// something meanwhile should not wait until a thousand watchers were written to.
const inARow = 16

// add has a socket's turn come. The socket is its pump's until then.
func (p *pump) add(k *socket) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = append(p.waiting, k)
	if p.running < runtime.GOMAXPROCS(0) {
		p.running++
		go p.run() // it ends when nobody waits, and every socket waits for its turn
	}
}

func (p *pump) run() {
	var buf [piece]byte
	var some [inARow]*socket
	for n := p.take(&some); n > 0; n = p.take(&some) {
		for i, k := range some[:n] {
			some[i] = nil
			k.turn(buf[:0])
		}
		runtime.Gosched()
	}
}

// take gives those who wait longest, and how many; none ends the goroutine.
func (p *pump) take(some *[inARow]*socket) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := copy(some[:], p.waiting[p.next:])
	clear(p.waiting[p.next : p.next+n])
	p.next += n
	switch {
	case n == 0:
		p.waiting, p.next = p.waiting[:0], 0
		p.running--
	case p.next > len(p.waiting)/2 && p.next >= 1024: // where somebody always waits
		rest := copy(p.waiting, p.waiting[p.next:])
		clear(p.waiting[rest:])
		p.waiting, p.next = p.waiting[:rest], 0
	}
	return n
}

// turn writes a frame, and has the next turn come where there is more. What may take
// its time has a goroutine of its own.
func (k *socket) turn(buf []byte) {
	over := true
	defer func() {
		if over {
			k.work.Done()
		}
	}()
	defer k.survive()
	j, ok := k.next()
	if !ok {
		return
	}
	j = k.quick(j, buf)
	if j == (job{}) && k.idle() {
		return
	}
	over = false
	if j == (job{}) {
		k.server.pump.add(k)
		return
	}
	go func() { // the socket waits for it
		defer k.work.Done()
		defer k.survive()
		k.do(j)
		k.write()
	}()
}

// quick does what can be done at once, and gives what is left of the job.
func (k *socket) quick(j job, buf []byte) job {
	if j.watch == nil {
		return j
	}
	f, ready := j.watch.watch.Take()
	switch ready {
	case skein.Slow:
		return j
	case skein.Nothing:
		return job{}
	case skein.More:
		k.wake(j.watch)
	}
	if f.Size() > piece-longestFrameHead {
		return job{watch: j.watch, frame: &f}
	}
	k.server.figures.socketFrames.Inc()
	buf = appendFrameHead(append(buf, make([]byte, longestHead)...), j.watch.name, f.N)
	for _, p := range f.Parts {
		buf = append(buf, p...)
	}
	buf = append(buf, '}')
	size := len(buf) - longestHead
	k.server.figures.socketBytes.Add(float64(size))
	var head [longestHead]byte
	n := len(appendHead(head[:0], text, true, size))
	copy(buf[longestHead-n:], head[:n])
	return job{flush: !k.out.offer(buf[longestHead-n:])}
}
