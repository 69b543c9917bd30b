package window

// Spoil takes the bytes of a thread's newest message from its room, as a fault of
// this package would.
func (h *Rooms) Spoil(id string) {
	h.mu.Lock()
	r := h.rooms[id]
	h.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.recent.at(r.recent.length() - 1).wire = nil
	for w := range r.watches {
		w.again = true
	}
}

// Break takes the answer being made from a thread's room: whatever looks at it then
// panics.
func (h *Rooms) Break(id string) {
	h.mu.Lock()
	r := h.rooms[id]
	h.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = nil
}
