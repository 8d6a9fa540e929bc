package datasets

import (
	"archive/zip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/datasets/internal/numpy/numpytest"
)

var ringLayout = redditLayout{nodes: 4, directed: 8, features: 3, classes: 2}

func ringGraph() members {
	return members{
		"row":    npy("<i4", []int{8}, []int32{0, 0, 1, 1, 2, 2, 3, 3}),
		"col":    npy("<i4", []int{8}, []int32{1, 3, 0, 2, 1, 3, 0, 2}),
		"data":   npy("<f8", []int{8}, make([]float64, 8)),
		"shape":  npy("<i8", []int{2}, []int64{4, 4}),
		"format": npy("|S3", nil, "coo"),
	}
}

func ringData() members {
	return members{
		"feature":    npy("<f8", []int{4, 3}, []float64{0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5}),
		"node_types": npy("<i4", []int{4}, []int32{1, 1, 2, 3}),
		"node_ids":   npy("|S2", []int{4}, "a\x00b\x00c\x00d\x00"),
		"label":      npy("<i8", []int{4}, []int64{0, 1, 1, 0}),
	}
}

func redditDir(t testing.TB, graph, data members) string {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, redditGraphFile), graph.Zip(zip.Deflate), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, redditDataFile), data.Zip(zip.Store), 0o666))
	return dir
}

func TestReadRedditReadsPairsInAnyOrder(t *testing.T) {
	for name, change := range map[string]members{
		"coo": nil,
		"coo in no order": {"row": npy("<i8", []int{8}, []int64{3, 0, 1, 2, 2, 1, 0, 3}),
			"col": npy("<i8", []int{8}, []int64{2, 1, 0, 3, 1, 2, 3, 0})},
		"coo in one direction": {"row": npy("<i4", []int{5}, []int32{0, 1, 2, 3, 3}),
			"col": npy("<i4", []int{5}, []int32{1, 2, 3, 0, 3})},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := readReddit(t.Context(), redditDir(t, ringGraph().With(change), ringData()), ringLayout)
			require.NoError(t, err)
			sound(t, g)
			assert.Equal(t, []int32{1, 3, 0, 2, 1, 3, 0, 2}, g.Edges.Indices)
			assert.Equal(t, int64(4), g.Report.Edges)
			assert.Equal(t, []int32{0, 1, 1, 0}, g.Labels)
			assert.Equal(t, []float32{0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5}, g.Features.Dense)
		})
	}
}

func TestReadRedditReadsWhatNumpyAndScipyWrote(t *testing.T) {
	g, err := readReddit(t.Context(), filepath.Join("testdata", "numpy"), ringLayout)
	require.NoError(t, err)
	sound(t, g)
	assert.Equal(t, csr.Report{Listed: 8, Duplicates: 4, Edges: 4}, g.Report)
	assert.Equal(t, []float32{1.5, 2, 2.5}, g.Features.Dense[3:6])
}

func TestReadRedditRefusesAnotherGraph(t *testing.T) {
	for name, c := range map[string]struct {
		graph, data members
		says        string
	}{
		"nodes": {members{"shape": npy("<i8", []int{2}, []int64{5, 5})}, nil,
			"reddit_graph.npz: shape [5, 5]: expected [4, 4]"},
		"edges": {members{"row": npy("<i4", []int{1}, []int32{0}), "col": npy("<i4", []int{1}, []int32{1})}, nil,
			"2 distinct directed edges: expected 8"},
		"rows only": {members{"row": npy("<i4", []int{1}, []int32{0})}, nil,
			"reddit_graph.npz: col: shape [8]: expected [1]"},
		"node": {members{"col": npy("<i4", []int{8}, []int32{1, 3, 0, 2, 1, 4, 0, 2})}, nil,
			"reddit_graph.npz: col: element 5: names node 4"},
		"format": {members{"row": nil, "indptr": npy("<i4", []int{1}, []int32{0})}, nil,
			`no member "row", which a scipy matrix in coo`},
		"trillion edges": {members{"row": numpytest.TooLarge()}, nil, "reddit_graph.npz: row: byte 10"},
		"features": {nil, members{"feature": npy("<f4", []int{4, 2}, make([]float32, 8))},
			"feature: 2 columns: expected 3"},
		"feature rows": {nil, members{"feature": npy("<f4", []int{3, 3}, make([]float32, 9))},
			"feature: shape [3, 3]: expected [4, width]"},
		"classes": {nil, members{"label": npy("<i4", []int{4}, []int32{0, 1, 2, 0})}, "3 classes: expected 2"},
		"labels": {nil, members{"label": npy("<i4", []int{3}, []int32{0, 1, 1})},
			"reddit_data.npz: label: shape [3]: expected [4]"},
		"no labels": {nil, members{"label": nil}, `reddit_data.npz: no member "label"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readReddit(t.Context(), redditDir(t, ringGraph().With(c.graph), ringData().With(c.data)), ringLayout)
			require.ErrorContains(t, err, c.says)
		})
	}
}
