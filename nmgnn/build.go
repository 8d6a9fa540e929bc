package nmgnn

import (
	"slices"

	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/kernels"
)

// Build makes the model that the parameters describe, for a number of classes. The parameters must pass their own check.
func Build(p hyper.Parameters, classes int) Model {
	m := Model{Dropout: p.Dropout, Norm: p.Norm == hyper.NormBoth, Residual: p.Residual, ScoresOnly: p.DropoutOn == hyper.DropoutOnScores}
	if p.Readout != hyper.ReadoutNone {
		m.Readout = Readout{Classes: classes, All: p.Readout == hyper.ReadoutAll}
	}
	if p.Regulariser == hyper.DropoutRegulariser {
		m.Dropout = p.RegulariserRate
	}
	if hyper.PresetFor(p.Model) == "gat" {
		m.Activation = kernels.ELU
	}
	for i := range p.Layers {
		width, heads := p.Hidden, p.Heads
		if i == p.Layers-1 && p.Readout == hyper.ReadoutNone {
			width, heads = classes, 1
		}
		m.Layers = append(m.Layers, layerOf(p, width, heads))
	}
	return m
}

// layerOf makes a layer with so many outputs, all heads together.
func layerOf(p hyper.Parameters, width, heads int) Layer {
	keepSelf := p.SelfTerm == hyper.SelfKept
	switch p.Model {
	case "gat":
		return GAT{Heads: heads, Width: width / heads, Dropout: p.AttentionDropout, KeepSelf: keepSelf}
	case "gatv2":
		return GATv2{Heads: heads, Width: width / heads, Dropout: p.AttentionDropout, KeepSelf: keepSelf}
	case "sgat":
		return SGAT{Width: width, Dropout: p.AttentionDropout, Heads: heads, KeepSelf: keepSelf}
	case "gcn":
		return GCN{Width: width}
	case "sage":
		return SAGE{Width: width}
	}
	mlp := slices.Repeat([]int{p.Hidden}, p.MLPLayers)
	mlp[len(mlp)-1] = width
	return GIN{Width: mlp, Epsilon: p.Epsilon, LearnEpsilon: p.LearnEpsilon, Norm: p.Norm != hyper.NormNone}
}

// RegulariserOf returns the regulariser that the parameters name, or nil for none and for dropout, which [Build] puts into
// the model.
func RegulariserOf(p hyper.Parameters) Regulariser {
	switch p.Regulariser {
	case hyper.DropEdgeRegulariser:
		return DropEdge{Rate: p.RegulariserRate}
	case hyper.DropNodeRegulariser:
		return DropNode{Rate: p.RegulariserRate}
	}
	return nil
}
