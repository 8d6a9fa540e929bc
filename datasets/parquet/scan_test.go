package parquet_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/datasets/parquet"
)

// scanned is a graph put together from what is scanned.
type scanned struct {
	ids, labels []string
	features    [][]float32
	pairs       []csr.Edge
}

func (s *scanned) node(id, label []byte, features []float32) error {
	s.ids, s.labels = append(s.ids, string(id)), append(s.labels, string(label))
	s.features = append(s.features, append([]float32{}, features...))
	return nil
}

func TestScanningAFileGivesWhatReadingItDoes(t *testing.T) {
	folder := filepath.Join("..", "testdata", "formats", "parquet")
	g, err := parquet.Reader{}.Read(t.Context(), folder)
	require.NoError(t, err)
	var s scanned
	require.NoError(t, datasets.ScanNodes(t.Context(), filepath.Join(folder, "nodes.parquet"), s.node, parquet.Reader{}))
	require.Equal(t, g.NodeIDs, s.ids)
	place := map[string]int32{}
	for v, id := range s.ids {
		place[id] = int32(v)
		require.Equal(t, g.Features.Row(v, nil), s.features[v])
		label := ""
		if g.Labels[v] != datasets.Unlabelled {
			label = g.Classes[g.Labels[v]]
		}
		require.Equal(t, label, s.labels[v])
	}
	require.NoError(t, datasets.ScanEdges(t.Context(), filepath.Join(folder, "edges.parquet"),
		func(source, target []byte) error {
			s.pairs = append(s.pairs, csr.Edge{Node: place[string(source)], Neighbour: place[string(target)]})
			return nil
		}, parquet.Reader{}))
	edges, report, err := csr.FromEdges(len(s.ids), s.pairs, csr.Options{})
	require.NoError(t, err)
	require.Equal(t, g.Report, report)
	require.Equal(t, g.Edges, edges)
}
