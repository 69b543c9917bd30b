package store

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/google/uuid"
)

// NewID makes an entry's id, a UUIDv7.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// NewEpoch names an incarnation of a log.
func NewEpoch() string { return uuid.NewString() }

// Hash names bytes: their SHA-256 in lower-case hex.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
