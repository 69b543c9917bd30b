package word

import "github.com/kljensen/snowball/english"

// Query gives the distinct terms of a query in order, without stop words; where
// it has nothing but stop words, they are its terms.
func Query(q string) []string {
	var terms, stops []string
	seen := map[string]bool{}
	newScanner(func(t token) {
		if t.within || seen[t.term] {
			return
		}
		seen[t.term] = true
		if isStop(q[t.start:t.end]) {
			stops = append(stops, t.term)
			return
		}
		terms = append(terms, t.term)
	}).scan(q)
	if len(terms) == 0 {
		return stops
	}
	return terms
}

// contracted are the ends that an apostrophe leaves behind.
var contracted = map[string]bool{"d": true, "ll": true, "m": true, "re": true, "ve": true}

func isStop(w string) bool {
	w = fold(w)
	return english.IsStopWord(w) || contracted[w]
}
