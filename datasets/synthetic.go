package datasets

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"strconv"

	"nodemask/csr"
	"nodemask/datasets/internal/graphfile"
	"nodemask/internal/ended"
	"nodemask/internal/memory"
)

// SBMOptions configures [SBM]. The zero value gives a small graph.
type SBMOptions struct {
	Nodes      int     // 0 means 1,000
	Classes    int     // 0 means 4; sizes differ by at most one node
	MeanDegree float64 // 0 means 10
	// Homophily is the share of edges within a class, above 0 and up to 1. As 0 means 0.80, pass 1e-12 for almost no
	// edges within classes.
	Homophily float64
	Features  int // number of feature columns; 0 means 16
	// FeatureSignal is each class mean's distance from the origin, in standard deviations of the features' noise; 0
	// means 1.
	FeatureSignal float64
	Seed          uint64
}

const sbmFeatures = 16

func (o SBMOptions) withDefaults() (SBMOptions, error) {
	o.Nodes = cmp.Or(o.Nodes, 1000)
	o.Classes = cmp.Or(o.Classes, 4)
	o.MeanDegree = cmp.Or(o.MeanDegree, 10)
	o.Homophily = cmp.Or(o.Homophily, 0.80)
	o.Features = cmp.Or(o.Features, sbmFeatures)
	o.FeatureSignal = cmp.Or(o.FeatureSignal, 1)
	switch {
	case o.Nodes < 2 || o.Nodes > math.MaxInt32:
		return o, fmt.Errorf("SBM: %d nodes: expected 2 to %d", o.Nodes, math.MaxInt32)
	case o.Classes < 1 || o.Classes > o.Nodes:
		return o, fmt.Errorf("SBM: %d classes: expected 1 to %d, the number of nodes", o.Classes, o.Nodes)
	case !(o.Homophily > 0 && o.Homophily <= 1):
		return o, fmt.Errorf("SBM: Homophily is %v: expected more than 0, up to 1", o.Homophily)
	case o.Classes == 1 && o.Homophily < 1:
		o.Homophily = 1 // all edges are inside the only class
	case o.Features < 1 || o.Features > graphfile.MaxWidth:
		return o, fmt.Errorf("SBM: Features is %d: expected 1 to %d", o.Features, graphfile.MaxWidth)
	case math.IsNaN(o.FeatureSignal) || math.Abs(o.FeatureSignal) > 1e6:
		return o, fmt.Errorf("SBM: FeatureSignal is %v: expected at most 1e6", o.FeatureSignal)
	}
	if !(o.MeanDegree > 0 && o.MeanDegree <= float64(o.Nodes-1)) {
		return o, fmt.Errorf("SBM: a degree of %v in the mean: expected more than 0 and at most %d, all other nodes",
			o.MeanDegree, o.Nodes-1)
	}
	return o, nil
}

