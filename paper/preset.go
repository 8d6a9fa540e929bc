// Package paper has the cells of the tables of "Node Masking: Making Graph Neural Networks Generalize and Scale Better"
// (arXiv 2001.07524) in the cited reading, and the protocols that all results were measured under.
package paper

import (
	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/record"
)

// MaskedKeepRate is the keep rate p of all of the paper's tables.
const MaskedKeepRate = 0.5

// Cell returns a cell of the paper's tables, without masking, in the cited reading (package cited). Models that the
// paper does not have keep their preset, and share what is of the program, not of a model: what stopping follows, and
// how new nodes arrive.
func Cell(data, model string, setting datasets.Setting, trainPercent int) record.Cell {
	c := record.NewCell(data, model, setting, trainPercent)
	if model == "gin" {
		gin, err := hyper.Preset("paper")
		if err != nil {
			panic(err) // a preset of ours
		}
		gin.Preset, gin.MaskOver = c.Parameters.Preset, c.Parameters.MaskOver // of masked cells alone: see Masked
		c.Parameters = gin
	}
	c.Parameters.StopOn = hyper.StopOnEither
	if setting == datasets.Inductive {
		c.Arrivals = datasets.TrainEdges
	}
	return c
}

// Masked returns a [Cell] with node masking at a keep rate, in the cited reading: the train nodes can be masked, and a
// masked node keeps its own term. At 1, where nothing is masked, it is the cell without attention dropout, since masked
// cells have none.
func Masked(c record.Cell, keep float64) record.Cell {
	if !hyper.KeepRate(keep).Active() {
		return c.Fair()
	}
	c = c.Masked(keep)
	if c.Setting == datasets.Transductive {
		c.Parameters.MaskOver = hyper.MaskTrain // inductively there are no others
	}
	if hyper.TraitsOf(c.Parameters.Model).SelfTerm {
		c.Parameters.SelfTerm = hyper.SelfKept
	}
	return c
}
