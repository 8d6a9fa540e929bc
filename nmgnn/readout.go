package nmgnn

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
)

// Readout computes logits from representations by linear layers, each node's from its own alone. The zero value does
// not: the last layer's outputs are the logits.
type Readout struct {
	Classes int // number of logits a node; 0: no readout
	// All adds up the scores of every representation, h^(0) being the features (Xu et al. 2019):
	//
	//	logits_v = Σ_{j=0…k} dropout(W_j·h_v^(j) + b_j)
	//
	// Otherwise they are W·dropout(h_v^(k)) + b, or dropout(W·h_v^(k) + b) where the model's dropout is on scores only.
	// Dropout is the model's, in training alone.
	All bool
}

// logits returns [nodes, Classes] for h^(1)…h^(k), each [nodes, width].
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
