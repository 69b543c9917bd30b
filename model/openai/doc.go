// Package openai asks OpenAI's models over the Responses API, through the
// vendor's SDK. Servers that speak Chat Completions are asked by package chat.
//
//	m, err := openai.New(openai.Options{Key: os.Getenv("OPENAI_API_KEY")})
//	patient := model.Patient(m, model.Policy{})
//
// A request becomes a body (body.go), whose bytes follow from the request alone:
// what changes least comes first, the input last. Nothing is stored at the
// provider: reasoning comes back encrypted, is kept whole as it came, and goes
// back as it came. The SDK carries it (stream.go) and repeats nothing. The items
// of the answer become parts (answer.go).
//
// Invariants: (1) equal requests give equal bytes, in every process; (2) a
// request that goes on where another ended gives bytes that start with that
// one's; (3) reasoning goes back byte for byte; (4) every error is a
// *thread.Error with a [model.Failure] where the provider has spoken.
package openai
