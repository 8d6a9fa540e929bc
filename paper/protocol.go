package paper

import "embed"

// Protocols holds the rules for running and judging trials, fixed before the first run. PROTOCOL.md is for all readings
// of the paper, and PROTOCOL-2.md for the cited reading: the paper and the works that it cites. PROTOCOL-3.md is for
// the cited reading on other graphs. Results carry the first 16 hex digits of their protocol's SHA-256.
//
//go:embed PROTOCOL.md PROTOCOL-2.md PROTOCOL-3.md
var Protocols embed.FS
