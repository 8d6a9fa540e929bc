package judge

import (
	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/record"
)

// Batch is what to train next: each cell on each seed.
type Batch struct {
	Cells []record.Cell
	Seeds []uint64
}

// Splits of the part on depth: seeds from FirstDepthSplit on.
const (
	DepthSplits     = 10
	FirstDepthSplit = 100
)

// Depths returns the compared numbers of layers.
func Depths() []int { return []int{2, 4, 8, 16} }

// DepthCell returns an unmasked network of the part on depth: GIN's preset with the body and readout that validated
// best at 16 layers on three splits. Beyond the protocol, new nodes bring all edges, and stopping follows macro F1.
func DepthCell(data string, setting datasets.Setting, layers int) record.Cell {
	c := record.NewCell(data, "gin", setting, 10)
	c.Resplit = true
	return c.With(func(p *hyper.Parameters) {
		p.Layers, p.MLPLayers, p.Norm, p.Readout, p.StopOn = layers, 2, hyper.NormInside, hyper.ReadoutAll, hyper.StopOnF1
	})
}

// IsDepthCell reports whether a cell is a [DepthCell], at any keep rate.
func IsDepthCell(c record.Cell) bool {
	keep := c.Parameters.KeepRate
	return c == DepthCell(c.Data, c.Setting, c.Parameters.Layers).Masked(float64(keep))
}
