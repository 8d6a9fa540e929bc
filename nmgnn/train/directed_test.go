package train

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/gnntest"
)

// TestDirectedGraphsTrain: each of 60 nodes receives from one node, whose feature is the receiver's class. Reverse
// edges carry no information.
func TestDirectedGraphsTrain(t *testing.T) {
	const n = 60
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		for _, heard := range []bool{true, false} {
			g := &datasets.Graph{Name: "one way", OneWay: true, Classes: []string{"0", "1"}, Labels: make([]int32, 2*n),
				Features: datasets.Features{Rows: 2 * n, Width: 1, Dense: make([]float32, 2*n)}}
			var edges []csr.Edge
			for v := range int32(n) {
				class := v * v / 7 % 2
				g.Labels[v], g.Labels[n+v], g.Features.Dense[n+v] = class, datasets.Unlabelled, float32(2*class-1)
				e := csr.Edge{Node: v, Neighbour: n + v}
				if !heard {
					e = csr.Edge{Node: n + v, Neighbour: v}
				}
				edges = append(edges, e)
			}
			var err error
			g.Edges, _, err = csr.FromEdges(2*n, edges, csr.Options{Directed: true})
			require.NoError(t, err)
			p, err := hyper.For("gin")
			require.NoError(t, err)
			p.Layers, p.Dropout, p.MaxEpochs, p.NormalizeFeatures = 1, 0, 100, false
			x := Experiment{Graph: g, Parameters: p, Setting: datasets.Transductive, TrainPercent: 50, SplitSeed: 1}
			results, err := x.Run(t.Context(), b, hyper.Seeds(1, 1), RunOptions{})
			require.NoError(t, err)
			require.Equal(t, heard, results[0].Test.Accuracy == 1, "%v", results[0].Test.Accuracy)
		}
	})
}
