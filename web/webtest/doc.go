// Package webtest tries the page as people do: in a browser, against a real server
// over a real database. It holds tests alone.
//
//   - A site is a server with models that say what a test has them say. It can be
//     killed and started again at the same address.
//   - A tab is a page in Debian's Chromium. What a script logs as an error, throws, or
//     is refused by the page's policy fails the test.
//   - Each view is looked at by axe, in light and in dark, and its picture is kept in
//     the folder of SKEIN_SHOTS, where one is given.
//   - Without a browser the tests are skipped and say so; with SKEIN_REQUIRE=all they
//     fail.
package webtest
