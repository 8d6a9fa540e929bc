package nmgnn

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
)

// Readout computes logits from representations by linear layers. The zero value is no readout.
type Readout struct {
	Classes int // logits per node; 0: no readout
	// All sums the scores of every representation and of the features, h^(0) (Xu et al. 2019):
	//
	//	logits_v = Σ_{j=0…k} dropout(W_j·h_v^(j) + b_j)
	//
	// Otherwise logits are W·dropout(h_v^(k)) + b, or dropout(W·h_v^(k) + b) with the model's ScoresOnly. Dropout is
	// the model's, in training only.
	All bool
}

func (r Readout) logits(p Pass, all []*Node, dropout float64, scoresOnly bool) *Node {
	scores := func(name string, h Input) *Node {
		w, b := linearWeights(p.Scope.In("%s", name), h.Graph(), h.Width(), r.Classes)
		return Add(h.Times(w), b)
	}
	if last := Dense(all[len(all)-1]); !r.All && scoresOnly {
		return p.Random.Dropout(scores("readout", last), dropout)
	} else if !r.All {
		return scores("readout", last.Dropout(p.Random, dropout))
	}
	sum := p.Random.Dropout(scores("readout0", p.Features), dropout)
	for j, h := range all {
		sum = Add(sum, p.Random.Dropout(scores(fmt.Sprintf("readout%d", j+1), Dense(h)), dropout))
	}
	return sum
}
