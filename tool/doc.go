// Package tool says what a tool is: a name, a description, the JSON Schema of
// its input and a function; and who may run it with what: permissions. The tools
// themselves are in sub-packages; history (zoom, read, search) is the one that
// every agent has.
//
// An input is checked against its schema before the function sees it, so a
// function may trust its types. What a model did wrong (an unknown tool, a bad
// input, a line that does not exist) is an error result for the model to read,
// never an error of the turn.
//
// [Permissions] are ordered rules, of which the first that matches decides:
//
//	allow  write_file  src/**       every path of the call must match
//	ask    shell       git push*    any part of the command line is enough
//	deny   *           **/.env      any path is enough
//	default ask
//
// They judge what a call says it reaches ([Resources]), by its name: not what a
// link points to, nor what a program that a command starts does by itself. What
// they deny is an error result; what they ask about waits for a person, who may
// decide once or for the whole thread ([Allowed]).
package tool
