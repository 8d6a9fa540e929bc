// Package paper defines the experiments of "Node Masking: Making Graph Neural Networks Generalize and Scale Better"
// (arXiv 2001.07524), and the protocols that all results obey. The experiments follow the main interpretation of the
// paper, the cited reading: its text and, where that is silent, the works that it cites.
package paper

import (
	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/record"
)

// MaskedKeepRate is the keep rate p in all of the paper's tables.
const MaskedKeepRate = 0.5

// Cell returns an unmasked experiment in the main interpretation of the paper, the cited reading of PROTOCOL-2.md. A
// model that is not in the paper keeps its own preset. Only early stopping, and the edges that nodes bring when
// arriving after training, follow the paper.
func Cell(data, model string, setting datasets.Setting, trainPercent int) record.Cell {
	c := record.NewCell(data, model, setting, trainPercent)
	if model == "gin" {
		gin, err := hyper.Preset("paper")
		if err != nil {
			panic(err)
		}
		// Replace c's parameters except Preset and MaskOver. MaskOver has no effect without masking.
		gin.Preset, gin.MaskOver = c.Parameters.Preset, c.Parameters.MaskOver
		c.Parameters = gin
	}
	c.Parameters.StopOn = hyper.StopOnEither
	if setting == datasets.Inductive {
		c.Arrivals = datasets.TrainEdges
	}
	return c
}

// Masked returns c with masking as in the main interpretation of the paper, the cited reading of PROTOCOL-2.md. Only
// train nodes are masked, a masked node still aggregates from itself, and there is no attention dropout. Keep rate 1
// masks nothing and only removes attention dropout.
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
