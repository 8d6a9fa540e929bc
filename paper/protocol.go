package paper

import (
	"crypto/sha256"
	_ "embed" // the protocols
	"encoding/hex"
)

// protocol holds the rules that readings of the paper are run and judged under, fixed before the first run.
//
//go:embed PROTOCOL.md
var protocol string

// ProtocolHash returns the name of the protocol that results carry: the first 16 hex digits of its SHA-256.
func ProtocolHash() string {
	h := sha256.Sum256([]byte(protocol))
	return hex.EncodeToString(h[:8])
}

// citedProtocol holds the rules of package cited.
//
//go:embed PROTOCOL-2.md
var citedProtocol string

// CitedProtocolHash returns the name of the second protocol that results carry, as [ProtocolHash] does that of the
// first.
func CitedProtocolHash() string {
	h := sha256.Sum256([]byte(citedProtocol))
	return hex.EncodeToString(h[:8])
}
