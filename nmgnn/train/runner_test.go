package train

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/gnntest"
	"nodemask/nmgnn/internal/gomlx"
)

// blocks returns a block graph, and parameters for this many epochs.
func blocks(t testing.TB, epochs int) (*datasets.Graph, hyper.Parameters) {
	t.Helper()
	g, err := datasets.SBM(t.Context(), datasets.SBMOptions{Nodes: 150, Classes: 3})
	require.NoError(t, err)
	p, err := hyper.Preset("standard")
	require.NoError(t, err)
	p.Hidden, p.MaxEpochs = 8, epochs
	return g, p
}

func TestProgramsDependOnWhatIsCompiledInto(t *testing.T) {
	g, settings := blocks(t, 5)
	x := Experiment{Graph: g, Parameters: settings.WithMasking(0.3), Setting: datasets.Inductive, TrainPercent: 20,
		SplitSeed: 1}
	for name, c := range map[string]struct {
		same   bool
		change func(*Experiment)
	}{
		"keep rate":     {true, func(x *Experiment) { x.Parameters.KeepRate = 0.8 }},
		"split":         {true, func(x *Experiment) { x.SplitSeed = 2 }},
		"learning rate": {true, func(x *Experiment) { x.Parameters.LearningRate = 1 }},
		"no mask":       {false, func(x *Experiment) { x.Parameters.KeepRate = 1 }},
		"no keep rate":  {false, func(x *Experiment) { x.Parameters.KeepRate = 0 }},
		"size":          {false, func(x *Experiment) { x.TrainPercent = 30 }},
		"arrivals":      {false, func(x *Experiment) { x.Arrivals = datasets.NoValidation }},
		"setting":       {false, func(x *Experiment) { x.Setting = datasets.Transductive }},
		"dropout":       {false, func(x *Experiment) { x.Parameters.Dropout = 0 }},
		"regulariser":   {false, func(x *Experiment) { x.Parameters.Regulariser = hyper.DropEdgeRegulariser }},
	} {
		other := x
		c.change(&other)
		require.Equal(t, c.same, programOf(x, false) == programOf(other, false), name)
	}
}

func TestRatesThatShareAProgramKeepTheirNumbers(t *testing.T) {
	g, p := blocks(t, 5)
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		for _, name := range append(hyper.Regularisers(), "attention") {
			if b.ID != "go" && name != hyper.DropGNNRegulariser && !gnntest.Torture() {
				continue // XLA compiles each for a second
			}
			x := Experiment{Graph: g, Parameters: p, Setting: datasets.Inductive, TrainPercent: 20, Resplit: true,
				Smoothness: true}
			x.Parameters.Regulariser, x.Parameters.RegulariserRate = name, 0.3
			if name == "attention" {
				x.Parameters.Model, x.Parameters.Heads, x.Parameters.AttentionDropout = "gat", 2, 0.3
				x.Parameters.Regulariser, x.Parameters.RegulariserRate = "", 0
			}
			shared, alone := NewRunner(b), NewRunner(b)
			_, err := shared.Trial(t.Context(), x, 1, nil)
			require.NoError(t, err)
			program := shared.trainer
			x.Parameters.Dropout, x.Parameters.RegulariserRate = 0.4, x.Parameters.RegulariserRate*2
			x.Parameters.AttentionDropout *= 2
			x.Parameters.NormalizeFeatures = !x.Parameters.NormalizeFeatures
			got, err := shared.Trial(t.Context(), x, 2, nil)
			require.NoError(t, err)
			require.Same(t, program, shared.trainer, name)
			want, err := alone.Trial(t.Context(), x, 2, nil)
			require.NoError(t, err)
			got.Seconds, want.Seconds = 0, 0
			require.Equal(t, want, got, name)
			shared.Close()
			alone.Close()
		}
	})
}

