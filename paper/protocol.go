package paper

import (
	"crypto/sha256"
	_ "embed" // the protocol
	"encoding/hex"

	"nodemask/datasets"
	"nodemask/paper/multiverse"
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

// CitedFolder is where the trajectories of the second protocol are, in a folder of results.
const CitedFolder = "cited"

// CitedProtocolHash returns the name of the second protocol that results carry, as [ProtocolHash] does that of the
// first.
func CitedProtocolHash() string {
	h := sha256.Sum256([]byte(citedProtocol))
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

// calibratedOn is the data set that readings are calibrated on.
const calibratedOn = "cora"

// Calibrate compares a model's readings without masking with the paper's columns, on Cora, by the protocol's rule.
// Without results for at least two splits there are no fits.
func Calibrate(results *multiverse.Results, model string) (*multiverse.Calibration, error) {
	return results.Calibrate(calibratedOn, model, PublishedPlain(model), model == "gin")
}

// Ask returns the protocol's question of a model on a data set in a setting: all readings, on PubMed the calibrated
// ones. It returns an error for a model that has no readings.
func Ask(results *multiverse.Results, data, model string, setting datasets.Setting) (multiverse.Question, error) {
	if data != "pubmed" {
		return askAmong(nil, data, model, setting)
	}
	c, err := Calibrate(results, model)
	if err != nil {
		return multiverse.Question{}, err
	}
	return askAmong(c, data, model, setting)
}

// askAmong is [Ask] with the model's calibration, which matters on PubMed alone.
func askAmong(c *multiverse.Calibration, data, model string, setting datasets.Setting) (multiverse.Question, error) {
	q, err := multiverse.Ask(data, model, setting)
	if data == "pubmed" {
		q.Among = c
	}
	return q, err
}
