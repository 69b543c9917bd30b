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
	for i := range 50_000 {
		if k := p.take(); k != sockets[i%len(sockets)] {
			t.Fatalf("another than the %d-th came", i)
		}
		add(1)
	}
	if n := len(p.waiting); n > 3*3000 {
		t.Errorf("3000 wait in a queue of %d", n)
	}
	for range 3000 {
		if p.take() == nil {
			t.Fatal("somebody is missing")
		}
	}
	if p.take() != nil || p.running != 1<<20-1 {
		t.Errorf("nobody waits, and %d run", p.running)
	}
}
