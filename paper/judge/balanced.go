package judge

import (
	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/record"
)

// Variants of GIN in the balanced comparison.
const (
	OneLayer    = "one linear layer"
	StoppedOnF1 = "early stopping on validation F1"
	RawFeatures = "raw features"
)

// BalancedDesign returns the rule of [Balanced]. Where the protocol is silent it follows the cited reading; no arm has
// attention dropout, so that arms differ only in their own rate. ADDITIONS.md lists added arms and models.
func BalancedDesign() Design {
	return Design{
		Models: []TunedModel{{Name: "gin"}, {Name: "gin", With: OneLayer},
			{Name: "gin", With: StoppedOnF1, Added: true, Stop: hyper.StopOnF1},
			{Name: "gin", With: RawFeatures, Added: true}, {Name: "gat"}, {Name: "sgat"}},
		Data:  Data(),
		Arms:  []string{ArmPlain, ArmMaskedTuned, ArmDropEdge, ArmDropout},
		Added: []string{ArmDropGNN},
		Stop:  hyper.StopOnEither, Arrivals: datasets.TrainEdges, FirstTry: 600, Fresh: 610,
		Grids: func(_, arm string) []Grid {
			plain := Grid{"lr": {"0.005", "0.01"}, "decay": {"0", "0.0005"}, "hidden": {"32", "64"},
				"dropout": {"0", "0.5"}}
			own := Grid{}
			switch arm {
			case ArmPlain:
				return []Grid{plain}
			case ArmMaskedTuned:
				own["keep"], own["rescale"] = []string{"0.3", "0.5", "0.7", "0.9"}, []string{"false", "true"}
			case ArmDropout:
				own["dropout"] = []string{"0.2", "0.4", "0.6", "0.8"}
			default:
				own["regulariser"] = WithRates(arm, []string{"0.1", "0.3", "0.5", "0.7"})
			}
			return []Grid{plain, plain.With(own)}
		},
		Base: func(q TunedQuestion, masked bool) (record.Cell, error) {
			axes, err := Axes(q.Model.Name)
			if err != nil {
				return record.Cell{}, err
			}
			reading := Choice{Fair: true, RawFeatures: q.Model.With == RawFeatures}.reading(axes, q.Setting)
			if q.Model.With == OneLayer {
				reading[index(axes, axisBody)] = 2
			}
			arm := Plain
			if masked {
				arm = Masked
			}
			return reading.Cell(axes, arm, q.Data, q.Model.Name, q.Setting, q.TrainPercent)
		},
	}
}
