package cached

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
)

func TestColumnsAreRearrangedAlikeDenseAndSparse(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	f := datasets.Features{Rows: 7, Width: 5, Dense: make([]float32, 35)}
	for i := range f.Dense {
		f.Dense[i] = float32(r.IntN(3))
	}
	from := []int32{3, 0, 4, 1, 2}
	dense, sparse := f.Rearranged(from), f.Stored(true).Rearranged(from)
	require.NoError(t, sparse.Check())
	for v := range f.Rows {
		for i, c := range from {
			require.Equal(t, f.Row(v, nil)[c], dense.Row(v, nil)[i])
		}
		require.Equal(t, dense.Row(v, nil), sparse.Row(v, nil))
	}
}

func TestNamesOfFeaturesAreKnownOrNot(t *testing.T) {
	for header, want := range map[string][]string{
		"id,label,x,z":                        {"x", "z"},
		"\xef\xbb\xbfid, \"x, y\",Label,z":    {"x, y", "z"},
		",id,class,x,z,train_mask":            {"x", "z"},
		"id,label,x,x":                        nil,
		"id,label,x":                          nil,
		"id,label,x,q,z":                      nil,
		"":                                    nil,
		"\"not closed\nid,label,x,y\n\n\n\"x": nil,
	} {
		path := filepath.Join(t.TempDir(), "nodes.csv")
		require.NoError(t, os.WriteFile(path, []byte(header+"\n"), 0o600))
		require.Equal(t, want, (&Model{Features: 2}).FeaturesIn(datasets.FeatureColumns(t.Context(), path)), header)
	}
	require.Nil(t, datasets.FeatureColumns(t.Context(), t.TempDir()))
	f, moved, err := (&Model{Features: 1}).Match([]string{"x"}, datasets.Features{Width: 1}, "nodes.csv")
	require.NoError(t, err)
	require.False(t, moved)
	require.Equal(t, 1, f.Width)
}
