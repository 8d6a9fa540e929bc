package numpy

import (
	"archive/zip"
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/datasets/internal/graphfile"
	"nodemask/datasets/internal/numpy/numpytest"
)

func openBytes(t testing.TB, b []byte) *File {
	z, err := New(t.Context(), graphfile.Bytes("a.npz", b))
	require.NoError(t, err)
	return z
}

func TestNPZMembersOpenSeveralTimesStoredOrDeflated(t *testing.T) {
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		z := openBytes(t, numpytest.Members{"row": numpytest.Array("<i4", []int{3}, []int32{5, 6, 7})}.Zip(method))
		for range 2 {
			values, err := z.Ints("row", 3)
			require.NoError(t, err)
			assert.Equal(t, []int64{5, 6, 7}, values)
		}
	}
}

func TestNPZErrorsNameTheMemberAndDamageIsFound(t *testing.T) {
	good := numpytest.Members{"row": numpytest.Array("<i4", []int{3}, []int32{5, 6, 7})}.Zip(zip.Store)
	damaged := bytes.Replace(good, []byte{5, 0, 0, 0, 6}, []byte{5, 0, 0, 0, 9}, 1)
	_, err := openBytes(t, damaged).Ints("row", 3)
	assert.ErrorContains(t, err,
		"a.npz: row: byte 140: the packed bytes are damaged (zip: checksum error): get the file again")
	_, err = openBytes(t, good).Ints("col", 3)
	assert.ErrorContains(t, err, `a.npz: no member "col"; found row`)
}

func TestNPZRefusesWhatIsNotAZip(t *testing.T) {
	_, err := New(t.Context(), graphfile.Bytes("a.npz", []byte("<html>not found")))
	require.ErrorContains(t, err, "a.npz: 15 bytes: not a whole npz (zip) file")
}
