package page

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAProgramThatWasKeptIsPackedAgainUnlessItIsWhole(t *testing.T) {
	folder, program := t.TempDir(), bytes.Repeat([]byte("program "), 1000)
	packed, err := packedOnce(folder, program)
	require.NoError(t, err)
	z, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	unpacked, err := io.ReadAll(z)
	require.NoError(t, err)
	require.Equal(t, program, unpacked)
	kept, err := filepath.Glob(filepath.Join(folder, "*.gz"))
	require.NoError(t, err)
	require.Len(t, kept, 1)
	changed := slices.Clone(packed)
	changed[len(changed)/2] ^= 1
	for name, content := range map[string][]byte{"empty": nil, "cut": packed[:len(packed)-1], "changed": changed,
		"longer": append(slices.Clone(packed), 0)} {
		require.NoError(t, os.WriteFile(kept[0], content, 0o666))
		again, err := packedOnce(folder, program)
		require.NoError(t, err, name)
		require.Equal(t, packed, again, name)
		onDisk, err := os.ReadFile(kept[0])
		require.NoError(t, err, name)
		require.Equal(t, packed, onDisk, name)
	}
}
