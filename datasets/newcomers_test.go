package datasets

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// readNewcomers reads for a model of two features that knew nodes "0" and "1".
func readNewcomers(t *testing.T, nodes, edges string) (*Newcomers, error) {
	t.Helper()
	return readNewcomersWith(t, nodes, edges, false)
}

func readNewcomersWith(t *testing.T, nodes, edges string, skip bool) (*Newcomers, error) {
	t.Helper()
	dir := t.TempDir()
	nodesFile, edgesFile := filepath.Join(dir, "new.csv"), filepath.Join(dir, "joins.csv")
	require.NoError(t, os.WriteFile(nodesFile, []byte(nodes), 0o666))
	require.NoError(t, os.WriteFile(edgesFile, []byte(edges), 0o666))
	return ReadNewcomers(t.Context(), nodesFile, edgesFile, NewcomersOptions{Width: 2, SkipUnknownEdges: skip,
		Known: func(id string) (int32, bool) {
			return int32(id[0] - '0'), id == "0" || id == "1"
		}})
}

func TestNewcomersKeepAllTheirEdges(t *testing.T) {
	n, err := readNewcomers(t, "x,id,Label,z\n1,ann,cat,0\n0,bob,,2\n3,cid,,0\n",
		"source,target\n1,ann\nann,0\nann,1\nann,bob\n0,1\ncid,ann\nbob,ann\nbob,bob\n")
	require.NoError(t, err)
	assert.Equal(t, []string{"ann", "bob", "cid"}, n.IDs)
	assert.Equal(t, []float32{1, 0, 0, 2, 3, 0}, n.Features.Stored(false).Dense, "the label is no feature")
	assert.Equal(t, [][]int32{{0, 1}, nil, nil}, n.Known)
	assert.Equal(t, [][]int32{{1, 2}, {0}, {0}}, n.Linked, "in either order, and once")
	assert.EqualValues(t, 2, n.Ignored, "0 to 1, and bob to himself")
	assert.Equal(t, "3 new nodes with 2 edges to known ones and 2 among themselves", n.String())

	apart := n.Apart()
	assert.Equal(t, n.Known, apart.Known)
	assert.Nil(t, apart.Linked)
	assert.EqualValues(t, 4, apart.Ignored, "ann to bob and to cid as well")
	assert.Equal(t, "3 new nodes with 2 edges to known ones and 0 among themselves", apart.String())
	assert.Len(t, n.Linked, 3, "the newcomers themselves are left as they were")
}

func TestEdgesToUnknownNodesAreSkippedAndCountedIfAsked(t *testing.T) {
	const nodes, edges = "id,x,z\nann,1,0\nbob,0,2\n", "source,target\nann,0\nann,2\ndan,ann\n0,dan\ndan,2\nbob,ann\n"
	n, err := readNewcomersWith(t, nodes, edges, true)
	require.NoError(t, err)
	assert.Equal(t, [][]int32{{0}, nil}, n.Known)
	assert.Equal(t, [][]int32{{1}, {0}}, n.Linked)
	assert.EqualValues(t, 4, n.Skipped)
	assert.Zero(t, n.Ignored)
}

func TestNewcomersErrorsNameFileAndLine(t *testing.T) {
	for says, c := range map[string]struct{ nodes, edges string }{
		`new.csv: line 1: no column "id"`:                                       {"x,y\n", ""},
		"new.csv: line 1: 1 columns of features beside the id: expected 2":      {"id,x\n", ""},
		`new.csv: line 2: node "1" is one that the model was trained on`:        {"id,x,z\n1,0,0\n", ""},
		`new.csv: line 3: the id "a" is there already (node 0, counted from 0)`: {"id,x,z\na,0,0\na,0,0\n", ""},
		"new.csv: line 2: the id is empty":                                      {"id,x,z\n,0,0\n", ""},
		`new.csv: line 3: column "z": found "?": expected a finite number`:      {"id,x,z\na,0,1\nb,0,?\n", ""},
		`new.csv: line 1: 1 columns of features beside the id: expected 2, as the model was trained with; column "z" of text: left out`: {
			"id,x,z\na,0,?\n", ""},
		`joins.csv: line 1: no column "target"`: {"id,x,z\na,0,0\n", "source\n"},
		`joins.csv: line 2: the edge names node "2", which is neither in `: {"id,x,z\na,0,0\n",
			"source,target\na,2\n"},
		"new.csv nor in the model's cache": {"id,x,z\na,0,0\n",
			"source,target\n2,a\n"},
		"joins.csv: line 2: column 6: extraneous or missing": {"id,x,z\na,0,0\n",
			"source,target\n\"a,b\n"},
	} {
		_, err := readNewcomers(t, c.nodes, c.edges)
		require.ErrorContains(t, err, says)
		require.NotContains(t, err.Error(), "\n")
	}
}
