package layerwise_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/beam/layerwise"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gnntest"
)

func TestEveryModelEqualsOneMachineOnAnOddGraph(t *testing.T) {
	folder := oddFiles(t)
	g := readGraph(t, folder)
	in, err := layerwise.Find(folder)
	require.NoError(t, err)
	require.Len(t, in.Edges, 2)
	require.Positive(t, g.Report.SelfLoops)
	require.Positive(t, g.Report.Duplicates)
	for _, c := range testCases() {
		t.Run(c.name, func(t *testing.T) {
			m := c.model(t, g)
			all, err := m.Network().Represent(gnntest.Go(t), g.Edges, g.Features, infer.Options{})
			require.NoError(t, err)
			work := t.TempDir()
			for _, layer := range []int{0, 1} {
				out := layerwise.Output{Folder: filepath.Join(t.TempDir(), "out"), Layer: layer, CSV: true}
				counts, err := layerwise.Embed(t.Context(), m, in, out, layerwise.Options{Work: work, Shards: 3})
				require.NoError(t, err)
				require.Equal(t, layerwise.Counts{Nodes: int64(g.NumNodes()), Edges: int64(g.Report.Edges), Loops: int64(g.Report.SelfLoops), Repeats: int64(g.Report.Duplicates)}, counts)
				got := written(t, out.Folder)
				require.Len(t, got, g.NumNodes())
				shown := all[len(all)-1]
				classes, probability := shown.Classes(), shown.Softmax()
				if layer > 0 {
					shown = all[layer-1]
				}
				for v, id := range g.NodeIDs {
					requireRow(t, shown.Row(v), got[id], tolerance, id)
					label := ""
					if g.Labels[v] >= 0 {
						label = g.Classes[g.Labels[v]]
					}
					require.Equal(t, label, got[id]["class"])
					require.Equal(t, m.Classes[classes[v]], got[id]["predicted"])
					requireNumber(t, float64(probability.Row(v)[classes[v]]), got[id]["probability"])
				}
			}
		})
	}
}
