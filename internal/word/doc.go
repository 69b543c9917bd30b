// Package word turns text into the terms that search compares.
//
// A term is made of letters and digits alone. A word becomes one: lower case,
// accents folded, English endings taken off where it is plain ASCII letters.
// Two kinds of words give more than one term:
//
//	TuiRenderer     tuirender tui render    the whole, then its parts
//	我的猫           我 我的 的 的猫 猫         characters and neighbouring pairs
//
// Punctuation always separates, so tui-renderer.ts and snake_case are found by
// any of their parts. Scripts that write no spaces are looked up by pairs of
// neighbours, and by the character where the query has one only.
//
//	Message: the terms to index, in order, of all that a message says
//	Query:   the distinct terms to look up, stop words left out
//	Mark:    where in a text the words of a query stand
//
// All three read text by the same rules: what Message indexes, Query asks for
// and Mark finds. The package is pure.
package word
