package paper

import "embed"

// Protocols holds the rules that the paper's readings are run and judged under, fixed before the first run: PROTOCOL.md
// for every reading that the text allows, PROTOCOL-2.md for the cited one, PROTOCOL-3.md for that one on other graphs.
// Results carry the first 16 hex digits of the SHA-256 of theirs.
//
//go:embed PROTOCOL.md PROTOCOL-2.md PROTOCOL-3.md
var Protocols embed.FS
