package multiverse

import (
	"crypto/sha256"
	"encoding/hex"

	"nodemask/paper"
)

// ProtocolHash returns the name of PROTOCOL.md that results carry.
func ProtocolHash() string { return HashOf("PROTOCOL.md") }

// HashOf returns the name that results carry of one of [paper.Protocols]: the first 16 hex digits of its SHA-256.
func HashOf(file string) string {
	text, err := paper.Protocols.ReadFile(file)
	if err != nil {
		panic(err) // it is embedded
	}
	h := sha256.Sum256(text)
	return hex.EncodeToString(h[:8])
}
