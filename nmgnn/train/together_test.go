package train

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/kernels"
	"nodemask/nmgnn/internal/kernels/fused"
)

// sameTrial holds a trial to another one, up to what sums in another order make of its numbers.
func sameTrial(t *testing.T, want, got *Trial) {
	t.Helper()
	near := func(want, got float64) {
		t.Helper()
		require.LessOrEqual(t, math.Abs(want-got), 2e-4*math.Max(1, math.Abs(want)))
	}
	require.Equal(t, want.Seed, got.Seed)
	require.Len(t, got.History, len(want.History))
	require.Equal(t, want.BestEpoch, got.BestEpoch)
	for i, e := range want.History {
		near(e.TrainLoss, got.History[i].TrainLoss)
		near(e.ValidationLoss, got.History[i].ValidationLoss)
	}
	require.Len(t, got.Weights, len(want.Weights))
	for i, w := range want.Weights {
		require.Equal(t, w.Path, got.Weights[i].Path)
		require.Equal(t, w.Dimensions, got.Weights[i].Dimensions)
		gnntest.InDelta(t, w.Values, got.Weights[i].Values, 1e-3, "%s", w.Path)
	}
	require.Equal(t, want.Predictions, got.Predictions)
	require.Equal(t, want.Validation, got.Validation)
	require.Equal(t, want.Test, got.Test)
}

func togetherOnce(t *testing.T, b *backend.Backend, g *datasets.Graph, view *datasets.View, p hyper.Parameters,
	plan *kernels.Plan, seeds []uint64) []*Trial {
	t.Helper()
	o := OptionsOf(p, view)
	o.Together, o.Plan = len(seeds), plan
	trainer, err := New(b, nmgnn.Build(p, g.NumClasses()), g, view, o)
	require.NoError(t, err)
	defer trainer.Close()
	_, err = trainer.TrainTogether(t.Context(), seeds[1:], nil)
	require.ErrorContains(t, err, "2 trials on a trainer of 3 together")
	_, err = trainer.Train(t.Context(), 1, nil)
	require.ErrorContains(t, err, "one trial on a trainer of 3 together")
	trials, err := trainer.TrainTogether(t.Context(), seeds, nil)
	require.NoError(t, err)
	return trials
}

// Each of the trials in one program is the trial that its seed gives alone.
func TestTrialsTogetherAreThoseOfTheirSeeds(t *testing.T) {
	g := gnntest.TwoCamps(t)
	dense := *g
	dense.Features = g.Features.Stored(false)
	cases := map[string]func(p *hyper.Parameters){
		"no masking": func(p *hyper.Parameters) { p.KeepRate = 0 },
		"norm":       func(p *hyper.Parameters) { p.Norm, p.MLPLayers, p.LearnEpsilon = hyper.NormBoth, 2, true },
		"readout":    func(p *hyper.Parameters) { p.Readout, p.Residual = hyper.ReadoutAll, true },
	}
	for _, r := range hyper.Regularisers() {
		cases[string(r)] = func(p *hyper.Parameters) { p.Regulariser, p.RegulariserRate = r, 0.3 }
	}
	test := func(name string, g *datasets.Graph, model string, setting datasets.Setting,
		change func(p *hyper.Parameters)) {
		t.Run(name, func(t *testing.T) {
			gnntest.ForEachBestPlan(t, func(t *testing.T, b *backend.Backend, plan kernels.Plan) {
				gnntest.Sampled(t, b, name == "gat" && plan.Kernel == kernels.ScatterKernel ||
					name == "norm" && plan.Kernel == kernels.FusedKernel)
				p, err := hyper.For(model)
				require.NoError(t, err)
				p.Hidden, p.MaxEpochs, p.Patience, p.KeepRate = 8, 12, 4, 0.5
				if change != nil {
					change(&p)
				}
				require.NoError(t, p.Check())
				view, seeds := gnntest.View(t, g, 30, setting), []uint64{4, 9, 2}
				trials := togetherOnce(t, b, g, view, p, &plan, seeds)
				o := OptionsOf(p, view)
				o.Plan = &plan
				alone, err := New(b, nmgnn.Build(p, g.NumClasses()), g, view, o)
				require.NoError(t, err)
				defer alone.Close()
				for i, seed := range seeds {
					sameTrial(t, trainOnce(t, alone, seed), forgetSeconds(trials[i]))
				}
			})
		})
	}
	for _, model := range hyper.Models() {
		test(model, g, model, datasets.Inductive, nil)
		test(model+" dense", &dense, model, datasets.Transductive, nil)
	}
	for name, change := range cases {
		test(name, g, "gin", datasets.Inductive, change)
	}
}

func forgetSeconds(trial *Trial) *Trial {
	trial.Seconds = 0
	return trial
}

