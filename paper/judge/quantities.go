package judge

import (
	"math"

	"nodemask/datasets"
)

// Quantities are known before training and may predict masking's effect.
type Quantities struct {
	TrainNeighbours   float64 `json:"train_neighbours"`   // mean number per test node
	Degree            float64 `json:"degree"`             // mean, of the whole graph
	AdjustedHomophily float64 `json:"adjusted_homophily"` // see adjustedHomophily
	TrainShare        float64 `json:"train_share"`        // train nodes, as a share of all
	// DegreeShift is log₂ of test nodes' mean degree in testing over train nodes' in training; 0 if either has no
	// edges.
	DegreeShift float64 `json:"degree_shift"`
}

// QuantitiesOf returns the quantities of a view of g.
func QuantitiesOf(g *datasets.Graph, v *datasets.View) Quantities {
	q := Quantities{TrainShare: float64(len(v.Train.Score)) / float64(max(g.NumNodes(), 1)),
		Degree: float64(g.Edges.NumEdges()) / float64(max(g.NumNodes(), 1)), AdjustedHomophily: adjustedHomophily(g)}
	trains := make([]bool, g.NumNodes())
	for _, i := range v.Train.Score {
		trains[v.Train.Nodes[i]] = true
	}
	for _, i := range v.Test.Score {
		for _, u := range g.Edges.Neighbours(v.Test.Nodes[i]) {
			if trains[u] {
				q.TrainNeighbours += 1 / float64(len(v.Test.Score))
			}
		}
	}
	if tested, trained := degreeIn(v.Test), degreeIn(v.Train); tested > 0 && trained > 0 {
		q.DegreeShift = math.Log2(tested / trained)
	}
	return q
}

func degreeIn(p datasets.Phase) (mean float64) {
	for _, v := range p.Score {
		mean += float64(p.Edges.Degree(v)) / float64(len(p.Score))
	}
	return mean
}

// adjustedHomophily returns (h - Σ d_k²) / (1 - Σ d_k²) over edges between labelled nodes (Platonov et al. 2023): h is
// the share of edges within a class, d_k class k's share of edge ends. It is 0 for random edges, no edges, or one
// class.
func adjustedHomophily(g *datasets.Graph) float64 {
	d := datasets.Describe(g)
	chance := 0.0
	for _, c := range d.Classes {
		chance += c.Chance * c.Chance
	}
	if d.EdgeHomophily == nil || chance > 1-1e-12 {
		return 0
	}
	return (*d.EdgeHomophily - chance) / (1 - chance)
}
