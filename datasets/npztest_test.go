package datasets

import (
	"archive/zip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets/internal/graphfile"
	"nodemask/datasets/internal/numpy"
	"nodemask/datasets/internal/numpy/numpytest"
)

type members = numpytest.Members

var npy = numpytest.Array

func writeNPZ(t testing.TB, m members, name string) string {
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, m.Zip(zip.Deflate), 0o666))
	return path
}

func openNPZBytes(t testing.TB, b []byte) npzReader {
	z, err := numpy.New(t.Context(), graphfile.Bytes("a.npz", b))
	require.NoError(t, err)
	return npzReader{z}
}
