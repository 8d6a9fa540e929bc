package judge

import (
	"crypto/sha256"
	"encoding/hex"

	"nodemask/paper"
)

// FirstProtocol returns the name that records carry of PROTOCOL.md: depth, and the comparison of drawn configurations.
func FirstProtocol() string { return HashOf("PROTOCOL.md") }

// SecondProtocol returns the name that records carry of PROTOCOL-2.md: the cited reading and those around it.
func SecondProtocol() string { return HashOf("PROTOCOL-2.md") }

// HashOf returns the name that results carry of one of [paper.Protocols]: the first 16 hex digits of its SHA-256.
func HashOf(file string) string {
	text, err := paper.Protocols.ReadFile(file)
	if err != nil {
		panic(err) // it is embedded
	}
	h := sha256.Sum256(text)
	return hex.EncodeToString(h[:8])
}
