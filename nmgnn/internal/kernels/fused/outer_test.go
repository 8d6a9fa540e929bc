package fused_test

import (
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/kernels"
	"nodemask/nmgnn/internal/kernels/fused"
)

// Shapes with remainders of rows, columns and classes beyond the blocks.
func TestDenseProductsAndGradientsAreAsDefined(t *testing.T) {
	forEachBackend(t, func(t *testing.T, b *backend.Backend) {
		exec, err := NewExec(b.Backend, func(x, w, v *Node) []*Node {
			require.Equal(t, b.Digits != "", fused.SumsInOrder(x.Graph()))
			y := kernels.Dense(x, w, nil)
			return append(Gradient(ReduceAllSum(Mul(y, v)), x, w), y, kernels.DenseAdjoint(x, v, nil))
		})
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(1, 2))
		for _, s := range [][3]int{{1, 1, 1}, {5, 3, 2}, {17, 4, 16}, {200, 64, 64}, {169, 65, 17}, {1000, 70, 9},
			{300, 130, 7}, {40, 513, 600}} {
			x, w, v := numbers(r, s[0], s[1]), numbers(r, s[1], s[2]), numbers(r, s[0], s[2])
			out := exec.MustCall(x, w, v)
			nearDefinition(t, out[0].Value().([][]float32), func(i, k int) (sum float64) {
				for j := range s[2] {
					sum += float64(v[i][j]) * float64(w[k][j])
				}
				return sum
			})
			adjoint := func(k, j int) (sum float64) {
				for i := range s[0] {
					sum += float64(x[i][k]) * float64(v[i][j])
				}
				return sum
			}
			nearDefinition(t, out[1].Value().([][]float32), adjoint)
			nearDefinition(t, out[3].Value().([][]float32), adjoint)
			nearDefinition(t, out[2].Value().([][]float32), func(i, j int) (sum float64) {
				for k := range s[1] {
					sum += float64(x[i][k]) * float64(w[k][j])
				}
				return sum
			})
		}
	})
}

func nearDefinition(t *testing.T, y [][]float32, want func(i, j int) float64) {
	t.Helper()
	for i, row := range y {
		for j, is := range row {
			require.InDelta(t, want(i, j), is, 2e-4, "row %d, column %d of [%d, %d]", i, j, len(y), len(row))
		}
	}
}
