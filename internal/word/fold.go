package word

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// letters that Unicode does not take apart but people type without.
var plain = strings.NewReplacer(
	"ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ı", "i", "ς", "σ",
)

// fold lowers the case of a word and takes its accents off. Marks that spell
// rather than accent (Indic vowels, voiced kana) stay.
func fold(s string) string {
	ascii, lower := true, true
	for i := 0; i < len(s); i++ {
		c := s[i]
		ascii = ascii && c < utf8.RuneSelf
		lower = lower && !('A' <= c && c <= 'Z')
	}
	switch {
	case ascii && lower:
		return s
	case ascii:
		return strings.ToLower(s)
	case isPlainUnspaced(s):
		return s
	}
	s = strings.Map(unaccent, norm.NFKD.String(s))
	s = strings.Map(unaccent, strings.ToLower(s))
	return plain.Replace(norm.NFKC.String(s))
}

// isPlainUnspaced says whether s is one character of an unspaced script with
// nothing to fold: most of such text, which the long way would slow tenfold.
func isPlainUnspaced(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return n == len(s) && isUnspaced(r) && norm.NFKC.IsNormalString(s)
}

func unaccent(r rune) rune {
	if 0x300 <= r && r <= 0x36F || !isWord(r) {
		return -1
	}
	return r
}

// isWord says whether words are made of the rune.
func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// unspaced are the scripts that write words without spaces between them, or
// glue endings to them (Hangul).
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// isUnspaced says whether the rune is of such a script. The long-vowel marks
// belong to no script but stand in kana.
func isUnspaced(r rune) bool {
	return r >= 0xE00 && isWord(r) && (r == 'ー' || r == 'ｰ' || r == 'ﾞ' || r == 'ﾟ' || unicode.In(r, unspaced...))
}
