package datasets

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"strconv"

	"nodemask/csr"
)

// Reddit's shape, which RedditLike scales.
const (
	redditNodes    = 232_965
	redditDirected = 114_615_892
	redditWidth    = 602
	redditClasses  = 41
)

const (
	minRedditScale = 0.02
	maxRedditScale = 10
	// redditInside of the pairs are drawn inside a class, and the rest anywhere.
	redditInside = 0.75
	// redditSkew is the standard deviation of the logarithm of a node's weight.
	redditSkew = 1.0
	// redditSignal is how far a class's mean lies from the origin, in standard deviations of a feature's noise.
	redditSignal = 2.0
)

// RedditLike draws a graph of Reddit's shape, for measuring speed and memory: at scale 1 it has 232,965 nodes, about
// 114.6 million directed edges (57.3 million undirected), 602 dense features and 41 classes of equal size. Nodes scale
// linearly and the mean degree, 492, stays: scale 0.1 has 23,297 nodes and about 11.46 million directed edges. Scale
// goes from 0.02 to 10.
//
// Nodes are drawn in proportion to lognormal weights, so degrees are skewed: at scale 1 the median is 327 and the
// largest 10,870 (seed 1). Repeated pairs are allowed for: the edges left come within 0.2 % of the target at the scales
// measured (0.02, 0.1 and 1). Three pairs in four are drawn inside a class, but as the mean degree stays, small graphs run
// out of such pairs: the share of edges inside a class is 0.72 at scale 1, 0.52 at 0.1 and 0.20 at 0.02.
//
// Memory peaks at about 1.05 times what is returned, which is 1.1 GB at scale 1.
//
// Nothing in it was measured on Reddit but the sizes: scores on it say nothing about scores on Reddit.
func RedditLike(scale float64, seed uint64) (*Graph, error) {
	if !(scale >= minRedditScale && scale <= maxRedditScale) {
		return nil, fmt.Errorf("datasets: RedditLike: scale is %v: expected %v to %v (1 is Reddit's size)", scale, minRedditScale, maxRedditScale)
	}
	nodes := int(math.Round(redditNodes * scale))
	target := math.Round(redditDirected / 2 * scale)
	r := rand.New(rand.NewPCG(seed, 0))
	weights := make([]float64, nodes)
	for v := range weights {
		weights[v] = math.Exp(redditSkew * r.NormFloat64())
	}
	// Classes are ranges of nodes here; name gives each node its place in the graph, where they are in no order.
	begin := make([]int, redditClasses+1)
	inClass := make([]alias, redditClasses)
	g := &Graph{Name: "reddit-like", Labels: make([]int32, nodes), Source: fmt.Sprintf("RedditLike(%v, %d)", scale, seed)}
	for c := range redditClasses {
		begin[c+1] = (c + 1) * nodes / redditClasses
		inClass[c] = newAlias(weights[begin[c]:begin[c+1]])
		g.Classes = append(g.Classes, strconv.Itoa(c))
	}
	name := make([]int32, nodes)
	for v := range name {
		name[v] = int32(v)
	}
	shuffle(name, rand.NewPCG(seed, 3))
	classOf := make([]int32, nodes)
	for c := range int32(redditClasses) {
		for v := begin[c]; v < begin[c+1]; v++ {
			classOf[v] = c
			g.Labels[name[v]] = c
		}
	}
	anywhere := newAlias(weights)
	drawn := drawsOfWeighted(weights, target)
	inside := int64(math.Round(redditInside * float64(drawn)))

	pairs := func(yield func(int32, int32) bool) {
		source := rand.NewPCG(seed, 1) // anew in each run, so that the runs are alike
		for i := range drawn {
			v := anywhere.draw(source)
			u := v
			for u == v {
				if i < inside {
					c := classOf[v]
					u = int32(begin[c]) + inClass[c].draw(source)
				} else {
					u = anywhere.draw(source)
				}
			}
			if !yield(name[v], name[u]) {
				return
			}
		}
	}
	var err error
	if g.Edges, g.Report, err = csr.FromSeq(nodes, pairs, csr.Options{}); err != nil {
		return nil, fmt.Errorf("datasets: RedditLike: %w", err)
	}
	g.Features = gaussianFeatures(g.Labels, redditClasses, redditWidth, redditSignal, seed)
	return g, nil
}

// drawsOfWeighted is how many pairs to draw so that target distinct ones are expected: heavy nodes meet again and
// again. A pair drawn λ times on average is there with probability 1 - exp(-λ); nodes of about one weight are summed
// together, and the number of draws is found by bisection.
func drawsOfWeighted(weights []float64, target float64) int64 {
	type bucket struct{ nodes, weight float64 }
	const perUnit, reach = 8, 6 // buckets a unit of log weight; log weights beyond ±6 are in the last bucket
	buckets := make([]bucket, 2*reach*perUnit)
	total := 0.0
	for _, w := range weights {
		b := &buckets[max(0, min(len(buckets)-1, int((math.Log(w)+reach)*perUnit)))]
		b.nodes++
		b.weight += w
		total += w
	}
	distinct := func(draws float64) (sum float64) {
		for _, a := range buckets {
			for _, b := range buckets {
				if a.nodes == 0 || b.nodes == 0 {
					continue
				}
				often := 2 * draws * (a.weight / a.nodes / total) * (b.weight / b.nodes / total)
				between := -math.Expm1(-often * (1 - redditInside))
				within := -math.Expm1(-often * (1 - redditInside + redditInside*redditClasses))
				sum += a.nodes * b.nodes / 2 * (within/redditClasses + between*(1-1.0/redditClasses))
			}
		}
		return sum
	}
	low, high := target, 64*target
	for high-low > 1 {
		if middle := (low + high) / 2; distinct(middle) < target {
			low = middle
		} else {
			high = middle
		}
	}
	return int64(high)
}

// alias draws indices in proportion to weights, in constant time, by Walker's method: each of n equal cells holds its
// own index up to a threshold and another's above it.
type alias struct {
	threshold []uint32 // of 2³²
	other     []int32
}

func newAlias(weights []float64) alias {
	n := len(weights)
	a := alias{threshold: make([]uint32, n), other: make([]int32, n)}
	total := 0.0
	for _, w := range weights {
		total += w
	}
	rest := make([]float64, n) // of each weight, in cells
	var light, heavy []int32
	for i, w := range weights {
		rest[i] = w / total * float64(n)
		a.other[i] = int32(i)
		a.threshold[i] = math.MaxUint32
		if rest[i] < 1 {
			light = append(light, int32(i))
		} else {
			heavy = append(heavy, int32(i))
		}
	}
	for len(light) > 0 && len(heavy) > 0 {
		l, h := light[len(light)-1], heavy[len(heavy)-1]
		light = light[:len(light)-1]
		a.threshold[l] = uint32(rest[l] * math.MaxUint32)
		a.other[l] = h
		rest[h] -= 1 - rest[l]
		if rest[h] < 1 {
			heavy = heavy[:len(heavy)-1]
			light = append(light, h)
		}
	}
	return a
}

func (a alias) draw(source *rand.PCG) int32 {
	cell, within := bits.Mul64(source.Uint64(), uint64(len(a.other)))
	if uint32(within>>32) <= a.threshold[cell] {
		return int32(cell)
	}
	return a.other[cell]
}
