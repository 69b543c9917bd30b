package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// row is one line of the table.
type row struct {
	what   string
	ours   string // benchmark
	peer   string // benchmark
	beside string // who the peer is
	target target
	unit   string // of both; empty: ns/op
}

func (r row) measured() string { return cmp.Or(r.unit, "ns/op") }

// target says which ratio is aimed at.
type target struct {
	text  string
	ratio func(ours, peer float64) float64
	met   func(ratio float64) bool
}

var (
	fasterBy20 = target{"at least 20× faster", speedup, func(r float64) bool { return r >= 20 }}
	noTarget   = target{"", speedup, nil}
	sameOrNone = target{"", growth, nil}
	sameCost   = target{"about the same", growth, func(r float64) bool { return r <= 1.5 }}
)

// atMost aims at a share of what the peer takes.
func atMost(share float64) target {
	return target{fmt.Sprintf("at most %.3g×", share), growth, func(r float64) bool { return r <= share }}
}

func speedup(ours, peer float64) float64 { return peer / ours }
func growth(ours, peer float64) float64  { return ours / peer }

// rows are the table. A row whose figures are missing is left out.
var rows = func() []row {
	var all []row
	for _, peer := range []string{"adk-go", "langchaingo"} {
		add := func(what, name string, t target) {
			all = append(all, row{what: what, ours: name + "/impl=skein", peer: name + "/impl=" + peer, beside: peer, target: t})
		}
		add("append, then load for the next turn", "Turn", fasterBy20)
		add("load for the next turn", "Load", fasterBy20)
		add("open, then load", "LoadCold", noTarget)
		add("append, synced to disk", "Append", noTarget)
	}
	for _, b := range []struct{ what, name string }{
		{"append", "Say"},
		{"append and load for the next turn", "NextTurn"},
		{"prompt, warm", "PromptWarm"},
		{"prompt, cold", "PromptCold"},
		{"zoom, warm", "ZoomWarm"},
		{"zoom, a line not opened yet", "ZoomAnywhere"},
		{"zoom, cold", "ZoomCold"},
		{"open", "Open"},
		{"a whole turn", "Ask"},
		{"the process skein prompt", "Command"},
	} {
		for _, n := range []string{"10000", "1000000"} {
			all = append(all, row{what: b.what + ", " + n + " messages", ours: b.name + "/messages=" + n, peer: b.name + "/messages=100", beside: "100 messages", target: sameCost})
		}
	}
	all = append(all, row{what: "zoom, a line not opened yet, 1000000 messages", ours: "ZoomAnywhere/messages=1000000", peer: "ZoomOneOfMany/threads=1000", beside: "1,000 threads of 1000", target: atMost(1.3)})
	for _, b := range []struct{ what, name string }{
		{"a window, in a server", "ViewWarm"},
		{"a window, cold", "ViewCold"},
	} {
		all = append(all, row{what: b.what + ", 1000000 messages", ours: b.name + "/messages=1000000", peer: b.name + "/messages=1000", beside: "1000 messages", target: atMost(1.2)})
	}
	for _, b := range []struct {
		what, name, unit string
		target           target
	}{
		{"25 entries a second to 1,000: processor time each", "Fan", "cpu-ns/delivery", atMost(0.8)},
		{"25 entries a second to 1,000: 99 of 100 within", "Fan", "p99-ms", sameOrNone},
		{"250 a second, gathered for 20 ms: processor time each", "FanGathered", "cpu-ns/delivery", atMost(0.8)},
		{"250 a second, gathered for 20 ms: 99 of 100 within", "FanGathered", "p99-ms", atMost(1)},
		{"memory of an idle connection, of 8,000", "Idle", "KB/connection", atMost(0.7)},
		{"1,000 clients come back: all have what they missed", "Reconnect", "ms-all", sameOrNone},
	} {
		all = append(all, row{what: b.what, ours: b.name + "/impl=skein", peer: b.name + "/impl=centrifuge", beside: "centrifuge", target: b.target, unit: b.unit})
	}
	all = append(all, row{what: "10 of 100 clients stalled: 99 of 100 within", ours: "Neighbours/stalled=10/impl=skein", peer: "Neighbours/stalled=0/impl=skein", beside: "none stalled", target: atMost(1.2), unit: "p99-ms"})
	return all
}()

func write(out io.Writer, rows []row, f figures) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\tours\tpeer\t\tratio\ttarget\t")
	for _, r := range rows {
		ours, ok := f.best(r.ours, r.measured())
		peer, known := f.best(r.peer, r.measured())
		if !ok || !known {
			continue
		}
		ratio := r.target.ratio(ours, peer)
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%.3g×\t%s\t%s\n", r.what, written(ours, r.unit), written(peer, r.unit), r.beside, ratio, r.target.text, verdict(r.target, ratio))
	}
	for _, m := range bounds {
		v, ok := f.best(m.benchmark, m.unit)
		switch {
		case !ok:
		case m.most == 0:
			fmt.Fprintf(w, "%s\t%.1f\t\t\t\t\t\n", m.what, v)
		default:
			within := target{met: func(v float64) bool { return v <= m.most }}
			fmt.Fprintf(w, "%s\t%.3g\t\t\t\tat most %.4g\t%s\n", m.what, v, m.most, verdict(within, v))
		}
	}
	return w.Flush()
}

// bounds are figures beside which there is none; most: what is aimed at.
var bounds = []struct {
	benchmark, unit, what string
	most                  float64
}{
	{"Memory/threads=1000", "KB/thread", "memory of each of 1,000 open threads, KB", 0},
	{"Memory/threads=1000", "MB-rss-prompts", "memory of the process with all of them, MB", 0},
	{"Command/messages=1000000", "MB-rss", "memory of skein prompt at 1,000,000 messages, MB", 0},
	{"Stalled/impl=skein", "KB/client", "memory of a stalled client, the system's too, KB", 300},
	{"Reconnect/impl=skein", "ms-all", "1,000 clients come back: all have what they missed, ms", 1500},
	{"Reconnect/impl=skein", "bytes/missed-byte", "bytes for each that was missed", 1.3},
	{"Tokens/over=websocket/impl=skein", "bytes/token", "bytes for a token of 4, over WebSocket", 26},
	{"Tokens/over=sse/impl=skein", "bytes/token", "bytes for a token of 4, over SSE", 32},
}

func verdict(t target, ratio float64) string {
	switch {
	case t.met == nil:
		return ""
	case t.met(ratio):
		return "met"
	}
	return "missed"
}

// written is a value for people.
func written(v float64, unit string) string {
	switch {
	case unit == "" || strings.HasPrefix(unit, "cpu-ns/"):
		return duration(v)
	case strings.HasSuffix(unit, "-ms") || strings.HasPrefix(unit, "ms-"):
		return duration(v * 1e6)
	}
	unit, _, _ = strings.Cut(unit, "/")
	return fmt.Sprintf("%.3g %s", v, unit)
}

// duration writes nanoseconds for people.
func duration(ns float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if ns >= u.size {
			return fmt.Sprintf("%.3g %s", ns/u.size, u.name)
		}
	}
	return fmt.Sprintf("%.3g ns", ns)
}
