package paper

import (
	"crypto/sha256"
	_ "embed" // the protocol
	"encoding/hex"

	"nodemask/datasets"
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

// PublishedPlain returns the paper's macro F1 of a model on Cora without node masking, by setting and size.
func PublishedPlain(model string) func(setting datasets.Setting, trainPercent int) (percent float64, found bool) {
	return func(setting datasets.Setting, trainPercent int) (float64, bool) {
		if model == "gin" {
			return GINScore("cora", setting, trainPercent, false)
		}
		for _, s := range AttentionScores() {
			if s.Setting == setting && s.TrainPercent == trainPercent {
				if model == "sgat" {
					return s.SGAT, true
				}
				return s.GAT, model == "gat"
			}
		}
		return 0, false
	}
}
