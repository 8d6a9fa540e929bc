package parquet

import (
	"fmt"
	"path/filepath"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets/internal/graphfile"
	"nodemask/internal/memory"
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
	var known *graphfile.Rows
	counted := func(file string, read func(*table) error) int {
		return 64 * sort.Search(1<<16, func(limit int) bool {
			f, err := graphfile.Open(filepath.Join(dir, file))
			require.NoError(t, err)
			defer f.Close()
			f.Budget = memory.NewBudget(int64(limit) - 256<<20/64) // without what every file may take
			table, err := openTable(t.Context(), f)
			require.NoError(t, err)
			return read(table) == nil
		})
	}
	ofNodes := func(t *table) error {
		rows, err := readNodes(t)
		if err == nil {
			known = rows
		}
		return err
	}
	// Rows, what each of the columns id, label and x is read through, and the library's pages of them, with offsets of
	// text and which values there are.
	const pages = 1088
	require.Equal(t, 64*(128+2+8+8)+3*mostBuffer+pages, counted(nodesFile, ofNodes))
	ofEdges := func(t *table) error { return readEdges(t, known) }
	require.Equal(t, 64*16+2*64*8, counted(edgesFile, ofEdges))
}
