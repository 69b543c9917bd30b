// Package chat asks servers that speak OpenAI's Chat Completions: OpenRouter,
// Ollama, vLLM, llama.cpp, DeepSeek, Mistral and many more.
//
//	m, err := chat.New(chat.Options{Name: "ollama", BaseURL: "http://localhost:11434/v1"})
//	patient := model.Patient(m, model.Policy{})
//
// A request becomes a body (body.go), whose bytes follow from the request alone:
// what changes least comes first, the messages last. A small client carries it
// (stream.go, events.go). The pieces of the answer become parts (answer.go).
//
// The servers differ, and the client follows them as far as it can tell:
// thinking goes back in the field in which it came, calls without an id get one,
// errors are read in every shape in which they come (failure.go).
//
// Invariants: (1) equal requests give equal bytes, in every process; (2) a
// request that goes on where another ended gives bytes that start with that
// one's, cache marks aside; (3) thinking goes back as it came; (4) every error is
// a *thread.Error with a [model.Failure] where the server has spoken.
package chat
