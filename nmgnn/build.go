package nmgnn

import (
	"slices"

	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/kernels"
)

// Build makes the model that the parameters describe, for a number of classes. The parameters must pass their own check.
func Build(p hyper.Parameters, classes int) Model {
	m := Model{Dropout: p.Dropout}
	if p.Regulariser == hyper.DropoutRegulariser {
		m.Dropout = p.RegulariserRate
	}
	if hyper.PresetFor(p.Model) == "gat" {
		m.Activation = kernels.ELU
	}
	for i := range p.Layers {
		width, heads := p.Hidden, p.Heads
		if i == p.Layers-1 {
			width, heads = classes, 1
		}
		m.Layers = append(m.Layers, layerOf(p, width, heads))
	}
	return m
}

// layerOf makes a layer with so many outputs, all heads together.
func layerOf(p hyper.Parameters, width, heads int) Layer {
	switch p.Model {
	case "gat":
		return GAT{Heads: heads, Width: width / heads, Dropout: p.AttentionDropout}
	case "gatv2":
		return GATv2{Heads: heads, Width: width / heads, Dropout: p.AttentionDropout}
	case "sgat":
		return SGAT{Width: width, Dropout: p.AttentionDropout, Heads: heads}
	case "gcn":
		return GCN{Width: width}
	case "sage":
		return SAGE{Width: width}
	}
	mlp := slices.Repeat([]int{p.Hidden}, p.MLPLayers)
	mlp[len(mlp)-1] = width
	return GIN{Width: mlp, Epsilon: p.Epsilon, LearnEpsilon: p.LearnEpsilon}
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
