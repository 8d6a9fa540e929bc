package datasets

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"nodemask/csr"
)

// five is the ring 0-1-2-3-4-0. Node 4 has no label.
func five(t testing.TB) (*Graph, *Split) {
	edges, _, err := csr.FromEdges(5, []csr.Edge{{Node: 0, Neighbour: 1}, {Node: 1, Neighbour: 2},
		{Node: 2, Neighbour: 3}, {Node: 3, Neighbour: 4}, {Node: 4, Neighbour: 0}}, csr.Options{})
	require.NoError(t, err)
	g := &Graph{Name: "five", Edges: edges, Labels: []int32{0, 0, 0, 0, Unlabelled}, Classes: []string{"0"}}
	return g, &Split{Train: []int32{0, 2}, Validation: []int32{3}, Test: []int32{1}}
}

func pairs(g *csr.Graph) (list [][2]int32) {
	for v, u := range g.All() {
		list = append(list, [2]int32{v, u})
	}
	return list
}

func TestTransductiveViewOfFiveNodesIsTheWholeGraphThrice(t *testing.T) {
	g, s := five(t)
	view, err := NewView(g, s, Transductive, "")
	require.NoError(t, err)
	assert.Equal(t, AllEdges, view.Arrivals)
	for _, p := range []Phase{view.Train, view.Validation, view.Test} {
		assert.Same(t, g.Edges, p.Edges)
		assert.Equal(t, []int32{0, 1, 2, 3, 4}, p.Nodes)
	}
	assert.Equal(t, []int32{0, 2}, view.Train.Score)
	assert.Equal(t, []int32{3}, view.Validation.Score)
	assert.Equal(t, []int32{1}, view.Test.Score)
}

func TestInductiveViewsOfFiveNodesGrow(t *testing.T) {
	g, s := five(t)
	all := []int32{0, 1, 2, 3, 4}
	for _, c := range []struct {
		arrivals Arrivals
		nodes    []int32    // of the test phase
		edges    [][2]int32 // in local numbers
	}{
		{AllEdges, all, pairs(g.Edges)}, // everything, unlabelled node 4 too
		// Of the five edges only 3-4 lacks a train node.
		{TrainEdges, all, [][2]int32{{0, 1}, {0, 4}, {1, 0}, {1, 2}, {2, 1}, {2, 3}, {3, 2}, {4, 0}}},
		// Without node 3 and its edges.
		{NoValidation, []int32{0, 1, 2, 4}, [][2]int32{{0, 1}, {0, 3}, {1, 0}, {1, 2}, {2, 1}, {3, 0}}},
	} {
		view, err := NewView(g, s, Inductive, c.arrivals)
		require.NoError(t, err)

		// Train: nodes 0 and 2, not neighbours.
		assert.Equal(t, []int32{0, 2}, view.Train.Nodes)
		assert.Empty(t, pairs(view.Train.Edges))
		assert.Equal(t, []int32{0, 1}, view.Train.Score)

		// Validation: 3 arrives as local node 2, joined to 2 (local 1).
		assert.Equal(t, []int32{0, 2, 3}, view.Validation.Nodes)
		assert.Equal(t, [][2]int32{{1, 2}, {2, 1}}, pairs(view.Validation.Edges))
		assert.Equal(t, []int32{2}, view.Validation.Score)

		assert.Equal(t, c.nodes, view.Test.Nodes)
		assert.Equal(t, c.edges, pairs(view.Test.Edges), c.arrivals)
		assert.Equal(t, []int32{1}, view.Test.Score)
	}
}

func TestViewsHoldExactlyTheEdgesOfTheDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(4, 25).Draw(t, "nodes")
		node := rapid.Int32Range(0, int32(nodes-1))
		list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) csr.Edge {
			return csr.Edge{Node: node.Draw(t, "u"), Neighbour: node.Draw(t, "v")}
		}), 0, 80).Draw(t, "edges")
		edges, _, err := csr.FromEdges(nodes, list, csr.Options{})
		require.NoError(t, err)
		g := &Graph{Edges: edges, Classes: []string{"0"}}
		s := &Split{}
		in := make([]string, nodes)
		for v := range int32(nodes) {
			in[v] = rapid.SampledFrom([]string{"train", "validation", "test", "none"}).Draw(t, "set")
			g.Labels = append(g.Labels, 0)
			switch in[v] {
			case "train":
				s.Train = append(s.Train, v)
			case "validation":
				s.Validation = append(s.Validation, v)
			case "test":
				s.Test = append(s.Test, v)
			case "none":
				g.Labels[v] = Unlabelled
			}
		}
		arrivals := rapid.SampledFrom(AllArrivals()).Draw(t, "arrivals")
		view, err := NewView(g, s, Inductive, arrivals)
		require.NoError(t, err)
		for name, p := range map[string]Phase{"train": view.Train, "validation": view.Validation, "test": view.Test} {
			here := func(v int32) bool {
				switch name {
				case "train":
					return in[v] == "train"
				case "validation":
					return in[v] == "train" || in[v] == "validation"
				}
				return arrivals != NoValidation || in[v] != "validation"
			}
			var wantNodes []int32
			var want [][2]int32
			for v := range int32(nodes) {
				if here(v) {
					wantNodes = append(wantNodes, v)
				}
				for u := range int32(nodes) {
					if here(v) && here(u) && edges.HasEdge(v, u) && (arrivals != TrainEdges || in[v] == "train" || in[u] == "train") {
						want = append(want, [2]int32{v, u})
					}
				}
			}
			var got [][2]int32
			for _, e := range pairs(p.Edges) {
				got = append(got, [2]int32{p.Nodes[e[0]], p.Nodes[e[1]]})
			}
			require.Equal(t, len(wantNodes), len(p.Nodes), name)
			require.Subset(t, p.Nodes, wantNodes, name)
			require.Equal(t, want, got, name)
			for _, v := range p.Score {
				require.Equal(t, name, in[p.Nodes[v]])
			}
		}
		require.Equal(t, len(s.Train), len(view.Train.Score))
		require.Equal(t, len(s.Validation), len(view.Validation.Score))
		require.Equal(t, len(s.Test), len(view.Test.Score))
	})
}

func TestNewViewRefusesWhatIsNotASplitOfTheGraph(t *testing.T) {
	g, s := five(t)
	for _, c := range []struct {
		split    *Split
		setting  Setting
		arrivals Arrivals
		want     string
	}{
		{s, "both", "", `setting "both": expected "inductive" or "transductive"`},
		{s, "", "", `setting "": expected`},
		{s, Inductive, "none", `arrivals "none": expected one of ["all-edges" "train-edges" "no-validation"]`},
		{s, Transductive, TrainEdges, "where no node arrives"},
		{&Split{Train: []int32{5}}, Inductive, "", `the train set names node 5, but graph "five" has 5 nodes`},
		{&Split{Train: []int32{-1}}, Inductive, "", "the train set names node -1"},
		{&Split{Train: []int32{1}, Test: []int32{1}}, Inductive, "", "node 1 is in the train and the test set"},
		{&Split{Test: []int32{2, 1}}, Transductive, "", "the test set is not ascending: 1 after 2"},
		{&Split{Validation: []int32{4}}, Transductive, "", "the validation set names node 4, which has no label"},
	} {
		_, err := NewView(g, c.split, c.setting, c.arrivals)
		assert.ErrorContains(t, err, c.want)
	}
	g.Labels = g.Labels[:2]
	_, err := NewView(g, s, Inductive, "")
	assert.ErrorContains(t, err, "2 labels for 5 nodes")
}
