package cached

import (
	"math/rand/v2"
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
