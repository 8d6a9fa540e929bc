package train

import (
	"cmp"
	"fmt"
	"slices"
)

// rocArea returns the area under the ROC curve: the share of pairs (a node of the class, another node) in which the
// first has the higher score; equal scores count half. It returns an error if lengths differ, a side is empty, or a
// score is NaN.
func rocArea(scores []float32, inClass []bool) (float64, error) {
	if len(scores) != len(inClass) {
		return 0, fmt.Errorf("AUC: %d scores for %d nodes", len(scores), len(inClass))
	}
	order := make([]int, len(scores))
	for i, s := range scores {
		if s != s {
			return 0, fmt.Errorf("AUC: the score of node %d is NaN", i)
		}
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(scores[i], scores[j]) })
	var below, inside, pairs float64 // others with lower scores; class nodes so far; pairs won
	for from := 0; from < len(order); {
		to, equal, others := from, 0.0, 0.0
		for ; to < len(order) && scores[order[to]] == scores[order[from]]; to++ {
			if inClass[order[to]] {
				equal++
			} else {
				others++
			}
		}
		pairs += equal * (below + others/2)
		below, inside, from = below+others, inside+equal, to
	}
	if below == 0 || inside == 0 {
		return 0, fmt.Errorf("AUC: %v nodes of the class, %v others: expected some of both", inside, below)
	}
	return pairs / (below * inside), nil
}
