package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// row is one line of the table.
type row struct {
	what   string
	ours   string // benchmark
	peer   string // benchmark
	beside string // who the peer is
	target target
}

// target says which ratio is aimed at.
type target struct {
	text  string
	ratio func(ours, peer float64) float64
	met   func(ratio float64) bool
}

var (
	fasterBy20 = target{"at least 20× faster", speedup, func(r float64) bool { return r >= 20 }}
	noTarget   = target{"", speedup, nil}
	sameCost   = target{"about the same", growth, func(r float64) bool { return r <= 1.5 }}
)

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
	return all
}()

func write(out io.Writer, rows []row, f figures) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what\tours\tpeer\t\tratio\ttarget\t")
	for _, r := range rows {
		ours, ok := f.best(r.ours, "ns/op")
		peer, known := f.best(r.peer, "ns/op")
		if !ok || !known {
			continue
		}
		ratio := r.target.ratio(ours, peer)
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%.3g×\t%s\t%s\n", r.what, duration(ours), duration(peer), r.beside, ratio, r.target.text, verdict(r.target, ratio))
	}
	for _, m := range []struct{ benchmark, unit, what string }{
		{"Memory/threads=1000", "KB/thread", "memory of each of 1,000 open threads, KB"},
		{"Memory/threads=1000", "MB-rss-prompts", "memory of the process with all of them, MB"},
		{"Command/messages=1000000", "MB-rss", "memory of skein prompt at 1,000,000 messages, MB"},
	} {
		if v, ok := f.best(m.benchmark, m.unit); ok {
			fmt.Fprintf(w, "%s\t%.1f\t\t\t\t\t\n", m.what, v)
		}
	}
	return w.Flush()
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
