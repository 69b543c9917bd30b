package server

import "testing"

// Who waits longest comes first, and where somebody always waits the queue does not
// grow.
func TestThePumpTakesInOrder(t *testing.T) {
	p := &pump{running: 1 << 20} // so that it starts nothing
	sockets := make([]*socket, 5000)
	for i := range sockets {
		sockets[i] = &socket{}
	}
	added := 0
	add := func(n int) {
		for range n {
			p.add(sockets[added%len(sockets)])
			added++
		}
	}
	add(3000)
	var some [inARow]*socket
	for came := 0; came < 50_000; {
		n := p.take(&some)
		for _, k := range some[:n] {
			if k != sockets[came%len(sockets)] {
				t.Fatalf("another than the %d-th came", came)
			}
			came++
		}
		add(n)
	}
	if n := len(p.waiting); n > 3*3000 {
		t.Errorf("3000 wait in a queue of %d", n)
	}
	left := 0
	for n := p.take(&some); n > 0; n = p.take(&some) {
		left += n
	}
	if left != 3000 || p.running != 1<<20-1 {
		t.Errorf("%d were left, want 3000; then nobody waits, and %d run", left, p.running)
	}
}
