package nmgnn

import (
	"slices"

	"nodemask/internal/kernels"
	"nodemask/nmgnn/hyper"
)

// Build makes the model that the parameters describe, for a number of classes. The parameters must pass their own
// check.
func Build(p hyper.Parameters, classes int) Model {
	m := Model{Dropout: DropoutOf(p), Norm: p.Norm == hyper.NormBoth, Residual: p.Residual,
		ScoresOnly: p.DropoutOn == hyper.DropoutOnScores}
	if p.Readout != hyper.ReadoutNone {
		m.Readout = Readout{Classes: classes, All: p.Readout == hyper.ReadoutAll}
	}
	if hyper.TraitsOf(p.Model).ELU {
		m.Activation = kernels.ELU
	}
	for i := range p.Layers {
		width, heads := p.Hidden, p.Heads
		if i == p.Layers-1 && p.Readout == hyper.ReadoutNone {
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

// layers make a model's layers, by its name in [hyper.Models]: with so many outputs, all heads together.
var layers = map[string]func(p hyper.Parameters, width, heads int) Layer{
	"gin": func(p hyper.Parameters, width, _ int) Layer {
		mlp := slices.Repeat([]int{p.Hidden}, p.MLPLayers)
		mlp[len(mlp)-1] = width
		return GIN{Width: mlp, Epsilon: p.Epsilon, LearnEpsilon: p.LearnEpsilon, Norm: p.Norm != hyper.NormNone}
	},
	"gat": func(p hyper.Parameters, width, heads int) Layer {
		return GAT{Heads: heads, Width: width / heads, Dropout: p.AttentionDropout, KeepSelf: p.SelfTerm == hyper.SelfKept}
	},
	"sgat": func(p hyper.Parameters, width, heads int) Layer {
		return SGAT{Heads: heads, Width: width, Dropout: p.AttentionDropout, KeepSelf: p.SelfTerm == hyper.SelfKept}
	},
	"gcn":  func(_ hyper.Parameters, width, _ int) Layer { return GCN{Width: width} },
	"sage": func(_ hyper.Parameters, width, _ int) Layer { return SAGE{Width: width} },
	"gatv2": func(p hyper.Parameters, width, heads int) Layer {
		return GATv2{Heads: heads, Width: width / heads, Dropout: p.AttentionDropout, KeepSelf: p.SelfTerm == hyper.SelfKept}
	},
}

// RegulariserOf returns the regulariser that the parameters name, or nil for none and for dropout, which [Build] puts
// into the model.
func RegulariserOf(p hyper.Parameters) Regulariser {
	switch p.Regulariser {
	case hyper.DropEdgeRegulariser:
		return DropEdge{Rate: p.RegulariserRate}
	case hyper.DropNodeRegulariser:
		return DropNode{Rate: p.RegulariserRate}
	case hyper.DropMessageRegulariser:
		return DropMessage{Rate: p.RegulariserRate}
	case hyper.DropGNNRegulariser:
		return DropGNN{Rate: p.RegulariserRate}
	}
	return nil
}