func TestAnExperimentRunsTrialsTogether(t *testing.T) {
	x := experiment(t)
	seeds, epochs, order := Seeds(3, 5), make([]int, 5), []int(nil)
	want, err := x.Run(t.Context(), gnntest.Go(t), seeds, RunOptions{})
	require.NoError(t, err)
	got, err := x.Run(t.Context(), gnntest.Go(t), seeds, RunOptions{Together: 2,
		Progress: func(p Progress) {
			require.Equal(t, seeds[p.Trial], p.Seed)
			require.Equal(t, epochs[p.Trial]+1, p.Epoch)
			epochs[p.Trial] = p.Epoch
		},
		Done: func(i int, _ *Result) { order = append(order, i) }})
	require.NoError(t, err)
	require.Equal(t, []int{0, 1, 2, 3, 4}, order)
	for i, r := range got {
		require.Equal(t, want[i].SplitHash, r.SplitHash)
		require.Equal(t, want[i].Nodes, r.Nodes)
		sameTrial(t, want[i].Trial, r.Trial)
		require.Equal(t, len(r.History), epochs[i])
	}

	stopped, cancel := context.WithCancel(t.Context())
	got, err = x.Run(stopped, gnntest.Go(t), seeds, RunOptions{Together: 2, Done: func(i int, _ *Result) {
		if i == 1 {
			cancel()
		}
	}})
	require.ErrorIs(t, err, context.Canceled)
	require.NotNil(t, got[1])
	require.Equal(t, []*Result{nil, nil, nil}, got[2:])

	x.Parameters.LearningRate = 1e30
	_, err = x.Run(t.Context(), gnntest.Go(t), seeds, RunOptions{Together: 2})
	require.ErrorContains(t, err, "seed 3: ")
	require.ErrorContains(t, err, "the learning rate 1e+30 may be too high")
	x.Resplit = true
	_, err = x.Run(t.Context(), gnntest.Go(t), seeds, RunOptions{Together: 2})
	require.ErrorContains(t, err, "expected an experiment without Resplit")
}

// plain is a layer of one's own whose bias is made, or added, in ways that several trials cannot share.
type plain struct{ shared bool }

func (l plain) Forward(scope *model.Scope, near nmgnn.Neighbours, h nmgnn.Input, mask *Node) *Node {
	y := near.Sum(h.Times(nmgnn.Weights(scope, h.Graph(), "w", h.Width(), h.Width(), 2)), mask)
	if l.shared {
		return Add(y, scope.VariableWithShape("b", shapes.Make(y.DType(), 1, 2)).NodeValue(h.Graph()))
	}
	return Add(y, nmgnn.ZeroWeights(scope, h.Graph(), "b", 1, 2))
}

// ramp is a layer of one's own that says itself what its scale starts at.
type ramp struct{}

func (ramp) Forward(scope *model.Scope, near nmgnn.Neighbours, h nmgnn.Input, mask *Node) *Node {
	scale := scope.VariableWithValue("scale", [][]float32{{1, 2}}).NodeValue(h.Graph())
	return Mul(near.Sum(h.Times(nmgnn.Weights(scope, h.Graph(), "w", h.Width(), h.Width(), 2)), mask), scale)
}

func TestALayersOwnFirstValuesAreThoseOfEveryTrial(t *testing.T) {
	g, view := gnntest.Camps(t, 30, datasets.Inductive)
	for _, b := range []*backend.Backend{gnntest.Go(t), gnntest.XLA(t)} {
		m := nmgnn.Model{Layers: []nmgnn.Layer{ramp{}}}
		trainer, err := New(b, m, g, view, Options{LearningRate: 1e-12, MaxEpochs: 2})
		require.NoError(t, err)
		defer trainer.Close()
		for seed := range uint64(2) {
			trial, err := trainer.Train(t.Context(), seed, nil)
			require.NoError(t, err)
			i := slices.IndexFunc(trial.Weights, func(w infer.Weight) bool { return w.Path == "/model/layer0/scale" })
			gnntest.InDelta(t, []float32{1, 2}, trial.Weights[i].Values, 1e-6, "seed %d", seed)
		}
	}
}

func TestALayerThatTrialsCannotShareIsRefused(t *testing.T) {
	g, view := gnntest.Camps(t, 30, datasets.Inductive)
	for _, shared := range []bool{false, true} {
		m := nmgnn.Model{Layers: []nmgnn.Layer{plain{shared}}}
		trainer, err := New(gnntest.Go(t), m, g, view, Options{})
		require.NoError(t, err)
		trainer.Close()
		_, err = New(gnntest.Go(t), m, g, view, Options{Together: 3})
		require.ErrorContains(t, err, "3 trials together: ")
		require.ErrorContains(t, err, ": expected layers that make all weights by nmgnn.Weights and its siblings")
	}
}

// On a GPU the device draws the masks: a backend that is said to be for one gives the same trials, and shows the same
// nodes as masked.
func TestADeviceMasksTheNodesThatTheHostDoes(t *testing.T) {
	x := experiment(t)
	x.Parameters.MaxEpochs = 6
	trials := func(b *backend.Backend) (all []*Trial, masked [][]int32) {
		r := NewRunner(b)
		defer r.Close()
		for _, change := range []func(p *hyper.Parameters){
			func(p *hyper.Parameters) {},
			func(p *hyper.Parameters) { p.KeepRate, p.Rescale = 0.3, true }, // by the same program
			func(p *hyper.Parameters) { p.MaskOver = hyper.MaskTrain },
			func(p *hyper.Parameters) { p.KeepRate = 1 },
		} {
			of := x
			change(&of.Parameters)
			result, err := r.Trial(t.Context(), of, 3, func(int, Epoch) { masked = append(masked, r.Masked()) })
			require.NoError(t, err)
			all = append(all, forgetSeconds(result.Trial))
		}
		return all, masked
	}
	want, masked := trials(gnntest.Go(t))
	device := gnntest.Go(t)
	fused.OnGPU(device.Backend)
	got, shown := trials(device)
	require.Equal(t, want, got)
	require.Equal(t, masked, shown)
	require.NotEmpty(t, masked[0])
	require.Nil(t, masked[len(masked)-1])

	x.Parameters.KeepRate = 0.5
	alone, err := x.Run(t.Context(), device, Seeds(3, 3), RunOptions{})
	require.NoError(t, err)
	together, err := x.Run(t.Context(), device, Seeds(3, 3), RunOptions{Together: 3})
	require.NoError(t, err)
	for i := range alone {
		sameTrial(t, alone[i].Trial, together[i].Trial)
	}
}
