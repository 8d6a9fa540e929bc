package nmgnn

import (
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/kernels"
)

// Build makes the model that the parameters describe, for a number of classes. The parameters must pass their own
// check.
func Build(p hyper.Parameters, classes int) Model {
	m := Model{Dropout: DropoutOf(p), Norm: p.Norm == hyper.NormBoth, Residual: p.Residual,
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

// DropoutOf returns the dropout of the model that the parameters describe.
func DropoutOf(p hyper.Parameters) float64 {
	if p.Regulariser == hyper.DropoutRegulariser {
		return p.RegulariserRate
	}
	return p.Dropout
}

// layers make a model's layers, by its name in [hyper.Models].
var layers = map[string]maker{}

// maker makes a layer of so many outputs, all heads together.
type maker func(p hyper.Parameters, width, heads int) Layer

// named has [Build] make a model's layers. Each file of a layer calls it, with the name in the layer's row of
// [hyper.Models].
func named(model string, layer maker) struct{} {
	layers[model] = layer
	return struct{}{}
}

// RegulariserOf returns the regulariser that the parameters name, or nil for none and for dropout, which [Build] puts
// into the model.
func RegulariserOf(p hyper.Parameters) Regulariser {
	switch p.Regulariser {
	case hyper.DropEdgeRegulariser:
		return DropEdge{Rate: p.RegulariserRate}
	case hyper.DropGNNRegulariser:
		return DropGNN{Rate: p.RegulariserRate}
	}
	return nil
}
