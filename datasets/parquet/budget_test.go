package parquet

import (
	"fmt"
	"path/filepath"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/datasets/internal/input"
)

func TestNodesAndEdgesAreCounted(t *testing.T) {
	dir, x := t.TempDir(), 1.5
	var nodes []node
	var edges []edge
	for v := range 64 {
		nodes = append(nodes, node{ID: fmt.Sprint(v + 10), X: &x})
		edges = append(edges, edge{Source: int64(v + 10), Target: int64(10 + (v+1)%64)})
	}
	write(t, dir, nodesFile, nodes)
	write(t, dir, edgesFile, edges)
	var known *datasets.NodeRows
	counted := func(file string, read func(*table) error) int {
		return 64 * sort.Search(1<<16, func(limit int) bool {
			f, err := input.Open(filepath.Join(dir, file))
			require.NoError(t, err)
			defer f.Close()
			f.Budget = input.NewBudget(int64(limit) - 256<<20/64) // without what every file may take
			table, err := openTable(t.Context(), f)
			require.NoError(t, err)
			return read(table) == nil
		})
	}
	var g datasets.Graph
	ofNodes := func(t *table) (err error) { known, err = readNodes(t, &g); return err }
	require.Equal(t, 64*(128+2+8+8), counted(nodesFile, ofNodes))
	ofEdges := func(t *table) error { _, err := readEdges(t, &g, known); return err }
	require.Equal(t, 64*16, counted(edgesFile, ofEdges))
}
