package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/skeinhq/skein/model"
	"github.com/skeinhq/skein/thread"
)

// Definition is what an agent is told and may do: everything of a prompt that
// does not come from the log. It is resolved once a turn and kept as a blob, so
// that the prompt of any past request can be made again.
type Definition struct {
	Agent        string           `json:"agent"`
	Model        string           `json:"model"`
	Instructions string           `json:"instructions,omitempty"` // with the skill catalogue
	Tools        []model.Tool     `json:"tools,omitempty"`
	Contexts     []thread.Context `json:"contexts,omitempty"`  // blocks that seldom change
	MaxAge       time.Duration    `json:"maxAge,omitempty"`    // 0: all of the past
	MaxOutput    int              `json:"maxOutput,omitempty"` // tokens; 0: the model's largest
	Thinking     string           `json:"thinking,omitempty"`  // effort: "", low, medium, high
	Zone         string           `json:"zone,omitempty"`      // IANA name; "" is UTC
	Strategy     string           `json:"strategy,omitempty"`  // whose cuts count; "" is the outline
}

// Encode gives the definition's canonical bytes: the blob that
// thread.Request.Definition names. It fails with configuration where a tool's
// schema is not JSON.
func (d Definition) Encode() ([]byte, error) {
	data, err := thread.Encode(d)
	if err != nil {
		return nil, &thread.Error{Code: thread.Configuration, Op: "prompt", Message: "the definition of agent " + d.Agent + " cannot be written", Hint: "a tool's schema must be JSON", Err: err}
	}
	return data, nil
}

// DecodeDefinition reads what [Definition.Encode] wrote.
func DecodeDefinition(data []byte) (Definition, error) {
	var d Definition
	if err := json.Unmarshal(data, &d); err != nil {
		return Definition{}, &thread.Error{Code: thread.Storage, Op: "prompt", Message: "a stored definition cannot be read", Err: err}
	}
	return d, nil
}

// blobHash names a blob as a store does.
func blobHash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
