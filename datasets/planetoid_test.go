package datasets

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
)

// planetoidFiles is the folder of the published files, or the test is skipped.
func planetoidFiles(t testing.TB) fs.FS {
	root := os.Getenv("NODEMASK_TEST_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "shared", "datasets")
	}
	folder := filepath.Join(root, "planetoid")
	if _, err := os.Stat(filepath.Join(folder, "ind.cora.graph")); err != nil {
		t.Skipf("no Planetoid files in %s: set NODEMASK_TEST_DATA to the folder that holds planetoid/", folder)
	}
	return os.DirFS(folder)
}

func TestPlanetoidGraphsHaveTheirPublishedShape(t *testing.T) {
	files := planetoidFiles(t)
	for _, want := range []struct {
		name                   string
		nodes, width, nonzeros int
		report                 csr.Report
		classes                []int
	}{
		{"cora", 2708, 1433, 49216, csr.Report{Listed: 5429, Duplicates: 151, Edges: 5278}, []int{351, 217, 418, 818, 426, 298, 180}},
		{"citeseer", 3327, 3703, 105165, csr.Report{Listed: 4732, SelfLoops: 124, Duplicates: 56, Edges: 4552}, []int{249, 590, 668, 701, 596, 508}},
		{"pubmed", 19717, 500, 988031, csr.Report{Listed: 44338, SelfLoops: 3, Duplicates: 11, Edges: 44324}, []int{4103, 7739, 7875}},
	} {
		g, err := ReadPlanetoid(context.Background(), files, want.name, PlanetoidOptions{})
		require.NoError(t, err)
		require.NoError(t, g.Check())
		assert.Equal(t, want.nodes, g.NumNodes())
		assert.Equal(t, want.width, g.Features.Width)
		assert.Equal(t, int64(want.nonzeros), g.Features.NonZeros())
		assert.Equal(t, want.report, g.Report)
		assert.Equal(t, want.classes, classSizes(g))
	}
}
