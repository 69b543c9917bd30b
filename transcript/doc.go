// Package transcript reads the conversations of other programs as streams of
// entries.
//
//	r, err := transcript.Read(ctx, file, transcript.Options{Blob: keep})
//	for item, err := range r.Items() {
//		… append item.Entry …
//	}
//	fmt.Println(r.Report())
//
// A format is known by its content, never by a file's name. Each is one row of a
// table, with its reader in a file of its own. A reader takes its source apart
// into records (lines of a log, messages of an array), makes of each what it can,
// and says of each that it could not place why not: it neither stops at a bad
// record nor drops one silently. Memory does not grow with the source, but for a
// few bytes a record where the source is a tree.
//
// Whatever the source, the entries make a conversation that any provider takes:
//
//	call with a result       the result follows the call's message
//	call without a result    an error result follows, marked as made here
//	result without a call    a visible note
//
// Fields and records that have no place in a message are kept as they are under
// "import" in its Meta ([Origin]); parts that Skein does not know are raw parts.
//
// # Keys
//
// Every entry has a key made from the source's own ids, or from places that stay
// while the source grows at its end. Appending the entries of the same source
// again therefore adds only what is new. One case needs the caller's help, see
// [Item].
package transcript
