package paper

import (
	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/record"
)

// Cell returns a cell of the paper's tables, without masking: its model in the best calibrated reading of the paper
// (PROTOCOL.md). For GIN that is the preset "paper", and new nodes arrive with all edges but those of validation nodes; for GAT
// and SGAT it is their preset as it stands. Models that the paper does not have get their preset. It panics for a model that
// does not exist.
func Cell(data, model string, setting datasets.Setting, trainPercent int) record.Cell {
	c := record.NewCell(data, model, setting, trainPercent)
	if model != "gin" {
		return c
	}
	preset, err := hyper.Preset("paper")
	if err != nil {
		panic(err) // it is in the list of presets
	}
	preset.Preset = c.Parameters.Preset // a key, and the command that trains the cell, list what differs from it
	c.Parameters = preset
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
