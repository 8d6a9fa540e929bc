package layerwise_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/beam/internal/layerwise"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gnntest"
)

// arriving splits a graph: a model's cache of the train nodes, and files of the other nodes with their edges, loops,
// and some repeated edges.
func arriving(t testing.TB, m *cached.Model, g *datasets.Graph, view *datasets.View) layerwise.Arrivals {
	t.Helper()
	own := g.Features.Select(view.Train.Nodes)
	all, err := m.Network().Represent(gnntest.Go(t), view.Train.Edges, own, infer.Options{})
	require.NoError(t, err)
	if m.Settings.NormalizeFeatures {
		own = own.RowNormalized()
	}
	a := layerwise.Arrivals{Cache: filepath.Join(t.TempDir(), "cache.safetensors")}
	require.NoError(t, m.SaveWith(a.Cache, cached.New(g, view.Train, own, all[:m.Settings.Layers-1])))

	nodes, edges := [][]string{{"id"}}, [][]string{{"source", "target"}, {"0", "0"}}
	for k := range g.Features.Width {
		nodes[0] = append(nodes[0], fmt.Sprint("f", k))
	}
	for v := range int32(g.NumNodes()) {
		if slices.Contains(view.Train.Nodes, v) {
			continue
		}
		line := []string{fmt.Sprint(v)}
		for _, x := range g.Features.Row(int(v), nil) {
			line = append(line, strconv.FormatFloat(float64(x), 'g', -1, 32))
		}
		nodes = append(nodes, line)
		for _, u := range g.Edges.Neighbours(v) {
			edges = append(edges, []string{fmt.Sprint(u), fmt.Sprint(v)}) // both directions among new nodes
		}
	}
	a.Input = graphIn(t, [2][][]string{nodes, edges})
	return a
}

func TestEveryModelPredictsArrivalsLikeOneMachine(t *testing.T) {
	g, err := datasets.SBM(t.Context(), datasets.SBMOptions{Nodes: 120, Classes: 3, MeanDegree: 5, Features: 4, Seed: 5})
	require.NoError(t, err)
	view := gnntest.View(t, g, 50, datasets.Inductive)
	b := gnntest.Go(t)
	for _, c := range testCases() {
		t.Run(c.Name, func(t *testing.T) {
			m := c.Model(t, g.Features.Width)
			a := arriving(t, m, g, view)
			kept, err := cached.LoadCache(a.Cache, m)
			require.NoError(t, err)
			defer kept.Close()
			p, err := cached.NewPredictor(b, m, kept)
			require.NoError(t, err)
			defer p.Close()
			all, err := datasets.ReadNewcomers(t.Context(), a.Nodes[0], a.Edges[0],
				datasets.NewcomersOptions{Width: m.Features, Known: p.Known})
			require.NoError(t, err)
			out := layerwise.Output{Folder: t.TempDir()}
			require.NoError(t, layerwise.Predict(t.Context(), m, a, out, layerwise.Options{Shards: 2}))
			got := written(t, out.Folder)
			require.Len(t, got, len(all.IDs))
			linked := 0
			require.NoError(t, p.Predict(t.Context(), all, func(want cached.Prediction) error {
				row := got[want.ID]
				require.NotNil(t, row)
				require.Equal(t, want.Class, row["predicted"])
				requireNumber(t, want.Probability, row["probability"])
				require.Equal(t, fmt.Sprint(want.Neighbours), row["neighbours"])
				require.Equal(t, fmt.Sprint(want.Arrivals), row["arrivals"])
				linked += want.Arrivals
				return nil
			}))
			require.Positive(t, linked)
		})
	}
}

func TestArrivalsThatCannotBeAreRefused(t *testing.T) {
	g, err := datasets.SBM(t.Context(), datasets.SBMOptions{Nodes: 40, Classes: 3, MeanDegree: 3, Features: 4, Seed: 5})
	require.NoError(t, err)
	view := gnntest.View(t, g, 50, datasets.Inductive)
	m := testCases()[0].Model(t, g.Features.Width)
	a := arriving(t, m, g, view)
	known := fmt.Sprint(view.Train.Nodes[0])
	header, ends := []string{"id", "a", "b", "c", "d"}, []string{"source", "target"}
	node := func(id string) []string { return []string{id, "1", "1", "1", "1"} }
	for says, lines := range map[string][2][][]string{
		"the id \"x\" is there twice":                                     {{header, node("x"), node("x")}, {ends}},
		"node \"" + known + "\" is one that the model was trained on":     {{header, node(known)}, {ends}},
		"an edge names node \"y\", which is neither in the files of node": {{header, node("x")}, {ends, {"x", "y"}}},
		"nodes.csv: line 2: 3 features: expected 4":                       {{header[:4], node("x")[:4]}, {ends}},
	} {
		wrong := a
		wrong.Input = graphIn(t, lines)
		err = layerwise.Predict(t.Context(), m, wrong, layerwise.Output{Folder: t.TempDir()}, layerwise.Options{})
		require.ErrorContains(t, err, says)
		require.NotContains(t, err.Error(), "\n", "plain")
	}
}
