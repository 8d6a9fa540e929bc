package datasets

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"

	"nodemask/internal/memory"
)

const (
	minRedditScale = 0.02
	maxRedditScale = 10
	// redditInside is the intended share of edges inside a class, unless that exceeds redditFull of its pairs.
	redditInside = 0.75
	redditFull   = 0.5
	// redditSkew is the standard deviation of the logarithm of a node's weight.
	redditSkew = 1.0
	// redditSignal is a class mean's distance from the origin, in standard deviations of the features' noise.
	redditSignal = 2.0
)

// redditLike draws a graph of Reddit's shape, to measure speed and memory: at scale 1, 232,965 nodes, about 114.6
// million directed edges, 602 dense features and 41 equal classes. Nodes scale linearly; the mean degree stays 492.
// Scores on it say nothing about Reddit's.
//
// Weights are lognormal: at scale 1 the median degree is 318, the largest 21,137 (seed 1). No pair is drawn twice:
// directed edges are within 10 of the target at scales 0.02, 0.05, 0.1 and 1. Three edges in four should be inside a
// class, but at most half of such pairs are used: the share is 0.75 at scale 1, 0.43 at 0.1, 0.21 at 0.05 and 0.08 at
// 0.02.
//
// It allocates 1.02 times the graph's memory, 1.0 GB at scale 1. Graphs are equal on one platform; others may round
// weights differently.
func redditLike(ctx context.Context, scale float64, seed uint64) (*Graph, error) {
	if !(scale >= minRedditScale && scale <= maxRedditScale) {
		return nil, fmt.Errorf("RedditLike: scale is %v: expected %v to %v (1 is Reddit's size)",
			scale, minRedditScale, maxRedditScale)
	}
	nodes := redditNodes(scale)
	if err := memory.Fits(int64(nodes)*(64+4*reddit.features) + int64(4*float64(reddit.directed)*scale)); err != nil {
		return nil, fmt.Errorf("RedditLike of scale %v: %w", scale, err)
	}
	m := newSkewed(nodes, reddit.classes, math.Round(float64(reddit.directed/2)*scale), seed)
	g := &Graph{Name: "reddit-like", Labels: m.labels, Classes: numbered(reddit.classes),
		Source: fmt.Sprintf("RedditLike(%v, %d)", scale, seed)}
	if err := g.draw(ctx, m.pairs(), int(reddit.features), redditSignal, seed); err != nil {
		return nil, fmt.Errorf("RedditLike: %w", err)
	}
	return g, nil
}

func redditNodes(scale float64) int { return int(math.Round(float64(reddit.nodes) * scale)) }

// skewed draws edges inside and between classes, in proportion to the product of weights.
//
// A node draws only later nodes, so repeats occur within one node's draws and are drawn again; only edges take memory.
type skewed struct {
	seed    uint64
	labels  []int32
	begin   []int   // class c is members[begin[c]:begin[c+1]]
	members []int32 // nodes by class, ascending within it
	weights []float64
	all     cumulated // weights by node
	byClass cumulated // weights by place in members
	inside  []float64 // edges inside class c per unit of weight times weight
	between float64   // the same between classes
}

func newSkewed(nodes, classes int, edges float64, seed uint64) *skewed {
	m := &skewed{
		seed: seed, labels: make([]int32, nodes), begin: make([]int, classes+1), members: make([]int32, 0, nodes),
		weights: make([]float64, nodes), inside: make([]float64, classes),
	}
	r := rand.New(rand.NewPCG(seed, 0))
	for v := range nodes {
		m.weights[v] = math.Exp(redditSkew * r.NormFloat64())
		m.labels[v] = int32(v * classes / nodes)
	}
	shuffle(m.labels, rand.NewPCG(seed, 3))
	for _, c := range m.labels {
		m.begin[c+1]++
	}
	for c := range classes {
		m.begin[c+1] += m.begin[c]
	}
	m.members = m.members[:nodes]
	next := append([]int{}, m.begin...)
	grouped := make([]float64, nodes)
	for v, c := range m.labels {
		m.members[next[c]] = int32(v)
		grouped[next[c]] = m.weights[v]
		next[c]++
	}
	m.all, m.byClass = cumulate(m.weights), cumulate(grouped)

	share := min(redditInside, redditFull*float64(nodes)/float64(classes)/(2*edges/float64(nodes)))
	total := m.all.sum(0, nodes)
	outside := total * total
	for c := range classes {
		weight, squares := m.byClass.sum(m.begin[c], m.begin[c+1]), 0.0
		for _, w := range grouped[m.begin[c]:m.begin[c+1]] {
			squares += w * w
		}
		// By weight, so that degrees follow weights in every class.
		m.inside[c] = share * edges * weight / total / ((weight*weight - squares) / 2)
		outside -= weight * weight
	}
	m.between = (1 - share) * edges / (outside / 2)
	return m
}

