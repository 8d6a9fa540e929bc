package layerwise_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/beam/internal/layerwise"
	"nodemask/nmgnn/hyper"
)

func TestEveryModelEqualsOneMachineOnAnOddGraph(t *testing.T) {
	_, in, g := odd(t)
	require.Len(t, in.Edges, 2)
	require.Positive(t, g.Report.SelfLoops)
	require.Positive(t, g.Report.Duplicates)
	cases := testCases()
	require.Len(t, cases, 2*len(hyper.Models())+5)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			m := c.Model(t, g.Features.Width)
			all, logits := represented(t, m, g)
			classes, probability := logits.Classes(), logits.Softmax()
			work := t.TempDir()
			for _, layer := range []int{0, 1} {
				out := layerwise.Output{Folder: filepath.Join(t.TempDir(), "out"), Layer: layer}
				counts, err := layerwise.Embed(t.Context(), m, in, out, layerwise.Options{Work: work, Shards: 3})
				require.NoError(t, err)
				require.Equal(t, layerwise.Counts{Nodes: int64(g.NumNodes()), Edges: int64(g.Report.Edges)}, counts)
				got := written(t, out.Folder)
				require.Len(t, got, g.NumNodes())
				shown := logits
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

// star returns a graph with a node of very many neighbours, and another node joined to some of them.
func star(t testing.TB, leaves int) layerwise.Input {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	nodes, edges := [][]string{{"id", "label", "a", "b", "c", "d"}}, [][]string{{"source", "target"}}
	for v := range leaves + 1 {
		line := []string{fmt.Sprint(v), ""}
		for range 4 {
			line = append(line, strconv.FormatFloat(r.NormFloat64(), 'g', 6, 64))
		}
		nodes = append(nodes, line)
		if v > 0 {
			edges = append(edges, []string{"0", fmt.Sprint(v)})
		}
		if v%10 == 2 {
			edges = append(edges, []string{"1", fmt.Sprint(v)})
		}
	}
	return graphIn(t, [2][][]string{nodes, edges})
}

func TestANodeOfVeryManyNeighboursEqualsOneMachine(t *testing.T) {
	const leaves = 100_000
	in := star(t, leaves)
	g := readGraph(t, filepath.Dir(in.Nodes[0]))
	require.Equal(t, leaves, g.Edges.Degree(0))
	for _, c := range testCases() {
		if c.Name != "sage" && c.Name != "gat, 1 layer" { // a sum and a softmax
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			m := c.Model(t, g.Features.Width)
			_, want := represented(t, m, g)
			out := layerwise.Output{Folder: t.TempDir()}
			require.NoError(t, embed(t, m, in, out, layerwise.Options{}))
			got := written(t, out.Folder)
			require.Len(t, got, g.NumNodes())
			for _, v := range []int{0, 1, 2, 3, leaves} {
				requireRow(t, want.Row(v), got[fmt.Sprint(v)], tolerance, fmt.Sprint(v))
			}
		})
	}
}

func TestGraphsThatCannotBeAreRefused(t *testing.T) {
	_, _, g := odd(t)
	m := testCases()[0].Model(t, g.Features.Width)
	header := []string{"id", "label", "a", "b", "c", "d"}
	x := []string{"x", "", "1", "1", "1", "1"}
	for says, lines := range map[string][2][][]string{
		"the id \"x\" is there twice":                      {{header, x, x}, {{"source", "target"}}},
		"an edge names node \"y\", which no file of nodes": {{header, x}, {{"source", "target"}, {"x", "y"}}},
		"an edge names node \"z\", which no file of nodes": {{header, x}, {{"source", "target"}, {"z", "z"}}},
		"nodes.csv: line 3: column \"b\": found \"much\"": {{header, x, {"w", "", "1", "much", "1", "1"}},
			{{"source", "target"}}},
		"edges.csv: line 1: no column \"source\"":           {{header, x}, {{"u", "v"}}},
		"nodes.csv: line 2: 3 features: expected 4, as the": {{header[:5], x[:5]}, {{"source", "target"}}},
	} {
		out := layerwise.Output{Folder: filepath.Join(t.TempDir(), "out")}
		err := embed(t, m, graphIn(t, lines), out, layerwise.Options{})
		require.ErrorContains(t, err, says)
		require.NotContains(t, err.Error(), "\n", "plain")
		require.NoDirExists(t, out.Folder)
	}
}
