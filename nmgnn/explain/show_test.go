package explain_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/explain"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/gnntest"
)

// hostileView explains a node of a graph whose names contain markup and terminal controls.
func hostileView(t *testing.T, masks int) explain.View {
	t.Helper()
	const evil = "<script>\x1b[31m&\"\u202e"
	b := gnntest.Go(t)
	edges := gnntest.Undirected(t, 5, [][2]int32{{0, 1}, {0, 2}, {2, 3}, {2, 4}})
	x := datasets.Features{Rows: 5, Width: 4,
		Dense: []float32{1, 2, 0, 0, 1, 0, 1, 0, 0, 0, 1, 1, 2, 0, 0, 1, 1, 1, 0, 0}}
	g := &datasets.Graph{Name: "evil", Edges: edges, Features: x, Labels: []int32{0, 1, 2, 0, 1},
		Classes: []string{evil, "b", "c"}, FeatureNames: []string{evil, "", "x", "y"},
		NodeIDs: []string{evil, "bob", "cy", "dot", "eve"}}
	p, err := hyper.For("gin")
	require.NoError(t, err)
	m := network(t, b, "gin", 2)
	class := 0
	e := explained(t, b, m, g, 0, explain.Options{Masks: masks, Class: &class})
	return explain.View{Explanation: e, Graph: g, Model: &cached.Model{Settings: p, Classes: g.Classes, Features: 4,
		Weights: m.Weights}}
}

func TestNamesInAnExplanationAreTextAndNothingElse(t *testing.T) {
	v := hostileView(t, 0)
	text, err := v.Text()
	require.NoError(t, err)
	require.NotContains(t, text, "\x1b")
	require.NotContains(t, text, "\u202e")
	require.Contains(t, text, "feature 1")
	var picture, page bytes.Buffer
	require.NoError(t, v.WriteSVG(&picture))
	require.NoError(t, v.WriteHTML(&page))
	for _, out := range []string{picture.String(), page.String()} {
		require.NotContains(t, out, "<script")
		require.NotContains(t, out, "\x1b")
	}
	require.NoError(t, xml.Unmarshal(picture.Bytes(), new(struct{})))
}

func TestADrawingHasAnEdgeOfItsShareForEachBranch(t *testing.T) {
	v := hostileView(t, 0)
	var svg bytes.Buffer
	require.NoError(t, v.WriteSVG(&svg))
	signs := 0
	for i := range v.Explanation.Branches[1:] {
		if v.Explanation.Branches[i+1].Share != 0 {
			signs++
		}
	}
	require.Equal(t, signs, strings.Count(svg.String(), "</title></path>"))
	require.Contains(t, svg.String(), `stroke-width="9"`, "the largest")
}

func TestEstimatesAreSaidToBeEstimates(t *testing.T) {
	exact, estimated := hostileView(t, 0), hostileView(t, 3)
	require.Contains(t, exact.Sentence(), "from the 6 branches of its tree, exactly, from all 27 masks that differ.")
	require.Contains(t, estimated.Sentence(), "from the 6 branches of its tree, each estimated from 16 random orders.")
	require.NotContains(t, exact.Branches().Rows[0][1].Text, "±")
	require.Contains(t, estimated.Branches().Rows[0][1].Text, " ± ")
	for _, v := range []explain.View{exact, estimated} {
		var line bytes.Buffer
		require.NoError(t, v.WriteJSON(&line))
		var got struct {
			Exact    bool
			Masks    int
			Orders   int
			Branches []struct{ Path []int32 }
		}
		require.NoError(t, json.Unmarshal(line.Bytes(), &got))
		require.Equal(t, v.Exact, got.Exact)
		require.Equal(t, v.Explanation.Orders, got.Orders)
		require.Len(t, got.Branches, 6)
		require.Equal(t, []int32{0, 2, 4}, got.Branches[5].Path)
	}
}

func TestAViewDoesWithoutNamesThatItLacks(t *testing.T) {
	v := hostileView(t, 0)
	v.Model, v.Graph.FeatureNames, v.Graph.NodeIDs, v.Graph.Classes = nil, nil, nil, []string{"a", "b", "c"}
	require.Contains(t, v.Sentence(), "The model says that node 0 is a, with probability 1.00; it is a.")
	var svg, page, line bytes.Buffer
	require.NoError(t, v.WriteSVG(&svg))
	require.NoError(t, v.WriteHTML(&page))
	require.NoError(t, v.WriteJSON(&line))
	require.Contains(t, line.String(), `"fingerprint":"",`)
	require.NotContains(t, line.String(), `"id":`)
	text, err := v.Text()
	require.NoError(t, err)
	require.Contains(t, text, "0 ← 2 ← 3")
	require.Contains(t, text, "feature 0")
	v.Graph.Labels, v.Graph.Classes = nil, nil
	require.Contains(t, v.Sentence(), "node 0 is class 0, with")
}

func TestAsManyBranchesAreListedAsThereAre(t *testing.T) {
	v := hostileView(t, 0)
	for most, listed := range map[int]int{-1: 0, 0: 0, 2: 2, 6: 6, 100: 6} {
		require.Len(t, v.Top(most), listed)
	}
}
