//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package kernels_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/kernels"
	"nodemask/nmgnn/internal/kernels/fused"
	"nodemask/nmgnn/internal/kernels/fused/triton"
	"nodemask/nmgnn/internal/kernels/fused/triton/interpreter"
)

// interpreted returns a pure-Go backend that runs the kernels of GPUs by interpreting them; see is shown each.
func interpreted(t *testing.T, see ...func(k triton.Kernel)) *backend.Backend {
	b := gnntest.Go(t)
	err := fused.ForGPU(b.Backend, func(k triton.Kernel, arrays []any) error {
		for _, s := range see {
			s(k)
		}
		f, err := interpreter.Parse(k.Text)
		if err != nil {
			return err
		}
		all := make([]*interpreter.Array, len(arrays))
		for i, x := range arrays {
			switch x := x.(type) {
			case []float32:
				all[i] = interpreter.Floats(x)
			case []int32:
				all[i] = interpreter.Ints(x)
			case []uint32:
				all[i] = interpreter.Ints(unsafe.Slice((*int32)(unsafe.Pointer(&x[0])), len(x)))
			}
		}
		if err := f.Run(k.Grid, all...); err != nil {
			return err
		}
		for r, y := range all[len(all)-k.Outputs:] {
			for i, n := range y.Writes {
				if n != 1 {
					return fmt.Errorf("%s: number %d of result %d is written %d times", k.Name, i, r, n)
				}
			}
		}
		return nil
	})
	require.NoError(t, err)
	return b
}

func TestKernelsOfGPUsComputeWhatTheDefinitionsSay(t *testing.T) {
	b := interpreted(t)
	checkMethods(t, b, uneven(rand.New(rand.NewPCG(1, 1))), kernels.Options{Kernel: kernels.FusedKernel, Gradients: true},
		2, 6, 1)
	checkDrawn(t, b, kernels.FusedKernel, [][2]int{{1, 1}, {1, 3}, {2, 2}, {2, 6}, {4, 4}, {1, 8}, {8, 64}, {1, 130}})
}

func TestKernelsOfGPUsHaveTheGradientsOfFiniteDifferences(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	m := uneven(r)
	var want []expected
	for _, f := range differentiables() {
		want = append(want, expect(m, f, r))
	}
	checkGradients(t, interpreted(t), m, kernels.Options{Kernel: kernels.FusedKernel, Gradients: true}, differentiables(),
		want)
}

func TestLongRowsAreSplitOnGPUsAndAddUpToTheSame(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	inRow := [][]int32{{3}, nil, nil, {1, 2999}}
	for c := range int32(3000) {
		inRow[2] = append(inRow[2], c)
	}
	split, warps := map[string]bool{}, map[string]int{}
	b := interpreted(t, func(k triton.Kernel) { split[k.Name], warps[k.Name] = true, k.Warps })
	checkMethods(t, b, fromRows(3000, inRow...), kernels.Options{Kernel: kernels.FusedKernel, Gradients: true}, 2, 4,
		r.Uint64())
	require.True(t, split["nodemask_parts"])
	for _, kernel := range []string{"nodemask_attend", "nodemask_agreement"} {
		require.Equal(t, 4, warps[kernel], kernel)
	}
}

func TestColumnsOfGradientsAreAddedUpInBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, n := range []int{1000, 1025, 2708, 4096, 5000} {
		var blocks int
		ours := interpreted(t, func(k triton.Kernel) { blocks = k.Grid[0] })
		xlas := gnntest.Go(t)
		fused.OnGPU(xlas.Backend)
		x, v := whole(r, n, 4), whole(r, n, 4)
		y, z, towardsX, towardsBias, towardsA := zeros(n, 4), zeros(n, 2), zeros(n, 4), zeros(1, 4), zeros(2, 2)
		for i := range n {
			for k := range 4 {
				y[i][k] = x[i][k] + float64(1+k)
				z[i][k/2] += x[i][k] * float64(1+k)
				towardsBias[0][k] += v[i][k]
				towardsX[i][k] = v[i][k/2] * float64(1+k)
				towardsA[k/2][k%2] += v[i][k/2] * x[i][k]
			}
		}
		for _, b := range []*backend.Backend{ours, xlas} {
			got, err := model.CallOnceN(b.Backend, model.NewStore(), func(_ *model.Scope, x, v, bias, a *Node) []*Node {
				y, z := kernels.AddBias(x, bias), kernels.HeadProducts(x, a)
				first := SliceAxis(v, 1, AxisRange(0, 2))
				return append(append([]*Node{y, z}, Gradient(ReduceAllSum(Mul(y, v)), x, bias)...),
					Gradient(ReduceAllSum(Mul(z, first)), x, a)...)
			}, tensor(x, 4), tensor(v, 4), [][]float32{{1, 2, 3, 4}}, [][]float32{{1, 2}, {3, 4}})
			require.NoError(t, err)
			for i, want := range []rows{y, z, v, towardsBias, towardsX, towardsA} {
				require.Equal(t, want, rowsOf(got[i]), "%d rows, result %d", n, i)
			}
		}
		require.Equal(t, n > 1024 && n <= 4096, blocks > 1, "%d rows: %d blocks", n, blocks)

		// The same rows as two trials'.
		for _, b := range []*backend.Backend{ours, xlas} {
			sums, err := model.CallOnce(b.Backend, model.NewStore(), func(_ *model.Scope, x *Node) *Node {
				return Reshape(kernels.ColumnSums(kernels.PerTrial(Concatenate([]*Node{x, Neg(x)}, 0), 2)), 2, 4)
			}, tensor(v, 4))
			require.NoError(t, err)
			negative := zeros(1, 4)
			for k := range negative[0] {
				negative[0][k] = -towardsBias[0][k]
			}
			require.Equal(t, rows{towardsBias[0], negative[0]}, rowsOf(sums), "%d rows", n)
		}
	}
}

func TestGPUTrialsSideBySideKeepTheirNumbers(t *testing.T) {
	checkTrials(t)(t, interpreted(t), kernels.FusedKernel)
}

func TestEntriesThatAreDroppedAreThoseOfOtherBackends(t *testing.T) {
	m := uneven(rand.New(rand.NewPCG(3, 4)))
	key, h := [2]uint32{7, 8}, whole(rand.New(rand.NewPCG(5, 6)), m.Columns, 64)
	store := model.NewStore()
	defer store.Finalize()
	p := newProduct(t, store, m, kernels.Options{Kernel: kernels.FusedKernel, Gradients: true})
	outputs, err := model.CallOnceN(interpreted(t).Backend, store, func(_ *model.Scope, h, key *Node) []*Node {
		s := kernels.NewRandom(key, kernels.FusedKernel).Next()
		y := p.SumDropped(h, s, 0.5, true)
		return []*Node{y, Gradient(ReduceAllSum(Mul(y, y)), h)[0]}
	}, tensor(h, 64), key[:])
	require.NoError(t, err)
	d := definition{m}
	y := d.times(h, d.dropped(key, 0.5))
	require.Equal(t, y, rowsOf(outputs[0]))
	for i := range y {
		for k := range y[i] {
			y[i][k] *= 2
		}
	}
	require.Equal(t, d.back(y, d.dropped(key, 0.5)), rowsOf(outputs[1]))
}
