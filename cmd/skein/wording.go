package main

import (
	"fmt"
	"strings"
	"unicode"
)

// wording is how a talk line by line puts what is around the words.
type wording struct {
	greeting string // thread, how many messages
	force    string // the model and the strategies that are in force
	prompt   string // who is asked
	more     string // a typed line goes on
	says     string // author, before an answer
	calls    string // author, tool, input
	gave     string // tool, who called it, its result
	again    string // why an answer starts again
	ending   string // why an answer ended, where not as it should
	ended    string // after an answer
	stopped  string

	asks       string // agent, the call's id where several wait, the question
	named      string // a call's id
	decide     string // how to decide; " CALL" where several wait, what always is
	decided    string // by whom, and what
	later      string // what was said waits for the turn's end
	elsewhere  string // another process runs the turn
	resumed    string // a turn that was left open goes on
	unanswered string // since an answer was stopped

	// ready gives how many bytes of what has come of an answer are written now.
	ready func(text string) int
}

// forEyes is for who sees, and for pipes.
var forEyes = wording{
	greeting: "%s · %s · /help lists the commands\n",
	force:    " · %s · %s",
	prompt:   "%s> ",
	more:     "… ",
	says:     "%s: ",
	calls:    "(%s → %s: %s)\n",
	gave:     "(%s → %s: %s)\n",
	again:    "(again from the start: %s)\n",
	ending:   "(%s)\n",
	stopped:  "(stopped)\n",

	asks:       "(%s asks%s: %s)\n",
	named:      " for %s",
	decide:     "(/approve%[1]s allows it, /approve!%[1]s allows %[2]s, /deny%[1]s [REASON] denies it)\n",
	decided:    "(%s)\n",
	later:      "(kept: it is answered after this turn)\n",
	elsewhere:  "(another process answers here; its end is waited for)\n",
	resumed:    "(going on with the turn that was left open)\n",
	unanswered: "(what was said last has no answer: Enter or /retry asks for it)\n",

	ready: func(text string) int { return len(text) },
}

// forEars is for a screen reader: no signs but words, whole sentences instead of
// pieces of words, and nothing is ever written over.
var forEars = wording{
	greeting: "Thread %s, %s. Type to talk. /help lists the commands, /exit leaves.\n",
	force:    ", answered by %s with the strategy %s",
	prompt:   "%s, say something: ",
	more:     "Go on: ",
	says:     "%s says:\n",
	calls:    "%s uses %s with %s\n",
	gave:     "%s gives %s: %s\n",
	again:    "The answer starts again: %s.\n",
	ending:   "The answer ended early: %s.\n",
	ended:    "End of the answer.\n",
	stopped:  "Stopped.\n",

	asks:       "%s asks for leave%s. %s\n",
	named:      " for the call %s",
	decide:     "Type /approve%[1]s to allow it, /approve!%[1]s to allow %[2]s, or /deny%[1]s and a reason.\n",
	decided:    "Decided: %s.\n",
	later:      "That is kept and answered after this turn.\n",
	elsewhere:  "Another process answers here. Its end is waited for.\n",
	resumed:    "Going on with the turn that was left open.\n",
	unanswered: "What was said last has no answer. Press Enter or type /retry to ask for it.\n",

	ready: sentences,
}

// longSentence is how many bytes are waited for until words are spoken that end
// no sentence.
const longSentence = 400

// sentences gives the length of the whole sentences that text begins with.
func sentences(text string) int {
	end, ended := 0, false
	for i, r := range text {
		switch {
		case r == '\n' || ended && unicode.IsSpace(r):
			end = i + 1
			ended = false
		case strings.ContainsRune("。！？", r):
			end = i + len("。")
		default:
			ended = strings.ContainsRune(".!?…:;", r) || ended && strings.ContainsRune("\"')]}»”*_", r)
		}
	}
	if end == 0 && len(text) >= longSentence {
		return strings.LastIndexByte(text, ' ') + 1
	}
	return end
}

// counted writes a number of things.
func counted[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// noun is the word for a number of things, for where the number stands apart.
func noun[N int | int64](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
