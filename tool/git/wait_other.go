//go:build !unix

package git

// Where names cannot be pipes, opening does not wait.
const dontWait = 0
