// Package talk makes up conversations: the same seed gives the same messages,
// one after another, without end.
//
// They are made up but of a realistic mix, so that lines of every kind are
// written: short questions and replies (which are their own lines), answers of
// some paragraphs, listings of code, pasted logs, now and then a text of several
// thousand bytes. Words follow a long-tailed frequency, and numbers, paths and
// names occur as they do in work.
package talk

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Message is one message of a made-up conversation.
type Message struct {
	User bool // else it is the assistant's
	Text string
}

// Talk is one conversation. It is not safe for use by several goroutines.
type Talk struct {
	random *rand.Rand
	zipf   *rand.Zipf
	number int
}

// New begins the conversation of a seed.
func New(seed uint64) *Talk {
	r := rand.New(rand.NewPCG(seed, 0x736b65696e))
	return &Talk{random: r, zipf: rand.NewZipf(r, 1.2, 3, uint64(len(vocabulary)-1))}
}

// Next makes the next message. User and assistant take turns.
func (t *Talk) Next() Message {
	t.number++
	m := Message{User: t.number%2 == 1}
	kinds := answers
	if m.User {
		kinds = questions
	}
	at := t.random.IntN(100)
	for _, k := range kinds {
		if at -= k.percent; at < 0 {
			m.Text = k.text(t)
			break
		}
	}
	return m
}

// kind is one kind of text and how many of a hundred messages are of it.
type kind struct {
	percent int
	text    func(t *Talk) string
}

var questions = []kind{
	{25, func(t *Talk) string { return t.sentence(2, 6) }},
	{40, func(t *Talk) string { return t.paragraph(1, 2) }},
	{25, func(t *Talk) string { return t.paragraph(2, 5) }},
	{8, func(t *Talk) string { return t.paragraph(1, 1) + "\n\n" + t.log(4, 24) }},
	{2, func(t *Talk) string { return t.paragraphs(8, 20) }},
}

var answers = []kind{
	{15, func(t *Talk) string { return t.sentence(3, 9) }},
	{35, func(t *Talk) string { return t.paragraph(1, 3) }},
	{30, func(t *Talk) string { return t.paragraphs(1, 3) }},
	{15, func(t *Talk) string { return t.paragraph(1, 2) + "\n\n" + t.code(3, 16) }},
	{5, func(t *Talk) string { return t.paragraphs(3, 9) }},
}

// between gives a number from low to high, both included.
func (t *Talk) between(low, high int) int { return low + t.random.IntN(high-low+1) }

func (t *Talk) word() string { return vocabulary[t.zipf.Uint64()] }

// term is a word, or now and then something that a summary must not change.
func (t *Talk) term() string {
	switch t.random.IntN(24) {
	case 0:
		return fmt.Sprint(t.between(2, 9000))
	case 1:
		return fmt.Sprintf("%s/%s_%s.go", t.word(), t.word(), t.word())
	case 2:
		w := t.word()
		return strings.ToUpper(w[:1]) + w[1:]
	}
	return t.word()
}

func (t *Talk) sentence(low, high int) string {
	words := make([]string, t.between(low, high))
	for i := range words {
		words[i] = t.term()
	}
	s := strings.Join(words, " ")
	return strings.ToUpper(s[:1]) + s[1:] + []string{".", ".", ".", "?"}[t.random.IntN(4)]
}

func (t *Talk) paragraph(low, high int) string {
	sentences := make([]string, t.between(low, high))
	for i := range sentences {
		sentences[i] = t.sentence(5, 18)
	}
	return strings.Join(sentences, " ")
}

func (t *Talk) paragraphs(low, high int) string {
	all := make([]string, t.between(low, high))
	for i := range all {
		all[i] = t.paragraph(2, 5)
	}
	return strings.Join(all, "\n\n")
}

func (t *Talk) log(low, high int) string {
	lines := make([]string, t.between(low, high))
	for i := range lines {
		lines[i] = fmt.Sprintf("12:%02d:%02d %s: %s %s=%d", t.random.IntN(60), t.random.IntN(60), t.word(), t.word(), t.word(), t.random.IntN(100_000))
	}
	return strings.Join(lines, "\n")
}

func (t *Talk) code(low, high int) string {
	lines := make([]string, t.between(low, high))
	for i := range lines {
		lines[i] = fmt.Sprintf("\t%s := %s(%s, %d)", t.word(), t.word(), t.word(), t.random.IntN(1000))
	}
	return "```go\n" + strings.Join(lines, "\n") + "\n```"
}

// vocabulary is made of syllables, the first and most frequent words short.
var vocabulary = func() []string {
	r := rand.New(rand.NewPCG(1, 2))
	onsets := strings.Fields("b br c ch d dr f fl g gr h j k l m n p pl pr r s sh st t th tr v w")
	nuclei := strings.Fields("a e i o u ea ou ai")
	codas := []string{"", "", "", "n", "r", "s", "t", "l", "m", "nd", "ck"}
	seen := map[string]bool{}
	var words []string
	for len(words) < 4000 {
		var b strings.Builder
		for range 1 + (len(words)+400)/1200 + r.IntN(2) {
			b.WriteString(onsets[r.IntN(len(onsets))] + nuclei[r.IntN(len(nuclei))] + codas[r.IntN(len(codas))])
		}
		if w := b.String(); !seen[w] {
			seen[w] = true
			words = append(words, w)
		}
	}
	return words
}()
