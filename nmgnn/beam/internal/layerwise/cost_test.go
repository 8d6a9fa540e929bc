package layerwise_test

import (
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/beam/internal/layerwise"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gnntest"
)

func graphFiles(t testing.TB, g *datasets.Graph, shards int) layerwise.Input {
	t.Helper()
	folder := t.TempDir()
	for shard := range shards {
		nodes, edges := [][]string{{"id"}}, [][]string{{"source", "target"}}
		for k := range g.Features.Width {
			nodes[0] = append(nodes[0], fmt.Sprint("f", k))
		}
		for v := shard; v < g.NumNodes(); v += shards {
			line := []string{strconv.Itoa(v)}
			for _, x := range g.Features.Row(v, nil) {
				line = append(line, strconv.FormatFloat(float64(x), 'g', -1, 32))
			}
			nodes = append(nodes, line)
			for _, u := range g.Edges.Neighbours(int32(v)) {
				if int(u) > v {
					edges = append(edges, []string{line[0], strconv.Itoa(int(u))})
				}
			}
		}
		writeCSV(t, filepath.Join(folder, fmt.Sprintf("nodes-%03d.csv", shard)), nodes)
		writeCSV(t, filepath.Join(folder, fmt.Sprintf("edges-%03d.csv", shard)), edges)
	}
	return find(t, folder)
}

func requireEqual(t testing.TB, want infer.Representation, folder string) {
	t.Helper()
	seen := written(t, folder)
	require.Len(t, seen, want.Rows)
	for id, row := range seen {
		v, err := strconv.Atoi(id)
		require.NoError(t, err)
		requireRow(t, want.Row(v), row, tolerance, id)
	}
}

func TestPubMedEqualsOneMachine(t *testing.T) {
	g, err := datasets.Open(t.Context(), "pubmed", datasets.OpenOptions{})
	require.NoError(t, err)
	in := graphFiles(t, g, 2)
	for _, kind := range []string{"gin", "gat"} {
		t.Run(kind, func(t *testing.T) {
			c := gnntest.Case{Name: kind, Change: func(p *hyper.Parameters) {
				*p, err = hyper.For(kind)
				require.NoError(t, err)
			}}
			m := c.Model(t, g.Features.Width)
			_, logits := represented(t, m, g)
			out := layerwise.Output{Folder: t.TempDir()}
			// Both shards are large enough for several parts.
			require.NoError(t, embed(t, m, in, out, layerwise.Options{Shards: 2}))
			requireEqual(t, logits, out.Folder)
		})
	}
}
