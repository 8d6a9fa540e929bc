package datasets

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/datasets/internal/pickle"
)

// pickles is the folder that package pickle's testdata/makepickles.py wrote.
const pickles = "internal/pickle/testdata/pickles"

func testPickle(t testing.TB, name string) []byte {
	data, err := os.ReadFile(filepath.Join(pickles, name+".pickle"))
	require.NoError(t, err)
	return data
}

func readPickle(t testing.TB, name string) any {
	v, err := pickle.Read(testPickle(t, name))
	require.NoError(t, err, name)
	return v
}

func TestMatricesAreRead(t *testing.T) {
	for _, name := range []string{"matrix-3", "python2-matrix"} {
		f, err := pickledFeatures(readPickle(t, name))
		require.NoError(t, err, name)
		assert.Equal(t, Features{Rows: 3, Width: 3, Offsets: []int64{0, 1, 1, 3}, Columns: []int32{1, 0, 2},
			Values: []float32{1.5, 2, -3}}, f, name)
	}
}

func TestRowsOfAMatrixMustBeContiguous(t *testing.T) {
	offsets := func(numbers ...byte) []byte {
		var b []byte
		for _, n := range numbers {
			b = append(b, n, 0, 0, 0)
		}
		return b
	}
	file := testPickle(t, "python2-matrix")
	require.Equal(t, 1, bytes.Count(file, offsets(0, 1, 1, 3)))
	for says, indptr := range map[string][]byte{
		"the matrix's indptr starts at 1: expected 0":    offsets(1, 1, 1, 3),
		"row 0 of the matrix ends at 4: expected 0 to 3": offsets(0, 4, 1, 3),
		"row 1 of the matrix ends at 0: expected 1 to 3": offsets(0, 1, 0, 3),
		"the matrix has 3 values, but its rows end at 2": offsets(0, 1, 1, 2),
	} {
		v, err := pickle.Read(bytes.Replace(file, offsets(0, 1, 1, 3), indptr, 1))
		require.NoError(t, err)
		_, err = pickledFeatures(v)
		require.EqualError(t, err, says)
	}
}

func TestLabelsAreRead(t *testing.T) {
	for _, name := range []string{"labels-3", "python2-labels"} {
		labels, classes, err := pickledLabels(readPickle(t, name))
		require.NoError(t, err, name)
		assert.Equal(t, []int32{0, Unlabelled, 1}, labels, name)
		assert.Equal(t, 2, classes)
	}
	labels, _, err := pickledLabels(readPickle(t, "bigendian-3"))
	require.NoError(t, err)
	assert.Equal(t, []int32{0, 1}, labels)
}

func TestGraphsAreRead(t *testing.T) {
	for _, name := range []string{"graph-2", "graph-3"} {
		rows, err := pickledNeighbours(readPickle(t, name))
		require.NoError(t, err, name)
		assert.Equal(t, [][]int32{{1, 2}, {0}, {0, 2, 2}, {}}, rows, name)
	}
}

func FuzzPickle(f *testing.F) {
	seeds, err := os.ReadDir(pickles)
	require.NoError(f, err)
	require.NotEmpty(f, seeds)
	for _, seed := range seeds {
		data, err := os.ReadFile(filepath.Join(pickles, seed.Name()))
		require.NoError(f, err)
		f.Add(data)
	}
	for _, dtype := range []string{"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"} {
		// A [1, 1] array of Python 2.
		head := "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01K\x01K\x01\x86cnumpy" +
			"\ndtype\nU\x02"
		f.Add([]byte(head + dtype + "\x85R\x89U" + string(dtype[1]-'0') + strings.Repeat("\x01", int(dtype[1]-'0')) + "tb."))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := pickle.Read(data)
		if err != nil {
			require.NotErrorIs(t, err, pickle.ErrMistake)
			return
		}
		if features, err := pickledFeatures(v); err == nil {
			require.NoError(t, features.Check())
		}
		if labels, classes, err := pickledLabels(v); err == nil {
			for _, c := range labels {
				require.True(t, c == Unlabelled || c >= 0 && int(c) < classes)
			}
		}
		if rows, err := pickledNeighbours(v); err == nil {
			if edges, _, err := joinNeighbours(rows); err == nil {
				require.True(t, edges.IsSymmetric())
			}
		}
	})
}
