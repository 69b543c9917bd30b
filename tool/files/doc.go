// Package files gives an agent the files of one folder, its workspace: read_file,
// list_files, write_file and edit_file, and search_files, which is a set of its
// own.
//
//	path of the model ── clean ──► resolve links ──► is it a regular file? ──► os.Root
//	                                                             │
//	read ──► seen[thread, path] = hash          write, edit: hash still the same? ──► temp file ──► rename
//
// What holds:
//
//   - Nothing outside the workspace is reached: no absolute path, no "..", no link
//     that leads out. Links within it work; a call's [tool.Resources] names both
//     the path as it was given and the one it leads to, so that a permission for
//     one is none for the other.
//   - No folder .git is read or written, by whatever link.
//   - What is hidden from a call ([tool.Caller]) is neither listed nor searched, nor
//     is what lies in a hidden folder or what a link leads to; only how many
//     entries were hidden is said, whatever was looked for.
//   - Only regular files are opened: never a device, a socket or a named pipe.
//   - A file that exists is changed only by a thread that has read it, and only
//     while its content is the one that was read. What was read is remembered by
//     the hash of the content, for the last [remembered] files.
//   - A change is whole or not at all: it is written beside the file and renamed
//     over it, with the file's mode. The new file belongs to the user Skein runs
//     as, and other hard links to the old one keep the old content.
//   - All is bounded: what is read, walked, searched and told; what was left out is
//     said.
//
// A name that is written in another Unicode normalization than the one on disk is
// found; so is a line, whatever its ending, and a change keeps the file's endings.
package files
