// Package paper defines the experiments of "Node Masking: Making Graph Neural Networks Generalize and Scale Better"
// (arXiv 2001.07524) in the cited reading (the paper's text; where that is silent, the works that it cites), and the
// protocols of all results.
package paper

import (
	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/record"
)

// MaskedKeepRate is the keep rate p in all of the paper's tables.
const MaskedKeepRate = 0.5

// Cell returns an unmasked experiment in the cited reading. Models that are not in the paper keep their preset, but
// early stopping and the edges of new nodes follow the paper.
func Cell(data, model string, setting datasets.Setting, trainPercent int) record.Cell {
	c := record.NewCell(data, model, setting, trainPercent)
	if model == "gin" {
		gin, err := hyper.Preset("paper")
		if err != nil {
			panic(err)
		}
		gin.Preset, gin.MaskOver = c.Parameters.Preset, c.Parameters.MaskOver // [Masked] sets MaskOver
		c.Parameters = gin
	}
	c.Parameters.StopOn = hyper.StopOnEither
	if setting == datasets.Inductive {
		c.Arrivals = datasets.TrainEdges
	}
	return c
}

// Masked returns a [Cell] with masking in the cited reading: only train nodes are masked, and a masked node keeps its
// own term. It has no attention dropout. With keep rate 1, to lack attention dropout is the only change.
func Masked(c record.Cell, keep float64) record.Cell {
	if !hyper.KeepRate(keep).Active() {
		return c.Fair()
	}
	c = c.Masked(keep)
	if c.Setting == datasets.Transductive {
		c.Parameters.MaskOver = hyper.MaskTrain
	}
	if hyper.TraitsOf(c.Parameters.Model).SelfTerm {
		c.Parameters.SelfTerm = hyper.SelfKept
	}
	return c
}
