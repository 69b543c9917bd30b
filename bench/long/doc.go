// Package long makes threads of any length through Skein's own front door, and
// keeps them in files between runs.
//
// A thread of n messages is one made-up conversation (package talk) imported in
// two pieces. The second piece, [Ending] messages, is the same for every length,
// and the import's cut falls within it: so threads of a hundred messages and of a
// million have the very same tail, and outlines of the same weight, and what
// differs between them is their length alone.
package long
