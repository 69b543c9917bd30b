package line

import (
	_ "embed"
	"strings"
)

// commonWords are words that say little: those of everyday English, of short
// replies, of programs, and the smallest words of three other languages. The
// table is fixed: a line depends on nothing else but its own input.
//
//go:embed common.txt
var commonText string

var commonWords = wordSet(commonText)

// isCommon says whether the word, in lower case, says little.
func isCommon(word string) bool { return commonWords[word] }

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		set[w] = true
	}
	return set
}
