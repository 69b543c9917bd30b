package server

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// figures are what the server counts, in a registry of its own.
type figures struct {
	registry *prometheus.Registry
	handler  http.Handler

	requests    *prometheus.CounterVec   // by route, status
	seconds     *prometheus.HistogramVec // by route; streams are not timed
	refusals    prometheus.Counter
	limited     prometheus.Counter
	connections prometheus.Gauge
	streams     *prometheus.GaugeVec // by transport
	watches     prometheus.Gauge
	frames      *prometheus.CounterVec // by transport
	bytes       *prometheus.CounterVec // by transport
	ended       *prometheus.CounterVec // by reason

	socketFrames, socketBytes prometheus.Counter // of those, what is counted most often

	running prometheus.Gauge
	turns   *prometheus.CounterVec // by outcome
}

func newFigures() *figures {
	r := prometheus.NewRegistry()
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		r.MustRegister(c)
		return c
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		r.MustRegister(c)
		return c
	}
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
		r.MustRegister(g)
		return g
	}
	f := &figures{
		registry:    r,
		requests:    counters("skein_http_requests_total", "Requests answered, by route and status.", "route", "status"),
		seconds:     prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "skein_http_request_seconds", Help: "Time to answer, by route, without streams.", Buckets: prometheus.ExponentialBuckets(0.001, 4, 8)}, []string{"route"}),
		refusals:    counter("skein_tokens_refused_total", "Requests with a token, session or ticket that was not valid."),
		limited:     counter("skein_rate_limited_total", "Requests refused since they came too often."),
		connections: gauge("skein_connections", "Connections open."),
		streams:     prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "skein_streams", Help: "Streams open, by transport."}, []string{"transport"}),
		watches:     gauge("skein_watches", "Watches of threads."),
		frames:      counters("skein_frames_total", "Frames sent to streams, by transport.", "transport"),
		bytes:       counters("skein_stream_bytes_total", "Bytes sent to streams, by transport, without framing.", "transport"),
		ended:       counters("skein_streams_ended_total", "Watches that the server ended, by reason.", "reason"),
		running:     gauge("skein_turns_running", "Threads for which this server is answering."),
		turns:       counters("skein_turns_total", "Attempts to answer, by outcome: done, or the code of the error.", "outcome"),
	}
	f.socketFrames, f.socketBytes = f.frames.WithLabelValues("websocket"), f.bytes.WithLabelValues("websocket")
	r.MustRegister(f.seconds, f.streams, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	f.handler = promhttp.HandlerFor(r, promhttp.HandlerOpts{})
	return f
}

func (f *figures) answered(rt *route, status int, took time.Duration) {
	f.requests.WithLabelValues(rt.id, code(status)).Inc()
	if rt.way != stream {
		f.seconds.WithLabelValues(rt.id).Observe(took.Seconds())
	}
}
