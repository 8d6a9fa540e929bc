package datasets

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
)

// tiny is the graph 0–1, 1–2 in the gnn-benchmark layout: 0–1 both ways, 1–2 one way and repeated, a self-loop at 2;
// features [[1 0] [0 0] [0.5 2]]; node 1 unlabelled.
func tiny() members {
	return members{
		"adj_data":     npy("<f4", []int{5}, []float32{1, 1, 1, 1, 1}),
		"adj_indptr":   npy("<i4", []int{4}, []int32{0, 1, 4, 5}),
		"adj_indices":  npy("<i4", []int{5}, []int32{1, 2, 0, 2, 2}),
		"adj_shape":    npy("<i8", []int{2}, []int64{3, 3}),
		"attr_data":    npy("<f8", []int{3}, []float64{1, 2, 0.5}),
		"attr_indices": npy("<i4", []int{3}, []int32{0, 1, 0}),
		"attr_indptr":  npy("<i4", []int{4}, []int32{0, 1, 1, 3}),
		"attr_shape":   npy("<i8", []int{2}, []int64{3, 2}),
		"labels":       npy("<i8", []int{3}, []int64{1, -1, 0}),
	}
}

func TestReadNPZMakesGraphsUndirected(t *testing.T) {
	path := writeNPZ(t, tiny(), "tiny.npz")
	g, err := Open(t.Context(), path, OpenOptions{})
	require.NoError(t, err)
	sound(t, g)
	assert.Equal(t, "tiny", g.Name)
	assert.Equal(t, path, g.Source)
	assert.Equal(t, []int64{0, 1, 3, 4}, g.Edges.Offsets)
	assert.Equal(t, []int32{1, 0, 2, 1}, g.Edges.Indices)
	assert.Equal(t, csr.Report{Listed: 5, SelfLoops: 1, Duplicates: 2, Edges: 2}, g.Report)
	assert.Equal(t, []int32{1, Unlabelled, 0}, g.Labels)
	assert.Equal(t, []string{"0", "1"}, g.Classes)
	// Row 2 is stored as 2 in column 1, then 0.5 in column 0.
	assert.Equal(t, Features{Rows: 3, Width: 2, Offsets: []int64{0, 1, 1, 3}, Columns: []int32{0, 0, 1},
		Values: []float32{1, 0.5, 2}}, g.Features.Stored(true))
}

func TestReadNPZTakesClassNamesAndPassesOverPickledOnes(t *testing.T) {
	g, err := readMembers(t, tiny().With(members{"class_names": npy("|S1", []int{3}, "xyz")}))
	require.NoError(t, err)
	assert.Equal(t, []string{"x", "y"}, g.Classes, "no node has the third")
	assert.Equal(t, []int32{1, Unlabelled, 0}, g.Labels)
	g, err = readMembers(t, tiny().With(members{"class_names": npy("|O", []int{3}, "pickle"),
		"node_names": npy("|O", []int{3}, "pickle")}))
	require.NoError(t, err)
	assert.Equal(t, []string{"0", "1"}, g.Classes)
	assert.Nil(t, g.NodeIDs)
}

func TestReadNPZAddsUpRepeatedFeaturesAndDropsZeros(t *testing.T) {
	g, err := readMembers(t, tiny().With(members{
		"attr_data":    npy("<f4", []int{4}, []float32{0, 1, 2, 3}),
		"attr_indices": npy("<i4", []int{4}, []int32{0, 1, 0, 1}),
		"attr_indptr":  npy("<i4", []int{4}, []int32{0, 1, 4, 4}),
	}))
	require.NoError(t, err)
	assert.Equal(t, Features{Rows: 3, Width: 2, Offsets: []int64{0, 0, 2, 2}, Columns: []int32{0, 1},
		Values: []float32{2, 4}}, g.Features.Stored(true))
}

