package train

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/gnntest"
)

func smallOf(model string) hyper.Parameters {
	s, _ := hyper.For(model)
	s.Hidden, s.MaxEpochs, s.KeepRate = 8, 6, 0.5
	return s
}

func batchTrainerOf(t testing.TB, b *backend.Backend, g *datasets.Graph, view *datasets.View, s hyper.Parameters,
	clusters int) *batchTrainer {
	t.Helper()
	require.NoError(t, s.Check())
	trainer, err := newBatchTrainer(b, Experiment{Graph: g, Parameters: s}, view, clusters)
	require.NoError(t, err)
	t.Cleanup(trainer.Close)
	return trainer
}

func TestManyClustersLearnWhatEveryModelCan(t *testing.T) {
	g := gnntest.TwoCamps(t)
	b := gnntest.Go(t)
	for _, setting := range datasets.Settings() {
		for _, model := range hyper.Models() {
			s := smallOf(model)
			s.Layers, s.MaxEpochs, s.LearningRate, s.Dropout, s.AttentionDropout = 3, 60, 0.02, 0, 0
			view := gnntest.View(t, g, 50, setting)
			trial := trainOnce(t, batchTrainerOf(t, b, g, view, s, 4), 3)
			require.Greater(t, trial.Test.MacroF1, 0.7, "%s %s", setting, model)
			require.Len(t, trial.Predictions, g.NumNodes())
		}
	}
}

// reference computes one step of two GIN layers on a batch, dense and in double precision.
type reference struct {
	g     *datasets.Graph
	own   []int32
	cache []float32 // [nodes, hidden]
	delta []float32
	score []int32 // positions in own
	w     map[string][]float64
	wide  int
}

func (r reference) loss() (loss float64, hidden map[int32][]float64) {
	relu := func(x float64) float64 { return max(x, 0) }
	layer := func(h func(v int32) []float64, v int32, w, b []float64, out int, f func(float64) float64) []float64 {
		sum := slices.Clone(h(v))
		for _, u := range r.g.Edges.Neighbours(v) {
			for i, x := range h(u) {
				sum[i] += float64(r.delta[u]) * x
			}
		}
		y := make([]float64, out)
		for o := range y {
			y[o] = b[o]
			for i, x := range sum {
				y[o] += x * w[i*out+o]
			}
			y[o] = f(y[o])
		}
		return y
	}
	features := func(v int32) []float64 {
		row := make([]float64, r.g.Features.Width)
		for i, x := range r.g.Features.Dense[int(v)*len(row):][:len(row)] {
			row[i] = float64(x)
		}
		return row
	}
	hidden = map[int32][]float64{}
	for _, v := range r.own {
		hidden[v] = layer(features, v, r.w["layer0/linear0/weights"], r.w["layer0/linear0/biases"], r.wide, relu)
	}
	h := func(v int32) []float64 {
		if own, ok := hidden[v]; ok {
			return own
		}
		row := make([]float64, r.wide)
		for i, x := range r.cache[int(v)*r.wide:][:r.wide] {
			row[i] = float64(x)
		}
		return row
	}
	for _, i := range r.score {
		v := r.own[i]
		logits := layer(h, v, r.w["layer1/linear0/weights"], r.w["layer1/linear0/biases"], 2,
			func(x float64) float64 { return x })
		loss += math.Log(math.Exp(logits[0])+math.Exp(logits[1])) - logits[r.g.Labels[v]]
	}
	return loss / float64(len(r.score)), hidden
}

