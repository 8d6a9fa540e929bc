package datasets

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"
)

// writeCSV writes a graph that [Open] reads as the same, if no id or class spans lines.
func writeCSV(t require.TestingT, dir string, g *Graph) {
	var nodes, edges strings.Builder
	nodes.WriteString("id,label")
	for j := range g.Features.Width {
		fmt.Fprintf(&nodes, ",f%d", j)
	}
	nodes.WriteByte('\n')
	row := make([]float32, g.Features.Width)
	for v, id := range g.NodeIDs {
		nodes.WriteString(csvField(id) + ",")
		if label := g.Labels[v]; label != Unlabelled {
			nodes.WriteString(csvField(g.Classes[label]))
		}
		for _, x := range g.Features.Row(v, row) {
			nodes.WriteString("," + strconv.FormatFloat(float64(x), 'g', -1, 32))
		}
		nodes.WriteByte('\n')
	}
	edges.WriteString("source,target\n")
	for v, u := range g.Edges.All() {
		if v < u {
			edges.WriteString(csvField(g.NodeIDs[v]) + "," + csvField(g.NodeIDs[u]) + "\n")
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, csvNodesFile), []byte(nodes.String()), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, csvEdgesFile), []byte(edges.String()), 0o666))
}

// csvField quotes every name, to keep spaces, commas and quotes.
func csvField(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
