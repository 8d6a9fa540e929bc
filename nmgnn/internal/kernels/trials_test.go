package kernels_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/kernels"
)

// ofTrial is what a test computes of one or several trials side by side: values, then gradients.
func ofTrial(p kernels.Product, kernel kernels.Kernel, in []*Node) []*Node {
	h, mask, key, w, b, a, c := in[0], in[1], in[2], in[3], in[4], in[5], in[6]
	random := kernels.NewRandom(key, kernel)
	z := kernels.AddBias(kernels.Dense(random.Dropout(h, 0.3), w), b)
	source, target := p.PairScores(z, a, c)
	scores := p.LeakyScores(z, h, a, 0.25, true)
	outputs := []*Node{
		z,
		kernels.Sum(p, z, mask, p.DropEntries(random.Next(), nil, 1, 0.4), true),
		p.SumDropped(z, random.Next(), 0.5, true),
		p.Attend(kernels.Attention{Source: source, Target: target, Slope: 0.25, Values: z, Mask: mask,
			Keep: p.DropEntries(random.Next(), nil, 2, 0.4), Gradients: true}),
		p.Attend(kernels.Attention{Scores: scores, Values: z, Gradients: true}),
	}
	var loss *Node
	for _, y := range outputs {
		if y = ReduceAllSum(Square(y)); loss == nil {
			loss = y
		} else {
			loss = Add(loss, y)
		}
	}
	return append(outputs, Gradient(loss, h, w, b, a, c)...)
}

// checkTrials returns what holds trials side by side to what each computes alone, and their gradients.
func checkTrials(t *testing.T) func(t *testing.T, b *backend.Backend, kernel kernels.Kernel) {
	const n, width, trials = 30, 6, 3
	r := rand.New(rand.NewPCG(4, 5))
	pairs := make([][2]int32, 60)
	for i := range pairs {
		pairs[i] = [2]int32{r.Int32N(n - 1), r.Int32N(n - 1)} // the last node is alone
	}
	m := gnntest.Undirected(t, n, pairs).Matrix()
	for range m.NumEntries() {
		m.Values = append(m.Values, float32(r.IntN(5)-2))
	}
	// Each input's dimensions in a trial.
	dims := [][]int{{n, width}, {n, 1}, {2}, {width, width}, {1, width}, {2, width / 2}, {2, width / 2}}
	draw := func(k int) any {
		if k == 2 {
			return []uint32{r.Uint32(), r.Uint32()}
		}
		x := make([]float32, dims[k][0]*dims[k][1])
		for i := range x {
			if x[i] = float32(r.NormFloat64()) / 2; k == 1 {
				x[i] = float32(r.IntN(2))
			}
		}
		return x
	}
	alone, all := make([][]*tensors.Tensor, trials), make([]*tensors.Tensor, len(dims))
	for k, dim := range dims {
		var floats []float32
		var ints []uint32
		for i := range alone {
			x := draw(k)
			switch x := x.(type) {
			case []float32:
				floats = append(floats, x...)
				alone[i] = append(alone[i], tensors.FromFlatDataAndDimensions(x, dim...))
			case []uint32:
				ints = append(ints, x...)
				alone[i] = append(alone[i], tensors.FromFlatDataAndDimensions(x, dim...))
			}
		}
		switch {
		case ints != nil:
			all[k] = tensors.FromFlatDataAndDimensions(ints, trials, 2)
		case k < 2: // nodes follow one another
			all[k] = tensors.FromFlatDataAndDimensions(floats, trials*n, dim[1])
		default:
			all[k] = tensors.FromFlatDataAndDimensions(floats, append([]int{trials}, dim...)...)
		}
	}
	return func(t *testing.T, b *backend.Backend, kernel kernels.Kernel) {
		// program compiles it for so many trials.
		program := func(trials int) func(numbers []*tensors.Tensor) []*tensors.Tensor {
			store := model.NewStore()
			p := newProduct(t, store, m, kernels.Options{Kernel: kernel, Symmetric: true, Gradients: true, Trials: trials})
			exec, err := model.NewExec(b.Backend, store, func(_ *model.Scope, in []*Node) []*Node {
				return ofTrial(p, kernel, in)
			})
			require.NoError(t, err)
			t.Cleanup(func() {
				exec.Finalize()
				store.Finalize()
			})
			return func(numbers []*tensors.Tensor) []*tensors.Tensor {
				var inputs []any
				for _, x := range numbers {
					copied, err := x.LocalClone() // another backend has them next
					require.NoError(t, err)
					inputs = append(inputs, copied)
				}
				outputs, err := exec.Call(inputs...)
				require.NoError(t, err)
				return outputs
			}
		}
		got, one := program(trials)(all), program(1)
		for i := range trials {
			for k, want := range one(alone[i]) {
				of := tensors.MustCopyFlatData[float32](got[k])
				size := len(of) / trials
				gnntest.InDelta(t, tensors.MustCopyFlatData[float32](want), of[i*size:(i+1)*size], 2e-4, "trial %d, output %d", i, k)
			}
		}
	}
}

func TestTrialsSideBySideComputeWhatEachComputesAlone(t *testing.T) {
	check := checkTrials(t)
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		forEachKernel(t, func(t *testing.T, kernel kernels.Kernel) { check(t, b, kernel) })
	})
}

// A product of trials takes another matrix as one of a single trial does.
func TestAProductOfTrialsIsReplaced(t *testing.T) {
	first, other := fromRows(3, []int32{0, 2}, nil, []int32{1}), fromRows(3, []int32{1}, []int32{0}, []int32{2})
	h := [][]float32{{1}, {2}, {4}, {10}, {20}, {40}}
	times := func(m csr.Matrix, replace ...csr.Matrix) [][]float64 {
		store := model.NewStore()
		defer store.Finalize()
		p := newProduct(t, store, m, kernels.Options{Kernel: kernels.FusedKernel, Gradients: true, Trials: 2})
		require.Equal(t, 6, p.Rows())
		values := kernels.Values(p)
		for _, m := range replace {
			require.NoError(t, p.Replace(m, true))
		}
		got, err := model.CallOnce(gnntest.Go(t).Backend, store, func(_ *model.Scope, h *Node) *Node {
			return p.Times(h, nil, values.NodeValue(h.Graph()))
		}, h)
		require.NoError(t, err)
		return slices.Concat(rowsOf(got))
	}
	want := rows{{-1.5 - 2}, {0}, {1}, {-15 - 20}, {0}, {10}}
	require.Equal(t, want, times(first))
	require.Equal(t, rows{{-3}, {-0.5}, {2}, {-30}, {-5}, {20}}, times(other))
	require.Equal(t, rows{{-3}, {-0.5}, {2}, {-30}, {-5}, {20}}, times(first, other))
}
