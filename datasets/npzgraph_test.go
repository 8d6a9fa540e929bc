package datasets

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/datasets/internal/graphfile"
	"nodemask/datasets/internal/numpy"
	"nodemask/datasets/internal/numpy/numpytest"
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

func readMembers(t testing.TB, m members) (*Graph, error) {
	return readNPZ(openNPZBytes(t, m.Zip(zip.Deflate)), "a.npz", graphfile.Choice{})
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

func TestReadNPZTakesDenseFeaturesNamesAndTextLabels(t *testing.T) {
	g, err := readMembers(t, tiny().With(members{
		"attr_data":   nil,
		"attr_matrix": npy("<f8", []int{3, 2}, []float64{1, 0, 0, 0, 0.5, 2}),
		"labels":      npy("<U2", []int{3}, []uint32{'1', '0', 0, 0, '9', 0}),
		"node_names":  npy("|S1", []int{3}, "abc"),
	}))
	require.NoError(t, err)
	assert.Equal(t, []float32{1, 0, 0, 0, 0.5, 2}, g.Features.Dense)
	assert.Equal(t, []string{"9", "10"}, g.Classes, "by value")
	assert.Equal(t, []int32{1, Unlabelled, 0}, g.Labels)
	assert.Equal(t, []string{"a", "b", "c"}, g.NodeIDs)
}

func TestReadNPZTakesClassNamesAndPassesOverPickledOnes(t *testing.T) {
	g, err := readMembers(t, tiny().With(members{"class_names": npy("|S1", []int{3}, "xyz")}))
	require.NoError(t, err)
	assert.Equal(t, []string{"x", "y", "z"}, g.Classes)
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
		"no edges": {members{"adj_indptr": nil},
			`no member "adj_indptr", which a graph in the gnn-benchmark layout has; found adj_data, adj_indices`},
		"no features":       {members{"attr_data": nil}, "no features: expected attr_data"},
		"half the features": {members{"attr_indptr": nil}, `no member "attr_indptr"`},
		"not square": {members{"adj_shape": npy("<i8", []int{2}, []int64{3, 4})},
			"adj_shape: [3, 4]: expected a square"},
		"shape of a trillion": {members{"adj_shape": npy("<i8", []int{2}, []int64{1e12, 1e12})},
			"expected lengths from 0 to"},
		"shape of a billion": {members{"adj_shape": npy("<i8", []int{2}, []int64{1e9, 1e9})},
			"adj_indptr: shape [4]: expected [1000000001]"},
		"a trillion labels": {members{"labels": numpytest.TooLarge()}, "a.npz: labels: byte 10: the header claims"},
		"node out of range": {members{"adj_indices": npy("<i4", []int{5}, []int32{1, 2, 0, 3, 2})},
			"adj_indices: element 3: names node 3, but there are 3 (0 to 2)"},
		"negative node": {members{"adj_indices": npy("<i4", []int{5}, []int32{1, 2, 0, -1, 2})}, "names node -1"},
		"offsets descend": {members{"adj_indptr": npy("<i4", []int{4}, []int32{0, 4, 1, 5})},
			"adj_indptr: element 2: 1 after 4: expected ascending offsets"},
		"offsets end early": {members{"adj_indptr": npy("<i4", []int{4}, []int32{0, 1, 4, 4})},
			"runs from 0 to 4: expected 0 to 5"},
		"column out of range": {members{"attr_indices": npy("<i4", []int{3}, []int32{0, 2, 0})},
			"attr_indices: element 1: names column 2, but there are 2"},
		"NaN": {members{"attr_data": npy("<f4", []int{3}, []uint32{0, 0x7fc00000, 0})},
			"attr_data: byte 132: element NaN"},
		"sum is infinite": {members{"attr_data": npy("<f4", []int{3}, []float32{1, 3e38, 3e38}),
			"attr_indices": npy("<i4", []int{3}, []int32{0, 1, 1})}, "row 2: repeated entries"},
		"labels too short": {members{"labels": npy("<i8", []int{2}, []int64{1, 0})}, "labels: shape [2]: expected [3]"},
		"labels of two places": {members{"labels": npy("<i8", []int{3, 2}, []int64{1, 0, 0, 1, 1, 0})},
			"labels: shape [3, 2]: expected [3]"},
		"label of a fraction": {members{"labels": npy("<f8", []int{3}, []float64{1, 0, 0.5})},
			"labels: node 2 has label 0.5: expected a whole number, or NaN for none"},
		"label without a name": {members{"class_names": npy("|S1", []int{1}, "x")},
			"label 1, but class_names names 1 classes"},
		"pickled labels": {members{"labels": npy("|O", []int{3}, "pickle")},
			"labels: byte 10: the array holds Python objects"},
		"width of a billion": {members{"attr_shape": npy("<i8", []int{2}, []int64{3, 1e9})}, "a width up to"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readMembers(t, tiny().With(c.change))
			require.ErrorContains(t, err, c.says)
			assert.ErrorContains(t, err, "a.npz: ")
		})
	}
}