// mostOfTheLeft limits the share of later nodes joined to one: the last few are slow to draw.
const mostOfTheLeft = 0.75

func (m *skewed) pairs() iter.Seq2[int32, int32] {
	return func(yield func(int32, int32) bool) {
		source := rand.NewPCG(m.seed, 1) // restarted, so that runs are alike
		nodes := len(m.labels)
		drawnBy := make([]int32, nodes) // 1 + the last node that drew this one
		place := append([]int{}, m.begin...)
		var dueInside, dueBetween float64 // edges due by now, less those drawn
		for v := range int32(nodes) {
			c := m.labels[v]
			place[c]++ // the place after v's own
			first, end := place[c], m.begin[c+1]
			left := end - first
			leftBetween := nodes - int(v) - 1 - left
			restInside := m.byClass.sum(first, end)
			restBetween := m.all.sum(int(v)+1, nodes) - restInside

			dueInside += m.inside[c] * m.weights[v] * restInside
			dueBetween += m.between * m.weights[v] * max(0, restBetween)
			if most := mostOfTheLeft * float64(left); dueInside > most {
				dueBetween += dueInside - most // the class is full: the rest goes elsewhere
				dueInside = most
			}
			for ; dueInside >= 1; dueInside-- {
				u := v
				for u == v || drawnBy[u] == v+1 {
					u = m.members[m.byClass.draw(source, first, end)]
				}
				drawnBy[u] = v + 1
				if !yield(v, u) {
					return
				}
			}
			for most := int(mostOfTheLeft * float64(leftBetween)); dueBetween >= 1 && most > 0; dueBetween-- {
				most--
				u := v
				for m.labels[u] == c || drawnBy[u] == v+1 {
					u = int32(m.all.draw(source, int(v)+1, nodes))
				}
				drawnBy[u] = v + 1
				if !yield(v, u) {
					return
				}
			}
		}
	}
}

// cumulated draws indices by weight, in constant time on average.
type cumulated struct {
	upTo  []float64 // upTo[i] sums the weights before i
	width float64   // of a cell
	cell  []int32   // cell[k] is at or before the index where the sum passes k·width
}

func cumulate(weights []float64) cumulated {
	c := cumulated{upTo: make([]float64, len(weights)+1), cell: make([]int32, len(weights)+1)}
	for i, w := range weights {
		c.upTo[i+1] = c.upTo[i] + w
	}
	c.width = c.upTo[len(weights)] / float64(len(weights)) // as many cells as weights
	i := 0
	for k := range c.cell {
		for i < len(weights)-1 && c.upTo[i+1] <= float64(k)*c.width {
			i++
		}
		c.cell[k] = int32(i)
	}
	return c
}

func (c cumulated) sum(begin, end int) float64 { return c.upTo[end] - c.upTo[begin] }

// draw returns an index from begin to end-1; begin < end.
func (c cumulated) draw(source *rand.PCG, begin, end int) int {
	x := c.upTo[begin] + float64(source.Uint64()>>11)*0x1p-53*c.sum(begin, end)
	i := max(begin, int(c.cell[min(int(x/c.width), len(c.cell)-1)]))
	for i > begin && c.upTo[i] > x { // rounding may have put x a cell too far
		i--
	}
	for i < end-1 && c.upTo[i+1] <= x {
		i++
	}
	return i
}