// SBM returns a graph of the stochastic block model: all pairs inside classes are equally likely edges, and so are all
// pairs between classes. Features are the class's mean, in a random direction, plus Gaussian noise. Time and memory are
// linear in nodes, edges and features.
//
// Pairs are drawn with replacement, so SBM draws more to make up for repeats. SBM returns an error if more than 9 in 10
// pairs inside or between classes would be edges.
func SBM(ctx context.Context, o SBMOptions) (*Graph, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	need := float64(o.Nodes) * (24 + 4*float64(o.Features) + 4*o.MeanDegree)
	if err := memory.Fits(int64(min(need, math.MaxInt64/2))); err != nil {
		return nil, fmt.Errorf("SBM of %d nodes: %w", o.Nodes, err)
	}
	nodes, classes := o.Nodes, o.Classes
	source := rand.NewPCG(o.Seed, 0)
	order := make([]int32, nodes)
	for i := range order {
		order[i] = int32(i)
	}
	shuffle(order, source)
	begin := make([]int, classes+1)
	g := &Graph{Name: "sbm", Labels: make([]int32, nodes), Classes: numbered(classes), Source: fmt.Sprintf("SBM %+v", o)}
	for c := range classes {
		begin[c+1] = int(int64(c+1) * int64(nodes) / int64(classes))
		for _, v := range order[begin[c]:begin[c+1]] {
			g.Labels[v] = int32(c)
		}
	}

	edges := o.MeanDegree * float64(nodes) / 2
	inside := 0.0
	for c := range classes {
		size := float64(begin[c+1] - begin[c])
		inside += size * (size - 1) / 2
	}
	between := float64(nodes)*float64(nodes-1)/2 - inside
	drawInside, err := draws(edges*o.Homophily, inside, "inside classes")
	if err != nil {
		return nil, err
	}
	drawBetween, err := draws(edges*(1-o.Homophily), between, "between classes")
	if err != nil {
		return nil, err
	}
	pairs := func(yield func(int32, int32) bool) {
		source := rand.NewPCG(o.Seed, 1) // seeded here, so that each pass over pairs yields the same pairs
		for range drawInside {
			var v int32
			var class []int32
			for len(class) < 2 { // this loop ends: drawInside > 0 only if some class has two nodes
				v = int32(below(source, uint64(nodes)))
				class = order[begin[g.Labels[v]]:begin[g.Labels[v]+1]]
			}
			u := v
			for u == v {
				u = class[below(source, uint64(len(class)))]
			}
			if !yield(v, u) {
				return
			}
		}
		for range drawBetween {
			v := int32(below(source, uint64(nodes)))
			u := v
			for g.Labels[u] == g.Labels[v] {
				u = int32(below(source, uint64(nodes)))
			}
			if !yield(v, u) {
				return
			}
		}
	}
	if err := g.draw(ctx, pairs, o.Features, o.FeatureSignal, o.Seed); err != nil {
		return nil, fmt.Errorf("SBM: %w", err)
	}
	return g, nil
}

func (g *Graph) draw(ctx context.Context, pairs iter.Seq2[int32, int32], width int, signal float64,
	seed uint64) (err error) {
	const together = 1 << 16 // number of pairs between two checks of the context
	g.Edges, g.Report, err = csr.FromSeq(len(g.Labels), func(yield func(int32, int32) bool) {
		n := 0
		for v, u := range pairs {
			if n++; n%together == 0 && ctx.Err() != nil || !yield(v, u) {
				return
			}
		}
	}, csr.Options{})
	// If ctx ended, return its error, not the error that FromSeq may return because pairs are missing.
	if err := cmp.Or(ended.Err(ctx), err); err != nil {
		return err
	}
	g.Features = gaussianFeatures(ctx, g.Labels, len(g.Classes), width, signal, seed)
	return ended.Err(ctx)
}

func numbered(classes int) []string {
	names := make([]string, classes)
	for c := range names {
		names[c] = strconv.Itoa(c)
	}
	return names
}

// draws returns how many random draws with replacement yield, on average, the wanted number of distinct pairs.
func draws(distinct, pairs float64, where string) (int64, error) {
	if distinct < 0.5 {
		return 0, nil
	}
	if distinct > 0.9*pairs {
		return 0, fmt.Errorf("SBM: the degree asks for %.0f edges %s, where %.0f pairs exist: expected at most 9 in 10: "+
			"lower the degree or take more nodes", distinct, where, pairs)
	}
	if pairs == 1 {
		return 1, nil
	}
	return int64(math.Round(math.Log1p(-distinct/pairs) / math.Log1p(-1/pairs))), nil
}

func gaussianFeatures(ctx context.Context, labels []int32, classes, width int, signal float64, seed uint64) Features {
	r := rand.New(rand.NewPCG(seed, 2))
	means := make([]float32, classes*width)
	for c := range classes {
		mean := means[c*width : (c+1)*width]
		var square float64
		for i := range mean {
			x := r.NormFloat64()
			mean[i] = float32(x)
			square += float64(x * x) // the conversion prevents a fused multiply-add, which rounds differently
		}
		for i := range mean {
			mean[i] *= float32(signal / math.Sqrt(square))
		}
	}
	f := Features{Rows: len(labels), Width: width, Dense: make([]float32, len(labels)*width)}
	for v, c := range labels {
		if ctx.Err() != nil {
			break
		}
		row := f.Dense[v*width : (v+1)*width]
		mean := means[int(c)*width : (int(c)+1)*width]
		for i := range row {
			row[i] = mean[i] + float32(r.NormFloat64())
		}
	}
	return f
}
