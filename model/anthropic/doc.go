// Package anthropic asks Anthropic's models, through the vendor's SDK.
//
//	m, err := anthropic.New(anthropic.Options{Key: os.Getenv("ANTHROPIC_API_KEY")})
//	patient := model.Patient(m, model.Policy{})
//
// A request becomes a body (body.go), whose bytes follow from the request alone:
// what changes least comes first, the messages last. The SDK carries it
// (stream.go), gathers nothing and repeats nothing. The blocks of the answer
// become parts (answer.go).
//
// Invariants: (1) equal requests give equal bytes, in every process; (2) a
// request that goes on where another ended gives bytes that start with that
// one's, cache marks aside; (3) thinking goes back as it came; (4) every error is
// a *thread.Error with a [model.Failure] where the provider has spoken.
package anthropic
