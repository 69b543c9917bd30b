package thread

import (
	"unicode"
	"unicode/utf8"
)

// Weights are estimates of tokens. ASCII text weighs a quarter of a token a
// byte. For other scripts the figures below are tokens a rune, in 1/60, fitted
// to the published behaviour of current byte-pair vocabularies of about 200,000
// entries; they are meant to be right within a fifth on running text.
const (
	weightUnit    = 60
	weightASCII   = 15 // 1/4
	weightLatin   = 24 // accented Latin, Greek, Cyrillic
	weightCursive = 27 // Arabic, Hebrew, Indic and other alphabets
	weightCJK     = 48 // Han, Kana, Hangul
	weightOther   = 90 // emoji and symbols
)

// Weights of what is not text. An image of about a megapixel is billed as about
// 1,600 tokens by both large vendors.
const (
	imageWeight = 1600
	partWeight  = 4  // framing of a call or result
	wholeWeight = 16 // the reference to a result's whole text, which is never sent
)

// Weight estimates the tokens of a text, rounded up.
func Weight(s string) int {
	units := 0
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			units += weightASCII
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		units += runeWeight(r)
		i += n
	}
	return (units + weightUnit - 1) / weightUnit
}

func runeWeight(r rune) int {
	switch {
	case r < 0x530:
		return weightLatin
	case r < 0x1100 && unicode.IsLetter(r) || unicode.IsMark(r):
		return weightCursive
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
		return weightCJK
	case r >= 0x3000 && r <= 0x303F || r >= 0xFF00 && r <= 0xFFEF:
		return weightCJK // CJK punctuation and full-width forms
	case unicode.IsLetter(r):
		return weightCursive
	case unicode.IsPunct(r):
		return weightUnit
	default:
		return weightOther
	}
}

// Weigh estimates the tokens of the message as rendered, with its contexts. A
// user's message is rendered with its author's name before it.
func (m *Message) Weigh() int {
	w := 0
	named := m.Role != User
	for _, p := range m.Parts {
		if p.Type == TextPart && !named {
			w += Weight(m.Author + ": " + p.Text)
			named = true
			continue
		}
		w += p.Weigh()
	}
	for _, c := range m.Contexts {
		w += Weight(c.String())
	}
	return w
}

// Weigh estimates the tokens of one part.
func (p Part) Weigh() int {
	switch p.Type {
	case TextPart:
		return Weight(p.Text)
	case ThinkingPart:
		return Weight(p.Text) + Weight(p.Signature)
	case CallPart:
		return partWeight + Weight(p.ID) + Weight(p.Name) + Weight(string(p.Input))
	case ResultPart:
		w := partWeight + Weight(p.Call)
		whole := p.Whole()
		for i, q := range p.Parts {
			if i == whole {
				w += wholeWeight
				continue
			}
			w += q.Weigh()
		}
		return w
	case BlobPart:
		if len(p.MediaType) > 6 && p.MediaType[:6] == "image/" {
			return imageWeight
		}
		return int(p.Size / 4)
	default:
		return Weight(string(p.Raw))
	}
}
