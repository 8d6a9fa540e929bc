package safetensors

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyNamedArraysRemain(t *testing.T) {
	dir := t.TempDir()
	unnamed, err := NewArray[float32](dir, "", smallArray/4)
	require.NoError(t, err)
	unnamed.Values[4999] = 3
	unnamed.Release()
	require.EqualValues(t, 3, unnamed.Values[4999], "read from the file again")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	require.NoError(t, unnamed.Close())

	named, err := NewArray[float32](dir, "kept", 3)
	require.NoError(t, err)
	require.Equal(t, []float32{0, 0, 0}, named.Values)
	copy(named.Values, []float32{1, 2, 3})
	require.NoError(t, named.Sync())
	require.NoError(t, named.Close())
	again, err := NewArray[float32](dir, "kept", 3)
	require.NoError(t, err)
	require.Equal(t, []float32{1, 2, 3}, again.Values)
	require.NoError(t, again.Close())
	other, err := NewArray[float32](dir, "kept", 4)
	require.NoError(t, err)
	require.Equal(t, []float32{0, 0, 0, 0}, other.Values, "a file of another size is begun anew")
	require.NoError(t, other.Close())
}

func TestEmptyAndImpossibleArrays(t *testing.T) {
	empty, err := NewArray[int32](t.TempDir(), "", 0)
	require.NoError(t, err)
	require.Empty(t, empty.Values)
	empty.Release()
	require.NoError(t, empty.Sync())
	require.NoError(t, empty.Close())
	var none *Array[int32]
	none.Release()
	require.NoError(t, none.Close())
	_, err = NewArray[float32](filepath.Join(t.TempDir(), "nowhere"), "", 1)
	require.Error(t, err)
	_, err = NewArray[float32](t.TempDir(), "", -1)
	require.Error(t, err)
	_, err = NewArray[float32](t.TempDir(), "", 1<<60)
	require.Error(t, err, "no disk has that much room")
}
