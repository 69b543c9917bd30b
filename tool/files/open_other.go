//go:build !unix

package files

// Where names cannot be pipes, opening does not wait.
const dontWait = 0
