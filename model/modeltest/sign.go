package modeltest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// A signature holds all that the server must remember of a thought: which model
// had it, after which prompt, and a proof that it is the server's and was not
// altered. So it is known again after a restart and on another machine.
//
//	base64( version · model · 0 · sum of the prompt before · proof )
const signatureVersion = 'S'

// signingKey makes the proofs. It protects nothing: whoever has the source can
// sign.
var signingKey = []byte("a fake provider's thoughts")

// signed is what a signature says.
type signed struct {
	model  string
	before sum
	proof  string
}

// sign makes the signature of what a model thought after a prompt.
func sign(model string, before sum, text string) string {
	return base64.StdEncoding.EncodeToString([]byte(string(signatureVersion) + model + "\x00" + string(before[:]) + prove(model, before, text)))
}

func prove(model string, before sum, text string) string {
	h := hmac.New(sha256.New, signingKey)
	for _, s := range []string{model, string(before[:]), text} {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return string(h.Sum(nil))
}

// open reads a signature; ok is false where it is not the server's own.
func open(signature string) (s signed, ok bool) {
	raw, err := base64.StdEncoding.DecodeString(signature)
	if err != nil || len(raw) == 0 || raw[0] != signatureVersion {
		return signed{}, false
	}
	name, rest, found := strings.Cut(string(raw[1:]), "\x00")
	if !found || len(rest) != len(sum{})+sha256.Size {
		return signed{}, false
	}
	copy(s.before[:], rest)
	s.model, s.proof = name, rest[len(sum{}):]
	return s, true
}

// fits says whether that text was signed.
func (s signed) fits(text string) bool {
	return hmac.Equal([]byte(s.proof), []byte(prove(s.model, s.before, text)))
}
