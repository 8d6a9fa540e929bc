package paper

import "embed"

// Protocols holds the rules for running and judging trials, fixed before the first run. PROTOCOL.md is for all readings
// (interpretations) of the paper. PROTOCOL-2.md is for the cited reading, the main one. PROTOCOL-3.md applies the cited
// reading to other graphs. Results carry the first 16 hex digits of their protocol's SHA-256.
//
//go:embed PROTOCOL.md PROTOCOL-2.md PROTOCOL-3.md
var Protocols embed.FS
