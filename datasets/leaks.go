package datasets

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const (
	leakSample  = 2048 // labelled nodes sampled, to save time
	leakClass   = 8    // least nodes of a class in the sample: fewer may agree with a feature by chance
	leakCorrect = 0.95 // share of nodes whose class the feature reveals
	leakShown   = 5
)

// Leaks returns the features, by name or number, that alone reveal nearly all classes, or nearly all nodes of one;
// often the class itself. It samples the labelled nodes.
func (g *Graph) Leaks() []string {
	var labelled []int32
	counts := make([]int, g.NumClasses())
	for v, c := range g.Labels {
		if c != Unlabelled {
			labelled = append(labelled, int32(v))
		}
	}
	step := max(1, (len(labelled)+leakSample-1)/leakSample)
	type cell struct {
		value float32
		class int32
	}
	columns := map[int][]cell{} // each feature's nonzero values
	n := 0
	for i := 0; i < len(labelled); i += step {
		v := labelled[i]
		g.Features.eachIn(int(v), func(column int, x float32) {
			if x != 0 {
				columns[column] = append(columns[column], cell{x, g.Labels[v]})
			}
		})
		counts[g.Labels[v]]++
		n++
	}
	if len(counts) < 2 || n < 4*len(counts) {
		return nil
	}
	var leaks []string
	zeros, at := make([]int, len(counts)), make([]int, len(counts))
	for column := range g.Features.Width {
		cells := columns[column]
		if len(cells) == 0 {
			continue
		}
		slices.SortFunc(cells, func(a, b cell) int {
			return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.class, b.class))
		})
		copy(zeros, counts)
		for _, c := range cells {
			zeros[c.class]--
		}
		// Predict a node by the others with its value; a lone node by the next smaller value.
		told, one := max(0, slices.Max(zeros)-1), ""
		for begin, end := 0, 0; begin < len(cells); begin = end {
			clear(at)
			for end = begin; end < len(cells) && cells[end].value == cells[begin].value; end++ {
				at[cells[end].class]++
			}
			switch most := slices.Max(at); {
			case end-begin > 1:
				told += most - 1
			case begin > 0 && cells[begin-1].class == cells[begin].class:
				told++
			}
			if c := slices.Index(at, slices.Max(at)); counts[c] >= leakClass && n-counts[c] >= leakClass &&
				float64(at[c]) >= leakCorrect*float64(max(end-begin, counts[c])) {
				one = fmt.Sprintf(" (which nodes are of class %.40q)", g.Classes[c])
			}
		}
		wrong, most := n-told, slices.Max(counts)
		if every := float64(told) >= leakCorrect*float64(n) && 4*wrong <= n-most; every || one != "" {
			name := fmt.Sprintf("feature %d", column)
			if g.FeatureNames != nil {
				name = fmt.Sprintf("feature %.80q", g.FeatureNames[column])
			}
			if !every {
				name += one
			}
			leaks = append(leaks, name)
		}
	}
	return leaks
}

func (g *Graph) leakRemark() string {
	leaks := g.Leaks()
	if len(leaks) == 0 {
		return ""
	}
	shown := leaks[:min(len(leaks), leakShown)]
	if more := len(leaks) - len(shown); more > 0 {
		shown = append(shown[:len(shown):len(shown)], fmt.Sprintf("and %d more", more))
	}
	return "a leak? Alone, and nearly always, the class is told by " + strings.Join(shown, ", ") +
		": leave out what was made from the class"
}
