package kernels_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/kernels"
)

func TestDroppingEntriesInBlocksIsDroppingThemAll(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	x, w, v := rowsAs32(normal(r, 37, 11)), rowsAs32(normal(r, 11, 5)), rowsAs32(normal(r, 37, 5))
	gnntest.ForEachPlan(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
		for _, block := range []int{1, 3 * 11, 36 * 11, 1 << 20} { // blocks of 1, 3 and 36 rows, and all
			outputs, err := model.CallOnceN(b.Backend, model.NewStore(), func(_ *model.Scope, key, x, w, v *Node) []*Node {
				whole := kernels.NewRandom(key, plan.Kernel).Dropout(x, 0.3)
				dropped := kernels.InBlocks(kernels.NewRandom(key, plan.Kernel).DropoutOf(x, 0.3, nil), block)
				y := dropped.Times(w)
				want := DotGeneral(whole, []int{1}, nil, w, []int{0}, nil)
				return []*Node{whole, dropped.Node(), want, y, Gradient(ReduceAllSum(Mul(want, v)), w)[0],
					Gradient(ReduceAllSum(Mul(y, v)), w)[0]}
			}, []uint32{5, 9}, x, w, v)
			require.NoError(t, err)
			all := func(i int) []float32 { return slices.Concat(outputs[i].Value().([][]float32)...) }
			require.Equal(t, all(0), all(1), "the same entries")
			gnntest.InDelta(t, all(2), all(3), 1e-5, "product, blocks of %d", block)
			gnntest.InDelta(t, all(4), all(5), 1e-4, "gradient, blocks of %d", block)
		}
	})
}