func TestDenseFeaturesAreReadInEitherOrder(t *testing.T) {
	rows := npy("<f4", []int{2, 3}, []float32{1, 2, 3, 4, 5, 6})
	columns := numpytest.ArrayWith("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3)}", []float32{1, 4, 2, 5, 3, 6})
	z := openNPZBytes(t, members{"c": rows, "f": columns}.Zip(zip.Deflate))
	for _, member := range []string{"c", "f"} {
		f, err := z.dense(member, 2)
		require.NoError(t, err)
		assert.Equal(t, []float32{1, 2, 3, 4, 5, 6}, f.Dense, member)
	}
}

func TestNPZSizesAreCheckedAgainstBytes(t *testing.T) {
	// A claim of 8 GB, in array header and zip directory, over a few bytes.
	const claim = 8_000_000_000
	header := numpytest.ArrayWith(fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, %d)}",
		claim/8/1_000_000), "")
	whole := members{"attr_matrix": header}.Zip(zip.Deflate)
	forge := func(packed uint32) []byte {
		b := bytes.Clone(whole)
		central := bytes.LastIndex(b, []byte("PK\x01\x02"))
		binary.LittleEndian.PutUint32(b[central+20:], packed)
		binary.LittleEndian.PutUint32(b[central+24:], 0xfffffff0)
		return b
	}
	for name, c := range map[string]struct {
		bytes []byte
		says  string
	}{
		"array header alone": {whole, "the header claims shape [1000000, 1000], of"},
		"directory too": {forge(binary.LittleEndian.Uint32(whole[bytes.LastIndex(whole, []byte("PK\x01\x02"))+20:])),
			"which deflate cannot do"},
		"packed size as well": {forge(5_000_000), "packed bytes in a file of"},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := openNPZBytes(t, c.bytes).dense("attr_matrix", 1_000_000)
			runtime.ReadMemStats(&after)
			require.ErrorContains(t, err, strings.ReplaceAll(c.says, "], of", "] of"))
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20), "bytes allocated")
		})
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

func TestASequenceThatFailsWhileItRunsSurfacesItsError(t *testing.T) {
	m := tiny()
	whole := m.Zip(zip.Store)
	// The second run of the pairs meets a shorter file.
	r := &shrinking{data: whole, after: -1}
	in := graphfile.Bytes("a.npz", whole)
	in.ReaderAt = r
	file, err := numpy.New(t.Context(), in)
	require.NoError(t, err)
	p, err := csrPairs(npzReader{file}, "adj_indptr", "adj_indices", 3)
	require.NoError(t, err)
	runs := 0
	err = new(Graph).setUndirected(p, 3)
	require.NoError(t, err)
	for range p.All {
		runs++
	}
	assert.Equal(t, 5, runs)
	r.after = 0
	err = new(Graph).setUndirected(p, 3)
	require.ErrorContains(t, err, "the disk is gone")
}

// shrinking fails reads once after is not negative.
type shrinking struct {
	data  []byte
	after int
}

func (s *shrinking) ReadAt(b []byte, at int64) (int, error) {
	if s.after >= 0 {
		return 0, fmt.Errorf("the disk is gone")
	}
	return bytes.NewReader(s.data).ReadAt(b, at)
}
