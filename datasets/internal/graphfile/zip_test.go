package graphfile

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// zipOf returns a zip of stored members that hold their own names.
func zipOf(t *testing.T, names ...string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range names {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name})
		require.NoError(t, err)
		_, err = w.Write([]byte("holds " + name))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

func TestAZipOfTooMuchOrTwiceTheSameIsRefused(t *testing.T) {
	many := make([]string, maxMembers+1)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	for says, content := range map[string][]byte{
		`member "x" is there twice`:                       zipOf(t, "x.npy", "x"),
		"10001 members: expected at most 10000":           zipOf(t, many...),
		"4 bytes: not a whole npz (zip) file: zip: not a": []byte("PK\x03\x04"),
	} {
		_, err := NewZip(t.Context(), Bytes("a.zip", content), "npz", ".npy")
		require.ErrorContains(t, err, says)
	}
}

func TestAMemberIsReadWholeOrNamedAsDamaged(t *testing.T) {
	content := zipOf(t, "x.npy")
	read := func(ctx context.Context, content []byte) (string, error) {
		z, err := NewZip(ctx, Bytes("a.zip", content), "npz", ".npy")
		require.NoError(t, err)
		data, err := z.Read("x")
		return string(data), err
	}
	text, err := read(t.Context(), content)
	require.NoError(t, err)
	require.Equal(t, "holds x.npy", text)
	_, err = read(t.Context(), bytes.Replace(content, []byte("holds"), []byte("hOlds"), 1))
	require.EqualError(t, err, `member "x.npy": zip: checksum error: the file is damaged: get it again`)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = read(done, content)
	require.ErrorIs(t, err, context.Canceled)
}
