package graphfile

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"testing"

	"nodemask/datasets/internal/numpy/numpytest"

	"github.com/stretchr/testify/require"
)

// zipOf returns a zip of stored members that hold their own names.
func zipOf(names ...string) []byte {
	files := map[string][]byte{}
	for _, name := range names {
		files[name] = []byte("holds " + name)
	}
	return numpytest.Zip(zip.Store, files)
}

func TestAZipOfTooMuchOrTwiceTheSameIsRefused(t *testing.T) {
	many := make([]string, maxMembers+1)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for says, content := range map[string][]byte{
		`a.zip: member "x" is there twice`:                       zipOf("x.npy", "x"),
		"a.zip: 10001 members: expected at most 10000":           zipOf(many...),
		"a.zip: 4 bytes: not a whole npz (zip) file: zip: not a": []byte("PK\x03\x04"),
	} {
		_, err := NewZip(t.Context(), Bytes("a.zip", content), "npz", ".npy")
		require.ErrorContains(t, err, says)
	}
}

func TestAMemberIsReadWholeOrNamedAsDamaged(t *testing.T) {
	content := zipOf("x.npy")
	read := func(ctx context.Context, content []byte) (string, error) {
		z, err := NewZip(ctx, Bytes("a.zip", content), "npz", ".npy")
		require.NoError(t, err)
		r, err := z.Open(z.Members["x"])
		require.NoError(t, err)
		data, err := io.ReadAll(r)
		return string(data), err
	}
	text, err := read(t.Context(), content)
	require.NoError(t, err)
	require.Equal(t, "holds x.npy", text)
	_, err = read(t.Context(), bytes.Replace(content, []byte("holds"), []byte("hOlds"), 1))
	require.EqualError(t, err, "the packed bytes are damaged (zip: checksum error): get the file again")
	done, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = read(done, content)
	require.ErrorIs(t, err, context.Canceled)
}
