package judge

import (
	"crypto/sha256"
	"encoding/hex"

	"nodemask/paper"
)

// FirstProtocol returns the hash of PROTOCOL.md, the protocol on depth and random configurations.
func FirstProtocol() string { return HashOf("PROTOCOL.md") }

// SecondProtocol returns the hash of PROTOCOL-2.md, the protocol for the cited reading of the paper and similar ones.
func SecondProtocol() string { return HashOf("PROTOCOL-2.md") }

// ThirdProtocol returns the hash of PROTOCOL-3.md, the protocol for graphs unlike Cora.
func ThirdProtocol() string { return HashOf("PROTOCOL-3.md") }

// HashOf returns the first 16 hex digits of the SHA-256 of one of [paper.Protocols].
func HashOf(file string) string {
	text, err := paper.Protocols.ReadFile(file)
	if err != nil {
		panic(err)
	}
	h := sha256.Sum256(text)
	return hex.EncodeToString(h[:8])
}