func TestReadNPZErrorsNameMemberAndPlace(t *testing.T) {
	for name, c := range map[string]struct {
		change members
		says   string
	}{
		"no edges":          {members{"adj_indptr": nil}, `found the members ["adj_data" "adj_indices" "adj_shape"`},
		"no labels":         {members{"labels": nil}, `no "labels": expected the classes there`},
		"no features":       {members{"attr_data": nil}, `no "attr_data": expected features, in attr_matrix or sparse in`},
		"half the features": {members{"attr_indptr": nil}, `no "attr_indptr"`},
		"a trillion labels": {members{"labels": tooLarge}, `member "labels": shape [1000000000000] of float64 does not fit`},
		"node out of range": {members{"adj_indices": npy("<i4", []int{5}, []int32{1, 2, 0, 3, 2})},
			"adj_indices: edge 3 joins nodes 1 and 3: expected 0 to 2"},
		"negative node": {members{"adj_indices": npy("<i4", []int{5}, []int32{1, 2, 0, -1, 2})}, "joins nodes 1 and -1"},
		"floats": {members{"adj_indices": npy("<f4", []int{5}, make([]float32, 5))},
			`member "adj_indices": shape [5] of float32: expected whole numbers [5]`},
		"offsets descend": {members{"adj_indptr": npy("<i4", []int{4}, []int32{0, 4, 1, 5})},
			`member "adj_indptr": element 2: 1 after 4: expected ascending offsets`},
		"offsets end early": {members{"adj_indptr": npy("<i4", []int{4}, []int32{0, 1, 4, 4})},
			"runs from 0 to 4: expected 0 to 5"},
		"column out of range": {members{"attr_indices": npy("<i4", []int{3}, []int32{0, 2, 0})},
			`member "attr_indices": element 1 names column 2: expected 0 to 1`},
		"NaN": {members{"attr_data": npy("<f4", []int{3}, []uint32{0, 0x7fc00000, 0})},
			`member "attr_data": element 1: found NaN: expected a finite number that fits 32 bits`},
		"sum is infinite": {members{"attr_data": npy("<f4", []int{3}, []float32{1, 3e38, 3e38}),
			"attr_indices": npy("<i4", []int{3}, []int32{0, 1, 1})}, "row 2: repeated entries"},
		"labels too short": {members{"labels": npy("<i8", []int{2}, []int64{1, 0})},
			`member "adj_indptr": shape [4] of int32: expected whole numbers [3]`},
		"labels of two places": {members{"labels": npy("<i8", []int{3, 2}, []int64{1, 0, 0, 1, 1, 0})},
			`member "labels": shape [3 2]: expected one class a node, [3]`},
		"label of a fraction": {members{"labels": npy("<f8", []int{3}, []float64{1, 0, 0.5})},
			`member "labels": node 2 has label 0.5: expected a whole number, or NaN or -1 for none`},
		"label without a name": {members{"class_names": npy("|S1", []int{1}, "x")},
			"found class 1: expected 0 to 0, as 1 classes have names"},
		"weights too few":    {members{"adj_data": npy("<f4", []int{1}, []float32{1})}, `"adj_data": shape [1]: expected [5]`},
		"pickled labels":     {members{"labels": npy("|O", []int{3}, "pickle")}, "the array holds Python objects"},
		"width of a billion": {members{"attr_shape": npy("<i8", []int{2}, []int64{3, 1e9})}, "features of width 1000000000"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readMembers(t, tiny().With(c.change))
			require.ErrorContains(t, err, c.says)
			assert.ErrorContains(t, err, "a.npz: ")
		})
	}
}

func TestDenseFeaturesAreReadInEitherOrder(t *testing.T) {
	for _, array := range [][]byte{npy("<f4", []int{3, 2}, []float32{1, 2, 3, 4, 5, 6}),
		npyWith("{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2), }", []float32{1, 3, 5, 2, 4, 6})} {
		g, err := readMembers(t, tiny().With(members{"attr_data": nil, "attr_matrix": array}))
		require.NoError(t, err)
		assert.Equal(t, []float32{1, 2, 3, 4, 5, 6}, g.Features.Dense)
	}
}

func TestNPZSizesAreCheckedAgainstBytes(t *testing.T) {
	// A claim of 8 GB, in the array's header, then in the zip's directory, over a few bytes.
	whole := tiny().With(members{"attr_data": nil, "attr_matrix": npy("<f8", []int{3, 333_333_333}, "")}).Zip(zip.Deflate)
	forged := bytes.Clone(whole)
	central := bytes.LastIndex(forged, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(forged[central+24:], 0xfffffff0)
	for says, content := range map[string][]byte{`member "attr_matrix": shape [3 333333333] of float64 does not fit 0 `: whole,
		`member "labels.npy": its content takes more than 269 MB of memory`: forged} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := ReadMemory(t.Context(), "", map[string][]byte{"a.npz": content})
		runtime.ReadMemStats(&after)
		require.ErrorContains(t, err, says)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20), "bytes allocated")
	}
}

func TestReadNPZReadsWhatNumpyAndScipyWrote(t *testing.T) {
	for _, name := range []string{"plain.npz", "compressed.npz"} {
		g, err := Open(t.Context(), filepath.Join("testdata", "numpy", name), OpenOptions{})
		require.NoError(t, err, name)
		sound(t, g)
		assert.Equal(t, csr.Report{Listed: 4, SelfLoops: 1, Duplicates: 1, Edges: 2}, g.Report)
		assert.Equal(t, []int32{1, 0, 2, 1}, g.Edges.Indices)
		assert.Equal(t, []string{"apple", "pear"}, g.Classes)
		assert.Equal(t, []int32{1, 0, 0}, g.Labels)
		assert.Equal(t, []string{"α", "b", "c"}, g.NodeIDs)
		assert.Equal(t, Features{Rows: 3, Width: 4, Offsets: []int64{0, 1, 1, 3}, Columns: []int32{1, 0, 3},
			Values: []float32{0.5, 2, -1}}, g.Features)
	}
}
