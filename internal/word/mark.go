package word

// Range is a piece of a text, in bytes: [Start, End).
type Range struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Mark finds the words, which are terms as [Query] makes them, in a text. The
// ranges are in order and neither overlap nor touch inside a word: a run of
// matching pairs is one range.
func Mark(text string, words []string) []Range {
	if len(words) == 0 {
		return nil
	}
	wanted := make(map[string]bool, len(words))
	for _, w := range words {
		wanted[w] = true
	}
	var out []Range
	newScanner(func(t token) {
		if !wanted[t.term] {
			return
		}
		if n := len(out); n > 0 && t.start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, t.end)
			return
		}
		out = append(out, Range{t.start, t.end})
	}).scan(text)
	return out
}
