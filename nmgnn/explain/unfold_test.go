package explain_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/explain"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/gomlx"
)

var unfolded = []string{"gin", "gat", "sgat", "gcn", "sage", "gatv2"}

// settingsOf returns every model that Unfold supports, and variants that change a sum.
func settingsOf(t *testing.T) (all []hyper.Parameters) {
	t.Helper()
	for _, name := range append(slices.Clone(unfolded), "gin", "gin", "gat", "sgat") {
		p, err := hyper.For(name)
		require.NoError(t, err)
		p.Layers, p.Hidden, p.Heads = 2, 6, 2
		switch len(all) - len(unfolded) {
		case 0:
			p.Layers, p.MLPLayers, p.Epsilon, p.LearnEpsilon, p.Norm, p.Readout, p.Residual, p.NormalizeFeatures = 3, 2, 0.25,
				true, hyper.NormBoth, hyper.ReadoutAll, true, false
		case 1:
			p.Readout, p.MLPLayers = hyper.ReadoutLast, 3
		case 2, 3:
			p.SelfTerm, p.Layers = hyper.SelfKept, 3
		}
		all = append(all, p)
	}
	return all
}

func requireUnfolds(t *testing.T, m *cached.Model, g *datasets.Graph, mask []bool, all []infer.Representation) {
	t.Helper()
	b := gnntest.Go(t)
	for layer := 1; layer <= len(all); layer++ {
		for v := range int32(g.Edges.NumNodes()) {
			s, err := explain.Unfold(b, m, g, v, layer, mask)
			require.NoError(t, err)
			want := all[layer-1].Row(int(v))
			require.Equal(t, want, s.Model)
			got := s.Steps[len(s.Steps)-1].Values
			require.Len(t, got, len(want))
			for i := range want {
				require.InDelta(t, want[i], got[i], 1e-4, "%+v, layer %d, node %d", m.Settings, layer, v)
			}
		}
	}
}

func TestUnfoldedSumsAreWhatTheModelComputes(t *testing.T) {
	b := gnntest.Go(t)
	for k, p := range settingsOf(t) {
		g := randomGraph(t, rand.New(rand.NewPCG(7, uint64(k))), 7, 12, k%2 == 0)
		w, err := infer.Untrained(b, nmgnn.Build(p, 3), 4, 1)
		require.NoError(t, err)
		r := gomlx.HostRandom(1, p.Model)
		for _, w := range w.Weights {
			for i := range w.Values { // running variances stay above 0
				w.Values[i] += float32(r.Float64()) / 2
			}
		}
		m := &cached.Model{Settings: p, Classes: g.Classes, Features: 4, Weights: w.Weights}
		for _, mask := range [][]bool{nil, {true, false, true, false, false, true, false}} {
			all, err := m.Network().Represent(b, g.Edges, g.Features, infer.Options{Mask: mask})
			require.NoError(t, err)
			requireUnfolds(t, m, g, mask, all)
		}
	}
}

func TestWhatCannotBeUnfoldedIsAnErrorThatSaysWhy(t *testing.T) {
	b := gnntest.Go(t)
	g := gnntest.TwoCamps(t)
	p, err := hyper.For("gcn")
	require.NoError(t, err)
	w, err := infer.Untrained(b, nmgnn.Build(p, 2), 4, 1)
	require.NoError(t, err)
	m := &cached.Model{Settings: p, Classes: g.Classes, Features: 4, Weights: w.Weights}
	_, err = explain.Unfold(b, m, g, 60, 1, nil)
	require.EqualError(t, err, "node 60: the graph has 60 nodes, numbered from 0")
	_, err = explain.Unfold(b, m, g, 0, 3, nil)
	require.EqualError(t, err, "layer 3: expected 1 to 2")
	_, err = explain.Unfold(b, m, g, 0, 1, []bool{true})
	require.EqualError(t, err, "a mask of 1 entries for 60 nodes")
}
