// Package modeltest is where models are tried without their makers: a strict
// local provider, a replay of recorded exchanges, and the suites that every
// provider's adapter passes.
//
//	Server   speaks the vendors' APIs on the loopback, and refuses what they refuse
//	Replay   answers with recorded exchanges, byte by byte
//	Record   records real exchanges, without their secrets
//	Run      the suite
//	RunRaw   the suite of what a strict provider never says, against raw bytes
//
// A server listens at
//
//	/v1/messages                         Anthropic's Messages API
//	/v1/responses, /v1/chat/completions  OpenAI's Responses and Chat Completions
//	/ollama/v1/chat/completions          Chat Completions as Ollama speaks it,
//	/vllm/v1/chat/completions            as vLLM does,
//	/openrouter/api/v1/chat/completions  and as OpenRouter does
//
// It answers as the request's header [ReplyHeader] says, else as its script does
// ([Server.Script]), else as the model's name asks (its end may be one of
// [CannedNames], as in claude-opus-5-5-fake-refusal), else by a plain rule: it
// calls zoom where it is asked to "zoom 8 4", tells what its tools returned, and
// else says back the newest user message.
//
// Invariants:
//
//	S1 An answer is a function of the request and the reply: ids, signatures and
//	   bytes are the same again, after a restart too (the time it was made aside).
//	S2 A request is refused with the status and the shape that its vendor has for
//	   it. The rules are those of the vendors' documentation.
//	S3 A signature holds the model and the prompt it was made with, so what is
//	   altered or moved is found without any memory.
//	S4 What is billed follows from the vendors' rules for their caches, counted in
//	   tokens of thread.Weight, block by block: a block is the same or it is not.
//	   Only what a vendor counts in tokens of its own (the least that is cached, the
//	   window) is compared by the model's factor.
//
// What the vendors have besides is not there: server tools, stored responses,
// batches, citations, and anything that a request for one answer does not need.
package modeltest