func TestARunnerKeepsAsManyProgramsAsItMay(t *testing.T) {
	g, p := blocks(t, 2)
	of := func(setting datasets.Setting, layers int) Experiment {
		x := Experiment{Graph: g, Parameters: p, Setting: setting, Arrivals: datasets.AllEdges, TrainPercent: 20,
			Resplit: true}
		x.Parameters.Layers = layers
		return x
	}
	all := []Experiment{of(datasets.Inductive, 2), of(datasets.Transductive, 2), of(datasets.Inductive, 1)}
	pool, err := NewPool(gnntest.Go(t), 1, 2)
	require.NoError(t, err)
	defer pool.Close()
	var programs []*trainer
	run := func(x Experiment) *trainer {
		var used *trainer
		require.NoError(t, pool.Run(t.Context(), func(ctx context.Context, r *Runner) error {
			_, err := r.Trial(ctx, x, 1, nil)
			used = r.trainer
			return err
		}))
		return used
	}
	has := func() (kept []bool) {
		require.NoError(t, pool.Run(t.Context(), func(_ context.Context, r *Runner) error {
			for _, x := range all {
				kept = append(kept, r.Has(x))
			}
			return nil
		}))
		return kept
	}
	for _, x := range all[:2] {
		programs = append(programs, run(x))
	}
	require.Equal(t, []bool{true, true, false}, has())
	require.Same(t, programs[0], run(all[0]), "from one call to the next")
	run(all[2])
	require.Equal(t, []bool{true, false, true}, has(), "that which was used longest ago goes")
	require.Same(t, programs[0], run(all[0]))
	wrong := errors.New("wrong")
	require.ErrorIs(t, pool.Run(t.Context(), func(context.Context, *Runner) error { return wrong }), wrong)
	pool.Close()
	require.ErrorContains(t, pool.Run(t.Context(), nil), "the pool is closed: expected a new one")
}

// onData runs a test on sparse and dense data, in both settings, on all backends. XLA, which takes seconds per program,
// covers each data set and setting once; with 'make torture' all four pairs.
func onData(t *testing.T, test func(t *testing.T, b *backend.Backend, x Experiment)) {
	sparse, err := datasets.SBM(t.Context(), datasets.SBMOptions{Nodes: 150, Classes: 3})
	require.NoError(t, err)
	dense := *sparse
	dense.Features = sparse.Features.Stored(false)
	for name, g := range map[string]*datasets.Graph{"sparse": sparse, "dense": &dense} {
		for _, setting := range datasets.Settings() {
			t.Run(fmt.Sprintf("%s, %s", name, setting), func(t *testing.T) {
				gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
					if b.ID != "go" && (name == "dense") != (setting == datasets.Transductive) && !gnntest.Torture() {
						t.Skip("skipped: compiles a dozen programs: run it with NODEMASK_TORTURE=1")
					}
					p, err := hyper.Preset("standard")
					require.NoError(t, err)
					p.Hidden, p.MaxEpochs, p.Patience = 8, 12, 3
					test(t, b, Experiment{Graph: g, Parameters: p.WithMasking(0.5), Setting: setting, TrainPercent: 20, Resplit: true,
						Smoothness: true, CacheInference: setting == datasets.Inductive})
				})
			})
		}
	}
}

func TestSharedProgramsKeepTheNumbers(t *testing.T) {
	onData(t, func(t *testing.T, b *backend.Backend, x Experiment) {
		for _, model := range []string{"gin", "gat"} {
			if b.ID != "go" && (model == "gin") != (x.Setting == datasets.Inductive) && !gnntest.Torture() {
				continue // XLA compiles three programs each: every model, setting and kind of features comes once
			}
			x := x
			x.Parameters.Model, x.Parameters.Heads = model, 2
			if model == "gin" {
				x.Parameters.MLPLayers, x.Parameters.Norm, x.Parameters.Readout = 2, hyper.NormBoth, hyper.ReadoutAll
			} else {
				x.Parameters.SelfTerm = hyper.SelfKept
			}
			all := x
			all.Parameters.MaskOver, all.Parameters.KeepRate, all.Parameters.LearningRate,
				all.Parameters.WeightDecay = hyper.MaskTrain, 0.7, 0.1, 0
			all.Parameters.NormalizeFeatures, all.Parameters.StopOn, all.Parameters.Patience = false, hyper.StopOnAccuracy, 5
			shared := NewRunner(b)
			defer shared.Close()
			_, err := shared.Trial(t.Context(), x, 101, nil)
			require.NoError(t, err)
			program := shared.trainer
			seed := uint64(102)
			for name, changed := range map[string]Experiment{"split": x, "everything": all} {
				got, err := shared.Trial(t.Context(), changed, seed, nil)
				require.NoError(t, err, name)
				require.Same(t, program, shared.trainer, name)
				alone := NewRunner(b)
				changed.Resplit, changed.SplitSeed = false, seed
				want, err := alone.Trial(t.Context(), changed, seed, nil)
				alone.Close()
				require.NoError(t, err)
				got.Seconds, want.Seconds = 0, 0
				require.Equal(t, want, got, name)
				seed++
			}
		}
	})
}

