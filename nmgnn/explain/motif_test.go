package explain_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/integrate"
	"gonum.org/v1/gonum/stat"

	"nodemask/aggtree"
	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn/explain"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/train"
)

const (
	baseNodes = 300
	houses    = 80
	houseSize = 5
)

// baShapes returns GNNExplainer's BA-Shapes: a Barabási-Albert graph of 300 nodes with 5 edges each, 80 houses of five
// nodes, each attached by an edge, and a tenth as many random edges as nodes. All features are 1; a node's class is its
// position: base, or a house's roof, middle or ground.
func baShapes(t *testing.T, seed uint64) *datasets.Graph {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	n := baseNodes + houses*houseSize
	var edges []csr.Edge
	var ends []int32 // each node once per edge
	join := func(v, u int32) { edges = append(edges, csr.Edge{Node: v, Neighbour: u}) }
	for v := int32(5); v < baseNodes; v++ {
		var chosen []int32
		for len(chosen) < 5 {
			u := int32(len(chosen)) // the first node of those that join
			if len(ends) > 0 {
				u = ends[r.IntN(len(ends))]
			}
			if !slices.Contains(chosen, u) {
				chosen = append(chosen, u)
			}
		}
		for _, u := range chosen {
			join(v, u)
			ends = append(ends, v, u)
		}
	}
	labels := make([]int32, n)
	for h := range int32(houses) {
		at := baseNodes + h*houseSize // 0 and 1 the middle, 2 and 3 the ground, 4 the roof
		for _, e := range [][2]int32{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 0}, {4, 1}} {
			join(at+e[0], at+e[1])
		}
		for k, label := range []int32{2, 2, 3, 3, 1} {
			labels[int(at)+k] = label
		}
		join(at, r.Int32N(baseNodes))
	}
	for range n / 10 {
		join(r.Int32N(int32(n)), r.Int32N(int32(n)))
	}
	g, _, err := csr.FromEdges(n, edges, csr.Options{})
	require.NoError(t, err)
	x := datasets.Features{Rows: n, Width: 1, Dense: make([]float32, n)}
	for i := range x.Dense {
		x.Dense[i] = 1
	}
	return &datasets.Graph{Name: "BA-Shapes", Edges: g, Features: x, Labels: labels,
		Classes: []string{"base", "roof", "middle", "ground"}}
}

func house(v int32) int32 {
	if v < baseNodes {
		return -1
	}
	return (v - baseNodes) / houseSize
}

// auc is the probability that a true score exceeds a false one. It sorts both.
func auc(scores []float64, is []bool) float64 {
	stat.SortWeightedLabeled(scores, is, nil)
	hits, falseAlarms, _ := stat.ROC(nil, scores, is, nil)
	return integrate.Trapezoidal(falseAlarms, hits)
}

// motifAUC trains a GCN on BA-Shapes and returns how well shares, by size and with sign, distinguish edges of a node's
// own house from other edges that its logits depend on, averaged over correctly predicted nodes of 20 houses.
func motifAUC(t *testing.T, seed uint64) (bySize, bySign float64, nodes int) {
	t.Helper()
	b := gnntest.Go(t)
	g := baShapes(t, seed)
	p, err := hyper.For("gcn")
	require.NoError(t, err)
	p.Layers, p.Hidden, p.Dropout, p.NormalizeFeatures, p.WeightDecay, p.MaxEpochs, p.Patience = 3, 24, 0, false, 0, 1000,
		200
	x := train.Experiment{Graph: g, Parameters: p, Setting: datasets.Transductive, TrainPercent: 80, SplitSeed: seed}
	results, err := x.Run(t.Context(), b, []uint64{seed}, train.RunOptions{})
	require.NoError(t, err)
	trial := results[0]
	require.Greater(t, trial.Test.MicroF1, 0.75, "who does not see houses cannot be explained by them")

	m := trial.Saved(x).Network()
	for v := int32(baseNodes); v < baseNodes+20*houseSize; v++ {
		if trial.Predictions[v] != g.Labels[v] {
			continue
		}
		e, err := explain.Node(t.Context(), b, m, g, v, explain.Options{Masks: 2000, Seed: seed})
		var tooLarge *aggtree.TooLargeError
		if errors.As(err, &tooLarge) {
			continue
		}
		require.NoError(t, err)
		// An edge gets the shares of all branches that end with it.
		shares := map[[2]int32]float64{}
		for i := 1; i < e.Tree.NumNodes(); i++ {
			shares[[2]int32{e.Tree.Base[e.Tree.Parent[i]], e.Tree.Base[i]}] += e.Branches[i].Share
		}
		var signed, sizes []float64
		var own []bool
		for edge, share := range shares {
			signed, sizes = append(signed, share), append(sizes, math.Abs(share))
			own = append(own, house(edge[0]) == house(v) && house(edge[1]) == house(v))
		}
		if slices.Contains(own, false) {
			bySize, bySign, nodes = bySize+auc(sizes, slices.Clone(own)), bySign+auc(signed, own), nodes+1
		}
	}
	return bySize / float64(nodes), bySign / float64(nodes), nodes
}

func TestPlantedMotifsAreFound(t *testing.T) {
	seeds := uint64(1)
	if gnntest.Torture() {
		seeds = 5
	}
	for seed := range seeds {
		bySize, bySign, nodes := motifAUC(t, seed+1)
		t.Logf("seed %d: AUC %.3f by size, %.3f by sign, the mean of %d nodes", seed+1, bySize, bySign, nodes)
		require.Greater(t, bySize, 0.8)
	}
}

func TestTheAUCOfAChanceIsAHalfAndOfTheBestOne(t *testing.T) {
	require.InDelta(t, 0.5, auc([]float64{1, 1, 1}, []bool{true, false, false}), 1e-12)
	require.InDelta(t, 1, auc([]float64{3, 1, 2}, []bool{true, false, true}), 1e-12)
	require.InDelta(t, 0.125, auc([]float64{1, 2, 3, 2}, []bool{true, true, false, false}), 1e-12)
}
