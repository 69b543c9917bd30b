package prompt

import (
	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// Plugin is a set of functions that say how a prompt is made. Plugins are merged
// in order: a later one's function replaces an earlier one's, and one that it
// leaves nil stays. [Plain] and [Outline] come before all others.
type Plugin struct {
	Name string

	// Since says where whole messages start. It is asked before they are loaded.
	// ErrNotKnownYet makes the turn wait until more of the thread is known.
	Since func(Known) (int64, error)

	// History lays out lines and messages.
	History func(*Layout)

	// Message appends one stored message to dst as model messages. What it gives
	// is put in order afterwards: results beside their calls, ids unique.
	Message func(dst []model.Message, l *Layout, e *thread.Entry) []model.Message

	// Summary gives one node's text as its line shows it, after the bar. Its
	// special characters are made harmless afterwards.
	Summary func(thread.Node) string

	// Prompt makes the whole. p is the merged plugin.
	Prompt func(in Input, p Plugin) (*Prompt, error)
}

// Plain is the chat that was never cut: every message whole.
func Plain() Plugin {
	return Plugin{Name: "plain", Since: sinceStart, History: wholeMessages, Message: appendStored, Prompt: compose}
}

// Outline puts the lines of what was cut before the whole messages.
func Outline() Plugin {
	return Plugin{Name: "outline", Since: sinceCut, History: linesThenMessages, Summary: nodeText}
}

// Merge puts plugins over each other, Plain and Outline first.
func Merge(plugins ...Plugin) Plugin {
	var m Plugin
	for _, p := range append([]Plugin{Plain(), Outline()}, plugins...) {
		m.Name = p.Name
		if p.Since != nil {
			m.Since = p.Since
		}
		if p.History != nil {
			m.History = p.History
		}
		if p.Message != nil {
			m.Message = p.Message
		}
		if p.Summary != nil {
			m.Summary = p.Summary
		}
		if p.Prompt != nil {
			m.Prompt = p.Prompt
		}
	}
	return m
}

func wholeMessages(l *Layout) {
	for i := range l.Messages {
		l.Whole(&l.Messages[i])
	}
}

func linesThenMessages(l *Layout) {
	if len(l.Lines) > 0 {
		l.Chat()
	}
	wholeMessages(l)
}

func nodeText(n thread.Node) string { return n.Text }
