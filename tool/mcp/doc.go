// Package mcp lets a model call tools of MCP servers, over stdio or streamable
// HTTP: each server is a [tool.Set], its prompts may be instructions, its
// resources can be listed and read.
//
// A server is somebody else's program. It may be away, hang, die, lie about its
// schemas or send without end; none of that takes a turn down:
//
//	Open     every server is connected to in the background
//	Sets     its tools as last told; none, and a warning, where it was never reached
//	a call   ends at the server's Timeout, and is cancelled there
//	a death  is an error for the model; the next call starts the server again,
//	         at once the first time, then later and later (5 s doubling to 5 min)
//	a hang   of the whole server is noticed after a call timed out; it is stopped
//
// What a server says is data. Names become `server_tool`, of letters, digits, _
// and -; descriptions are one line without control or hidden characters; schemas
// keep their meaning, in a byte order of ours, and one that cannot be used is
// told as {"type":"object"}. Tools stand in the order of their names, so that the
// same offer gives the same bytes of prompt (I6). That a tool only reads is
// believed of servers that are trusted alone. Servers get no sampling, no
// elicitation, and no roots other than their Dir.
//
// Limits: 256 tools a server, 64 KiB a schema (tool.MaxSchema), 2,000 characters
// a description, 16 MiB a message, 8 MiB a file and 16 files a result, 200 lines
// of stderr a connection.
package mcp
