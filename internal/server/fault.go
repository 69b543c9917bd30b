package server

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/skeinhq/skein/thread"
)

// faults counts panics that were survived, by where: a handler, a watch, a turn, the
// server's own work.
type faults struct{ caught *prometheus.CounterVec }

func newFaults(r prometheus.Registerer) faults {
	f := faults{prometheus.NewCounterVec(prometheus.CounterOpts{Name: "skein_faults_total", Help: "Panics that were survived, by where. Each is a fault of the program, and its stack is in the log."}, []string{"where"})}
	r.MustRegister(f.caught)
	return f
}

// fault notes a panic, and logs it once with its stack, however many hear of it.
func (s *Server) fault(where string, f *thread.Fault) {
	if f.Told() {
		return
	}
	s.faults.caught.WithLabelValues(where).Inc()
	s.cfg.Log.Error("something failed badly", "where", where, "panic", f.Error(), "stack", string(f.Stack))
}

// survive is deferred around what the server does by itself: a panic there ends that
// and nothing else.
func (s *Server) survive(where string) {
	if p := recover(); p != nil {
		s.fault(where, thread.Caught(p))
	}
}

// caught is deferred around a handler: a panic there is a problem for who asked, and
// for nobody else. Where an answer has begun, its connection ends.
func (s *Server) caught(w *counting) {
	p := recover()
	if p == nil {
		return
	}
	if p == http.ErrAbortHandler { //nolint:errorlint // it is that very value
		panic(p)
	}
	s.fault("handler", thread.Caught(p))
	if w.status != 0 {
		panic(http.ErrAbortHandler)
	}
	h := w.Header()
	for _, name := range []string{"Content-Length", "Content-Disposition", "ETag", "Location", "Set-Cookie"} {
		h.Del(name)
	}
	problem(http.StatusInternalServerError, "something failed in the server", "its log says more").write(w)
}
