package datasets

import (
	"archive/zip"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
)

// openReddit reads Reddit's two files in a folder.
func openReddit(ctx context.Context, dir string) (*Graph, error) {
	info, err := lookup("reddit")
	if err != nil {
		return nil, err
	}
	return openAt(ctx, "reddit", Location{Info: info, Dir: dir})
}

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
	require.NoError(t, os.WriteFile(filepath.Join(dir, "reddit_graph.npz"), graph.Zip(zip.Deflate), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "reddit_data.npz"), data.Zip(zip.Store), 0o666))
	return dir
}

func TestReadRedditReadsPairsInAnyOrder(t *testing.T) {
	for name, change := range map[string]members{
		"coo": nil,
		"coo in one direction": {"row": npy("<i4", []int{5}, []int32{0, 1, 2, 3, 3}),
			"col": npy("<i4", []int{5}, []int32{1, 2, 3, 0, 3})},
	} {
		t.Run(name, func(t *testing.T) {
			g, err := openReddit(t.Context(), redditDir(t, ringGraph().With(change), ringData()))
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
	g, err := openReddit(t.Context(), filepath.Join("testdata", "numpy"))
	require.NoError(t, err)
	sound(t, g)
	assert.Equal(t, csr.Report{Listed: 8, Duplicates: 4, Edges: 4}, g.Report)
	assert.Equal(t, []float32{1.5, 2, 2.5}, g.Features.Dense[3:6])
}

func TestReadRedditRefusesArraysThatDoNotFit(t *testing.T) {
	for says, change := range map[string]members{
		`member "col": shape [8] of int32: expected whole numbers [1]`: {"row": npy("<i4", []int{1}, []int32{0})},
		"edge 5 joins nodes 2 and 4: expected 0 to 3":                  {"col": npy("<i4", []int{8}, []int32{1, 3, 0, 2, 1, 4, 0, 2})},
		`member "row": shape [1000000000000] of float64 does not fit`:  {"row": tooLarge},
		`member "feature": shape [3 3] of float32: expected numbers [4, width]`: {
			"feature": npy("<f4", []int{3, 3}, make([]float32, 9))},
		`no "label": expected the classes there`: {"label": nil},
	} {
		graph, data := ringGraph(), ringData()
		for name := range change {
			if graph[name] != nil {
				graph = graph.With(change)
			} else {
				data = data.With(change)
			}
		}
		_, err := openReddit(t.Context(), redditDir(t, graph, data))
		require.ErrorContains(t, err, says)
		require.ErrorContains(t, err, "reddit_graph.npz: ")
	}
}
