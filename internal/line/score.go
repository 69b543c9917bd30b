package line

import (
	_ "embed"
	"strings"
	"unicode"
	"unicode/utf8"
)

// term is a word or an anchor and what it is worth to a line the first time.
type term struct {
	id    int
	value float64
}

// What anchors are worth. A rare word is worth 1.
var anchorValues = map[anchorKind]float64{
	numberAnchor: 1,
	dateAnchor:   2,
	idAnchor:     1.6,
	pathAnchor:   2.6,
	urlAnchor:    2.2,
	quotedAnchor: 1.4,
	nameAnchor:   1.5,
}

// repeated is what a term is worth that the line holds already.
const repeated = 0.12

// crowded is what an anchor is worth of the one before it in the same fragment,
// so that a list does not win by its length.
const crowded = 0.85

// What an utterance of a kind is worth.
var kindFactors = map[utteranceKind]float64{
	userSaid:  3,
	agentSaid: 1.2,
	called:    1,
	gave:      0.55,
}

// cues are words that show what matters, a kind of cue a line of the table: what
// is wished or decided, what was done, what failed, what was found.
//
//go:embed cues.txt
var cueText string

var cues = cueTable(cueText)

// cueFactors are what one of a kind of cue makes of a fragment.
var cueFactors = map[string]float64{"wish": 1.35, "done": 1.3, "fail": 1.4, "find": 1.2}

// cueCounts are the kinds of utterances in which only one kind of cue counts:
// what a command does, what a tool says failed.
var cueCounts = map[utteranceKind]string{called: "done", gave: "fail"}

func cueTable(text string) map[string]string {
	table := map[string]string{}
	for l := range strings.Lines(text) {
		words := strings.Fields(l)
		for _, w := range words {
			if _, ok := table[w]; !ok {
				table[w] = words[0]
			}
		}
	}
	return table
}

// lexicon gives the terms of one line's input their ids and counts them.
type lexicon struct {
	ids    map[string]int
	counts []int
}

func (l *lexicon) id(s string) int {
	id, ok := l.ids[s]
	if !ok {
		id = len(l.counts)
		l.ids[s] = id
		l.counts = append(l.counts, 0)
	}
	l.counts[id]++
	return id
}

// score finds the terms of a fragment and its factor, place aside.
func (l *lexicon) score(f *fragment, u *utterance) {
	text := u.text[f.start:f.end]
	seen := map[int]bool{}
	add := func(s string, value float64) {
		if id := l.id(s); !seen[id] && value > 0 {
			seen[id] = true
			f.terms = append(f.terms, term{id, value})
		}
	}
	crowd, held := 1.0, 0
	eachAnchor(text, func(a anchor) {
		held += a.end - a.start
		add(baseName(text[a.start:a.end]), anchorValues[a.kind]*crowd)
		crowd *= crowded
	})
	f.factor = kindFactors[u.kind]
	cued := map[string]bool{}
	eachWord(text, func(w string) {
		add(w, rarity(w))
		if kind := cues[w]; kind != "" && !cued[kind] {
			cued[kind] = true
			if cueCounts[u.kind] == "" || cueCounts[u.kind] == kind {
				f.factor *= cueFactors[kind]
			}
		}
	})
	if codeLike(text) {
		f.factor *= 0.4
	}
	if held*10 > len(text)*7 && u.kind != called {
		f.factor *= 0.35 // a list of anchors, hardly a sentence
	}
	if strings.Contains(text, "?") && u.kind == userSaid {
		f.factor *= 1.15
	}
}

// baseName is by what a path counts as the same: its last name.
func baseName(s string) string {
	if i := strings.LastIndexAny(s, "/\\"); i >= 0 && i+1 < len(s) {
		return s[i+1:]
	}
	return s
}

// rarity is what a word is worth: nothing for a common one.
func rarity(w string) float64 {
	switch {
	case isCommon(w):
		return 0
	case len(w) < 3:
		return 0.2
	case len(w) < 5:
		return 0.7
	default:
		return 1
	}
}

// eachWord calls yield for the words of the text in lower case; a script that
// writes no spaces gives pairs of neighbouring runes.
func eachWord(text string, yield func(string)) {
	var before rune
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case unicode.IsLetter(r) && spaceless(r):
			if before != 0 {
				yield(string([]rune{before, r}))
			}
			before = r
			i += size
			continue
		case !unicode.IsLetter(r):
			i += size
		default:
			end := i + size
			for end < len(text) {
				n, s := utf8.DecodeRuneInString(text[end:])
				if !(wordRune(n) || n == '\'' || n == '’') {
					break
				}
				end += s
			}
			yield(strings.ToLower(strings.Trim(text[i:end], "'’")))
			i = end
		}
		before = 0
	}
}

// codeLike says whether much of the text is the punctuation of code.
func codeLike(text string) bool {
	marks := 0
	for i := range len(text) {
		if strings.IndexByte("{}()[];=<>|&+\\$", text[i]) >= 0 {
			marks++
		}
	}
	return marks*10 > len(text) && marks > 3
}
