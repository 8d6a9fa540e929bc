package train

import (
	"slices"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/kernels"
)

// options configure how to train a model and which programs to keep.
type options struct {
	hyper.Parameters
	Rates []float64     // that switchTo may change; others are compiled in
	Plan  *kernels.Plan // nil: the backend's fastest

	// Also lists further views of the split, for variants.
	Also []*datasets.View
	// Room reserves room for other splits' edges, so that switchTo seldom fails; results stay the same.
	Room bool
}

func optionsOf(p hyper.Parameters) options {
	return options{Parameters: p, Rates: []float64{p.ModelDropout(), p.AttentionDropout}}
}

// regulariser returns nil for dropout, which the model applies.
func (o options) regulariser() nmgnn.Regulariser {
	switch o.Regulariser {
	case hyper.DropEdgeRegulariser:
		return nmgnn.DropEdge{Rate: o.RegulariserRate}
	case hyper.DropGNNRegulariser:
		return nmgnn.DropGNN{Rate: o.RegulariserRate}
	}
	return nil
}

func (o options) rates() []float64 {
	if r := o.regulariser(); r != nil {
		return append(slices.Clone(o.Rates), r.DropRate())
	}
	return o.Rates
}
