// Package web is the page of a Skein server: a program of TypeScript for browsers,
// built into dist, embedded, and served by [Handler].
//
//   - page holds the sources and dist what was built from them; a test builds again
//     and compares, so that running Skein needs no Node.
//   - The page talks to the server through its public API alone, by the client in the
//     folder client. It contacts no other origin; the policy sent with it lets no
//     browser do so, and runs no script but its own files.
//   - Files under assets carry a hash of what is in them in their names and are cached
//     for ever. The page itself is looked after each time, by its ETag.
//   - An address of the page's own, such as /t/launch/m/12, gives the page; an address
//     that is none gives 404.
//
// The package imports nothing of Skein's.
package web
