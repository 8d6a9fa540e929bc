package nmgnn

import (
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/kernels"
)

// Build returns the parameters' model for this many classes. The parameters must pass Check.
func Build(p hyper.Parameters, classes int) Model {
	m := Model{Dropout: p.ModelDropout(), Norm: p.Norm == hyper.NormBoth, Residual: p.Residual,
		ScoresOnly: p.DropoutOn == hyper.DropoutOnScores}
	if p.Readout != "" {
		m.Readout = Readout{Classes: classes, All: p.Readout == hyper.ReadoutAll}
	}
	if hyper.TraitsOf(p.Model).ELU {
		m.Activation = kernels.ELU
	}
	for i := range p.Layers {
		width, heads := p.Hidden, p.Heads
		if i == p.Layers-1 && p.Readout == "" {
			width, heads = classes, 1
		}
		m.Layers = append(m.Layers, layers[p.Model](p, width, heads))
	}
	return m
}

var layers = map[string]maker{}

// width is over all heads.
type maker func(p hyper.Parameters, width, heads int) Layer

func named(model string, layer maker) struct{} {
	layers[model] = layer
	return struct{}{}
}
