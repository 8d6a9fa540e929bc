package datasets

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/internal/checkout"
)

// yandex is a graph of four nodes in the heterophilous benchmark's layout, with two splits.
func yandex() members {
	row := func(first int) []byte { // marks nodes first and first+1
		marks := make([]byte, 8)
		marks[first], marks[4+(first+1)%4] = 1, 1
		return marks
	}
	return members{
		"edges":         npy("<i8", []int{3, 2}, []int64{0, 1, 1, 2, 2, 3}),
		"node_features": npy("<f4", []int{4, 1}, []float32{1, 2, 3, 5}),
		"node_labels":   npy("<i8", []int{4}, []int64{0, 1, 0, 1}),
		"train_masks":   npy("|b1", []int{2, 4}, row(0)),
		"val_masks":     npy("|b1", []int{2, 4}, row(1)),
		"test_masks":    npy("|b1", []int{2, 4}, row(2)),
		"remark":        npy("<i8", []int{1}, []int64{1}),
	}
}

func TestTheHeterophilousLayoutHasASplitForEachTrial(t *testing.T) {
	path := writeNPZ(t, yandex(), "g.npz")
	g, err := Open(t.Context(), path, OpenOptions{})
	require.NoError(t, err)
	sound(t, g)
	assert.EqualValues(t, 3, g.Report.Edges)
	assert.False(t, g.Directed, "each edge is listed once, and has no direction")
	require.Len(t, g.OwnSplits, 2)
	assert.Equal(t, []int32{0}, g.OwnSplit.Train)
	assert.Equal(t, [][]int32{{1}, {2}, {3}}, [][]int32{g.OwnSplits[1].Train, g.OwnSplits[1].Validation,
		g.OwnSplits[1].Test})
	assert.Contains(t, g.Notes, `member "remark": left out`)
	g, err = Open(t.Context(), path+":mask=1", OpenOptions{})
	require.NoError(t, err)
	require.Len(t, g.OwnSplits, 1)
	assert.Equal(t, []int32{1}, g.OwnSplit.Train)
	_, err = Open(t.Context(), path+":mask=2", OpenOptions{})
	require.ErrorContains(t, err, `has 2 columns, a split each: expected mask=0 to mask=1, not mask=2`)
}

func TestRealGraphsOfTheBenchmarkAreRead(t *testing.T) {
	project, err := checkout.Root()
	require.NoError(t, err)
	folder := filepath.Join(project, "..", "shared", "datasets", "graphs")
	for name, want := range map[string][4]int{"tolokers": {11758, 519000, 10, 2}, "actor": {7600, 26659, 932, 5},
		"squirrel_filtered": {2223, 46998, 2089, 5}, "minesweeper": {10000, 39402, 7, 2}} {
		g, err := Open(t.Context(), filepath.Join(folder, name+".npz"), OpenOptions{})
		if err != nil {
			t.Skipf("skipped: %v", err)
		}
		d := Describe(g)
		assert.Equal(t, want, [4]int{d.Nodes, int(d.Edges), d.Features, len(d.Classes)}, name)
		assert.Len(t, g.OwnSplits, 10, name)
	}
}

func TestMasksOfAnNPZAreTruthsOrIntegers(t *testing.T) {
	_, err := readMembers(t, tiny().With(members{"valid_mask": npy("<f4", []int{3}, []float32{1, 0, 0})}))
	require.ErrorContains(t, err, `member "valid_mask": found float32: expected true or false`)
}