// stepped trains on one batch with a given cache, and returns the loss, the trainer and the reference.
func stepped(t *testing.T, b *backend.Backend, cache func(v int32, masked bool, i int) float32) (float64, *batchTrainer,
	reference) {
	g, view := gnntest.Camps(t, 50, datasets.Transductive)
	s := smallOf("gin")
	s.Dropout, s.WeightDecay, s.NormalizeFeatures = 0, 0, false
	trainer := batchTrainerOf(t, b, g, view, s, 3)
	trainer.options.LearningRate = 1e-30
	require.NoError(t, trainer.Begin(t.Context(), 4))
	d := trainer.draws
	for v := range d.Delta {
		if v%3 != 0 {
			d.Delta[v] = 1
		}
	}
	values := trainer.caches[0][1].Values
	for i := range values {
		v := int32(i / s.Hidden)
		values[i] = cache(v, d.Delta[v] == 0, i)
	}
	r := reference{g: g, own: trainer.train.clusters[1], cache: slices.Clone(values), delta: d.Delta,
		score: trainer.scored.nodes[1], w: map[string][]float64{}, wide: s.Hidden}
	require.NotEmpty(t, r.score)
	for v := range trainer.train.store.IterVariables() {
		if path, ok := strings.CutPrefix(v.Path(), "/model/"); ok {
			value, err := v.Value()
			require.NoError(t, err)
			for _, x := range tensors.MustCopyFlatData[float32](value) {
				r.w[path] = append(r.w[path], float64(x))
			}
		}
	}
	loss, err := trainer.one(1)
	require.NoError(t, err)
	return loss, trainer, r
}

func TestABatchIsItsNodesAndTheCacheOfOthers(t *testing.T) {
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		loss, trainer, r := stepped(t, b, func(_ int32, _ bool, i int) float32 { return float32(math.Sin(float64(i))) })
		want, hidden := r.loss()
		require.InDelta(t, want, loss, 1e-5)
		for v, row := range hidden {
			for i, x := range row {
				require.InDelta(t, x, trainer.caches[1][1].Values[int(v)*r.wide+i], 1e-5, "h of node %d, as it is cached", v)
			}
		}
		// After one step Adam's first moment is a tenth of the gradient.
		checked := 0
		for v := range trainer.train.store.IterVariables() {
			at := strings.Index(v.Path(), "/model/")
			if !strings.HasSuffix(v.Path(), "_1st_moment") && !strings.Contains(v.Path(), "moment1") &&
				!strings.Contains(v.Path(), "m1") || at < 0 {
				continue
			}
			for path, w := range r.w {
				if !strings.Contains(v.Path(), path) {
					continue
				}
				value, err := v.Value()
				require.NoError(t, err)
				for i, moment := range tensors.MustCopyFlatData[float32](value) {
					const step = 1e-6
					was := w[i]
					w[i] = was + step
					above, _ := r.loss()
					w[i] = was - step
					below, _ := r.loss()
					w[i] = was
					require.InDelta(t, (above-below)/(2*step), 10*float64(moment), 1e-4, "%s[%d]", path, i)
					checked++
				}
			}
		}
		require.Equal(t, 4*8+8+8*2+2, checked)
	})
}

func TestMaskedNodesAreNotReadFromTheCache(t *testing.T) {
	loss, _, r := stepped(t, gnntest.Go(t), func(v int32, masked bool, i int) float32 {
		if masked {
			return float32(math.NaN())
		}
		return float32(i%5) / 10
	})
	for i, x := range r.cache {
		if math.IsNaN(float64(x)) {
			r.cache[i] = 0
		}
	}
	want, _ := r.loss()
	require.InDelta(t, want, loss, 1e-5)
}

func TestAttentionReadsMaskedNodesToo(t *testing.T) {
	g, view := gnntest.Camps(t, 50, datasets.Transductive)
	for model, reads := range map[string]bool{"gin": false, "gcn": false, "sage": false, "sgat": true, "gat": true,
		"gatv2": true} {
		s := smallOf(model)
		require.Equal(t, reads, batchTrainerOf(t, gnntest.Go(t), g, view, s, 3).train.data.NeedsMasked(),
			model)
	}
}

func TestWithoutLearningTheCacheBecomesTheFullPass(t *testing.T) {
	g, view := gnntest.Camps(t, 50, datasets.Transductive)
	for _, model := range []string{"gin", "gat"} {
		s := smallOf(model)
		s.Layers, s.KeepRate, s.Dropout, s.AttentionDropout, s.WeightDecay, s.LearningRate = 4, 1, 0, 0, 0, 1e-30
		trainer := batchTrainerOf(t, gnntest.Go(t), g, view, s, 5)
		require.NoError(t, trainer.Begin(t.Context(), 4))
		for _, i := range trainer.readers {
			clear(trainer.caches[0][i].Values)
		}
		for epoch := range 5 {
			_, _, err := trainer.Epoch(t.Context())
			require.NoError(t, err)
			for i := 1; i < 4; i++ {
				exact := trainer.train.hidden[i].Values // from the evaluation
				most := 0.0
				for j, x := range trainer.caches[0][i].Values {
					most = max(most, math.Abs(float64(x-exact[j])))
				}
				if i <= epoch+1 {
					require.Less(t, most, 1e-4, "%s: layer %d after %d epochs", model, i, epoch+1)
				} else {
					require.Greater(t, most, 1e-4, "%s: layer %d after %d epochs: what it reads was wrong until then", model, i,
						epoch+1)
				}
			}
		}
	}
}

