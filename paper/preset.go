package paper

import (
	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/record"
)

// Cell returns a cell of the paper's tables, without masking: for GIN in the best calibrated reading of PROTOCOL.md, two linear layers
// without normalisation, where new nodes arrive with all edges but those of validation nodes; other models have their preset.
// The cited reading is another: see package cited. It panics for a model that does not exist.
func Cell(data, model string, setting datasets.Setting, trainPercent int) record.Cell {
	c := record.NewCell(data, model, setting, trainPercent)
	if model != "gin" {
		return c
	}
	c = c.With(func(p *hyper.Parameters) {
		p.MLPLayers, p.NormalizeFeatures, p.LearningRate, p.WeightDecay = 2, false, 0.005, 0
	})
	if setting == datasets.Inductive {
		c.Arrivals = datasets.NoValidation
	}
	return c
}

// Label returns a cell in a few words, by what differs from the tables' reading of the paper ([Cell]): "GIN + NM, layers 4".
func Label(c record.Cell) string {
	return c.Label(Cell(c.Data, c.Parameters.Model, c.Setting, c.TrainPercent), MaskedKeepRate)
}

// resplit is a cell with a split of its own for each trial.
func resplit(c record.Cell) record.Cell {
	c.Resplit, c.Cached, c.History = true, false, false
	return c
}
