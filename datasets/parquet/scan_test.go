package parquet_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/datasets/parquet"
)

func TestScanningAFileGivesWhatReadingItDoes(t *testing.T) {
	folder := filepath.Join("..", "testdata", "formats", "parquet")
	g, err := parquet.Reader{}.Read(t.Context(), folder)
	require.NoError(t, err)
	place := map[string]int32{}
	require.NoError(t, datasets.ScanNodes(t.Context(), filepath.Join(folder, "nodes.parquet"),
		func(id, label []byte, features []float32) error {
			v := len(place)
			place[string(id)] = int32(v)
			require.Equal(t, g.NodeIDs[v], string(id))
			require.Equal(t, g.Features.Row(v, nil), features)
			want := ""
			if g.Labels[v] != datasets.Unlabelled {
				want = g.Classes[g.Labels[v]]
			}
			require.Equal(t, want, string(label))
			return nil
		}, parquet.Reader{}))
	require.Len(t, place, g.NumNodes())
	var pairs []csr.Edge
	require.NoError(t, datasets.ScanEdges(t.Context(), filepath.Join(folder, "edges.parquet"),
		func(source, target []byte) error {
			pairs = append(pairs, csr.Edge{Node: place[string(source)], Neighbour: place[string(target)]})
			return nil
		}, parquet.Reader{}))
	edges, report, err := csr.FromEdges(len(place), pairs, csr.Options{})
	require.NoError(t, err)
	require.Equal(t, g.Report, report)
	require.Equal(t, g.Edges, edges)
}