func TestAGraphOfAnyShapeTrainsInAnyNumberOfBatches(t *testing.T) {
	g := gnntest.TwoCamps(t)
	none, _, err := csr.FromEdges(60, nil, csr.Options{})
	require.NoError(t, err)
	star := make([]csr.Edge, 0, 20)
	for v := range int32(20) {
		star = append(star, csr.Edge{Node: 0, Neighbour: v + 1})
	}
	hub, _, err := csr.FromEdges(60, star, csr.Options{})
	require.NoError(t, err)
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		for name, edges := range map[string]*csr.Graph{"no edges": none, "a hub and isolated nodes": hub,
			"two camps": g.Edges} {
			for _, clusters := range []int{2, 60} {
				if b.ID != "go" && clusters != 60 {
					continue
				}
				odd := *g
				odd.Edges = edges
				view := gnntest.View(t, &odd, 50, datasets.Transductive)
				s := smallOf("gin")
				s.MaxEpochs = 2
				t.Logf("%s, %d clusters", name, clusters)
				trial := trainOnce(t, batchTrainerOf(t, b, &odd, view, s, clusters), 1)
				require.Len(t, trial.History, 2, "%s, %d clusters", name, clusters)
			}
		}
	})
}

func TestClustersPartitionNodesEvenly(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(r, "nodes")
		var edges []csr.Edge
		for range rapid.IntRange(0, 80).Draw(r, "edges") {
			edges = append(edges, csr.Edge{Node: int32(rapid.IntRange(0, n-1).Draw(r, "v")),
				Neighbour: int32(rapid.IntRange(0, n-1).Draw(r, "u"))})
		}
		g, _, err := csr.FromEdges(n, edges, csr.Options{})
		require.NoError(r, err)
		parts := rapid.IntRange(0, 50).Draw(r, "parts")
		clusters := partition(g, parts)
		require.Len(r, clusters, min(max(parts, 1), n))
		var all []int32
		for _, c := range clusters {
			require.NotEmpty(r, c)
			require.LessOrEqual(r, len(c), int(math.Ceil(1.05*float64(n)/float64(len(clusters)))))
			require.True(r, slices.IsSorted(c))
			all = append(all, c...)
		}
		slices.Sort(all)
		require.Len(r, all, n)
		require.Len(r, slices.Compact(all), n)
	})
}

func share(g *csr.Graph, clusters [][]int32) float64 {
	part, cut := make([]int, g.NumNodes()), 0
	for p, of := range clusters {
		for _, v := range of {
			part[v] = p
		}
	}
	for v, u := range g.All() {
		if part[v] != part[u] {
			cut++
		}
	}
	return float64(cut) / float64(max(g.NumEdges(), 1))
}

func TestClustersFollowCommunities(t *testing.T) {
	g, err := datasets.SBM(t.Context(), datasets.SBMOptions{Nodes: 4000, Classes: 40, MeanDegree: 10, Homophily: 0.9,
		Seed: 1})
	require.NoError(t, err)
	for _, x := range []struct {
		of    string
		graph *csr.Graph
		most  float64 // relative to random parts
	}{{"SBM", g.Edges, 0.2}, {"Cora", gnntest.Cora(t).Edges, 0.25}} {
		clusters := partition(x.graph, 8)
		n := x.graph.NumNodes()
		order := rand.New(rand.NewPCG(1, 2)).Perm(n)
		random := make([][]int32, 8)
		for i, v := range order {
			random[i%8] = append(random[i%8], int32(v))
		}
		got, by := share(x.graph, clusters), share(x.graph, random)
		t.Logf("%s: %.3f of the edges are cut, %.3f by random parts", x.of, got, by)
		require.Less(t, got, x.most*by)
		require.Equal(t, clusters, partition(x.graph, 8), "equal graphs have equal clusters")
	}
}