func TestVariantsAreWhatSuchTrialsGive(t *testing.T) {
	onData(t, func(t *testing.T, b *backend.Backend, x Experiment) {
		x.Smoothness = false
		x.Parameters.MLPLayers, x.Parameters.Norm = 2, hyper.NormInside
		shared, alone := NewRunner(b), NewRunner(b)
		defer shared.Close()
		defer alone.Close()
		var all []*Result
		for seed := uint64(101); seed < 103; seed++ {
			variants, err := shared.Variants(t.Context(), x, seed)
			require.NoError(t, err)
			seen := map[string]bool{}
			for _, r := range variants {
				seen[fmt.Sprint(r.StopOn, r.Arrivals)] = true
				require.Equal(t, x.Setting == datasets.Inductive, r.Cached != nil)
			}
			require.Len(t, seen, len(variants))
			require.Len(t, variants, map[datasets.Setting]int{datasets.Inductive: 4 * 3, datasets.Transductive: 4}[x.Setting])
			all = append(all, variants...)
		}
		// One program per kind of arrivals.
		slices.SortStableFunc(all, func(a, b *Result) int { return strings.Compare(string(a.Arrivals), string(b.Arrivals)) })
		for _, r := range all {
			name := fmt.Sprint(r.Arrivals, r.Seed, r.StopOn)
			if b.ID != "go" && r.Arrivals != all[0].Arrivals && !gnntest.Torture() {
				continue // XLA compiles a program per kind of arrivals; the pure-Go backend compares them all
			}
			one := x
			one.Parameters.StopOn, one.Arrivals = r.StopOn, r.Arrivals
			want, err := alone.Trial(t.Context(), one, r.Seed, nil)
			require.NoError(t, err)
			want.Seconds, want.Predictions, want.Weights, want.Nodes, want.Apart = r.Seconds, nil, nil, nil, nil
			require.Equal(t, want, r, name)
		}
	})
}

func TestAReportCanAskWhoIsMaskedAndWhatIsPredicted(t *testing.T) {
	g, p := blocks(t, 4)
	x := Experiment{Graph: g, Parameters: p.WithMasking(0.3), Setting: datasets.Inductive, Arrivals: datasets.NoValidation,
		TrainPercent: 20, SplitSeed: 1}
	r := NewRunner(gnntest.Go(t))
	defer r.Close()
	require.Empty(t, r.Masked())
	_, err := r.Predict()
	require.ErrorContains(t, err, "no trial to predict with")

	split, err := datasets.Stratified(g, datasets.SplitOptions{TrainPercent: 20, Seed: 1})
	require.NoError(t, err)
	view, err := datasets.NewView(g, split, x.Setting, x.Arrivals)
	require.NoError(t, err)
	random := gomlx.HostRandom(5, "mask")
	var best [][]int32
	result, err := r.Trial(t.Context(), x, 5, func(int, Epoch) {
		var want []int32
		for _, i := range hyper.KeepRate(0.3).Draw(random, len(view.Train.Nodes), nil).Masked() {
			want = append(want, view.Train.Nodes[i])
		}
		require.Equal(t, want, r.Masked())
		classes, err := r.Predict()
		require.NoError(t, err)
		best = append(best, classes)
	})
	require.NoError(t, err)
	require.Equal(t, best[result.BestEpoch-1], result.Predictions, "what the trial keeps is what its best epoch predicted")
	for v, class := range result.Predictions {
		require.Equal(t, !slices.Contains(view.Test.Nodes, int32(v)), class == -1, "validation nodes are not there")
	}
	require.NotEqual(t, len(view.Test.Nodes), g.NumNodes())

	x.Parameters.KeepRate = 1
	_, err = r.Trial(t.Context(), x, 5, func(int, Epoch) { require.Empty(t, r.Masked()) })
	require.NoError(t, err)
}
