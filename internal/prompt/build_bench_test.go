package prompt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skeinhq/skein/internal/prompt"
	"github.com/skeinhq/skein/thread"
)

// BenchmarkBuild makes the prompt of a thread in its daily life: a tail of 200
// messages, some with calls, and an outline of 100 lines.
func BenchmarkBuild(b *testing.B) {
	l := newLog()
	l.boundary = 100
	l.cut = &thread.Cut{Number: 3, Boundary: 100}
	for i := range int64(100) {
		l.outline = append(l.outline, thread.Node{Span: thread.Span{ID: i, N: 1}, Text: "ana → north: " + strings.Repeat("what was agreed on ", 8), Time: monday})
	}
	said := strings.Repeat("words that somebody said about the plan ", 10)
	for i := 0; len(l.messages) < 200; i++ {
		l.say("ana", said)
		if i%3 == 0 {
			id := fmt.Sprintf("call_%d", i)
			l.reply(call(id, "search", `{"q":"studio"}`))
			l.result(id, "search", said)
		}
		l.reply(thread.Text(said))
	}
	l.messages = l.messages[:200]
	for i := range l.messages {
		l.messages[i].Index += 100
	}
	def, rules := north("echo"), rulesOf(b, "echo")
	past := l.past()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := prompt.Build(def, past, prompt.Turn{Time: monday}, rules); err != nil {
			b.Fatal(err)
		}
	}
}
