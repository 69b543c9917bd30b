// Package git gives an agent one tool that looks at the repository of its
// workspace: status, diff, log and show. It only reads, and nothing of the
// repository runs.
//
// A repository can name programs to run in many places: hooks, pagers, external
// diffs, text converters, filters for files, a file system monitor, signature
// checks, credential helpers, a promised remote. All of them are named in its
// configuration. So git is not given that configuration with the dangerous parts
// switched off; it is given another one, by a mirror:
//
//	.git/HEAD, index, info/exclude, …  ── copied ──►  mirror (a temporary folder)
//	.git/refs, packed-refs, logs       ── linked ──►    config: ours, with the few settings
//	.git/objects                       ── named  ──►    that only say how files are stored
//	                                                       │
//	the workspace's files ─────────────────────────────────┴─► git status, diff, log, show
//
// What holds:
//
//   - No configuration is read but the mirror's: not the repository's, not the
//     user's, not the system's. Attributes may name drivers; there are none. No
//     program runs but git itself, and nothing is asked of a network.
//   - Nothing of the repository is written: what git wants to write lands in the
//     mirror, which is removed.
//   - Submodules are compared by their commits; what is in their folders is not
//     looked at, since that would be done by their own configuration.
//   - Revisions are looked up first, and git gets their hashes; paths are literal
//     and stand behind "--". Neither can be an option.
//   - The repository is the folder .git of the workspace itself. A file .git is
//     followed only to a repository that knows the workspace as one of its working
//     trees. Links out of it, and objects borrowed from elsewhere, are refused.
//   - What is hidden from a call ([tool.Caller]) is not shown, by whatever command:
//     git is told to leave it out, by its names in the index and in the commits that
//     are shown. What has no path there, such as a blob by its hash, is refused.
//   - The output is bounded, valid UTF-8 and free of terminal escapes; git and all
//     it started ends with [Time] and with the context.
//
// Files that a filter would change (such as those of Git LFS) are compared as
// they are in the folder, so they may be told as modified once they were touched.
package git
