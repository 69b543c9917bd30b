// Package shell gives an agent a shell: one tool that runs a command line in the
// workspace and gives what it printed and how it ended.
//
// It is no cage. A command may do whatever the user that Skein runs as may do,
// outside the workspace too, and may read every file that user may read. Who
// gives it to an agent decides by permissions and approvals which commands run;
// [tool.Resources] names the command line for them.
//
// What the tool does keep:
//
//   - A command has no input and no terminal, so that nothing waits for somebody
//     to type. Its time is 120 seconds unless it asks for another one, at most
//     [MaxTime].
//   - Nothing of a command goes on when it has ended: all of its process group is
//     killed, whatever it left in the background included. (A process that makes
//     itself a session of its own escapes that.)
//   - At most [tool.MaxOutput] bytes of output are kept, its head and its tail, in
//     as much memory. Terminal escapes are left out, other control characters and
//     what is no UTF-8 are shown by pictures.
//   - Variables of the environment whose names or values look like secrets are
//     not passed on, unless [Options].Pass names them.
//
// Each command begins anew in the workspace: a changed folder or a variable that
// was set does not outlive it.
package shell
