package paper

import "embed"

// Protocols holds the rules that readings of the paper are run and judged under, each fixed before its first run:
// PROTOCOL.md, of every reading that the text allows, and PROTOCOL-2.md, of the cited one. Results carry the first 16
// hex digits of the SHA-256 of theirs.
//
//go:embed PROTOCOL.md PROTOCOL-2.md
var Protocols embed.FS
