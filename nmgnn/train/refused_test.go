package train

import (
	"math"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/gnntest"
)

func TestGraphsThatBreakTheirPromisesAreRefused(t *testing.T) {
	for want, change := range map[string]func(g *datasets.Graph, s *datasets.Split){
		"features: row 0, column 0 is NaN: expected a finite number": func(g *datasets.Graph, _ *datasets.Split) {
			for i := range g.Features.Dense {
				g.Features.Dense[i] = float32(math.NaN())
			}
		},
		"has label 7: expected 0 to 1": func(g *datasets.Graph, s *datasets.Split) { g.Labels[s.Train[0]] = 7 },
		"expected ascending columns": func(g *datasets.Graph, _ *datasets.Split) {
			g.Features = g.Features.Stored(true)
			slices.Reverse(g.Features.Columns[g.Features.Offsets[0]:g.Features.Offsets[1]])
		},
		"features: ": func(g *datasets.Graph, _ *datasets.Split) { g.Features.Dense = g.Features.Dense[:7] },
		"names node 5000, but the graph has 60 nodes": func(g *datasets.Graph, _ *datasets.Split) {
			g.Edges.Indices[len(g.Edges.Indices)-1] = 5000
		},
		"train, 6 validation and 0 test nodes: each needs at least one": func(_ *datasets.Graph, s *datasets.Split) {
			s.Test = nil
		},
		"split: the test set names node 60, but graph": func(_ *datasets.Graph, s *datasets.Split) {
			s.Test = append(s.Test, 60)
		},
		"no edges (nil)": func(g *datasets.Graph, _ *datasets.Split) { g.Edges = nil },
	} {
		for _, setting := range datasets.Settings() {
			g := gnntest.TwoCamps(t)
			g.Edges = &csr.Graph{Offsets: slices.Clone(g.Edges.Offsets), Indices: slices.Clone(g.Edges.Indices)}
			split, err := datasets.Stratified(g, datasets.SplitOptions{TrainPercent: 30, ValidationShare: 0.15, Seed: 1})
			require.NoError(t, err)
			g.OwnSplit = split
			change(g, split)
			x := Experiment{Graph: g, Parameters: small(), Setting: setting, OwnSplit: true}
			for name, o := range map[string]RunOptions{"alone": {}, "in jobs": {Jobs: 2}} {
				results, err := x.Run(t.Context(), gnntest.Go(t), hyper.Seeds(1, 2), o)
				require.ErrorContains(t, err, want, "%s, %s", setting, name)
				require.Equal(t, []*Result{nil, nil}, append(results, nil, nil)[:2])
			}
			r := NewRunner(gnntest.Go(t))
			_, err = r.Trial(t.Context(), x, 1, nil)
			require.ErrorContains(t, err, want)
			_, err = r.Variants(t.Context(), x, 1)
			require.ErrorContains(t, err, want)
			r.Close()
		}
	}
}

func TestAnExperimentThatNoTrialCanBeRunOfIsRefusedBeforehand(t *testing.T) {
	for want, change := range map[string]func(x *Experiment){
		"the graph is nil: expected one that datasets.Open reads": func(x *Experiment) { x.Graph = nil },
		`graph "": no edges (nil): expected a graph`:              func(x *Experiment) { x.Graph = &datasets.Graph{} },
		`setting "foo": expected`:                                 func(x *Experiment) { x.Setting = "foo" },
		`arrivals "foo": expected`:                                func(x *Experiment) { x.Arrivals = "foo" },
		"where no node arrives": func(x *Experiment) {
			x.Setting, x.Arrivals = datasets.Transductive, datasets.TrainEdges
		},
		"TrainPercent is 0: expected 1 to 99":         func(x *Experiment) { x.TrainPercent = 0 },
		"ValidationPercent is 100: expected 1 to 99":  func(x *Experiment) { x.ValidationPercent = 100 },
		"ValidationPercent is -10: expected 1 to 99":  func(x *Experiment) { x.ValidationPercent = -10 },
		"has no train, validation and test nodes of ": func(x *Experiment) { x.OwnSplit = true },
	} {
		x := experiment(t)
		require.NoError(t, x.Check())
		change(&x)
		require.ErrorContains(t, x.Check(), want)
		for _, jobs := range []int{1, 2} {
			_, err := x.Run(t.Context(), gnntest.Go(t), hyper.Seeds(1, 2), RunOptions{Jobs: jobs})
			require.ErrorContains(t, err, want)
		}
	}
}

func TestWithoutABackendOrAViewNothingTrains(t *testing.T) {
	const noBackend = "the backend is closed, or was never opened: open one with backend.Open"
	x := experiment(t)
	for _, o := range []RunOptions{{}, {Jobs: 2}} {
		_, err := x.Run(t.Context(), nil, hyper.Seeds(1, 2), o)
		require.ErrorContains(t, err, noBackend)
	}
	_, err := NewRunner(nil).Trial(t.Context(), x, 1, nil)
	require.ErrorContains(t, err, noBackend)
	model, view := nmgnn.Build(small(), 2), gnntest.View(t, x.Graph, 30, datasets.Inductive)
	_, err = newTrainer(gnntest.Go(t), model, x.Graph, nil, options{})
	require.ErrorContains(t, err, "the view is nil: expected one that datasets.NewView returns")
	_, err = newTrainer(gnntest.Go(t), model, x.Graph, view, options{Also: []*datasets.View{nil}})
	require.ErrorContains(t, err, "the view is nil: expected")
	require.ErrorContains(t, trainerOf(t, gnntest.Go(t), x.Graph, view, small()).switchTo(nil, options{}),
		"the view is nil: expected")
	x.Graph = nil
	_, err = x.Run(t.Context(), gnntest.Go(t), hyper.Seeds(1, 2), RunOptions{})
	require.ErrorContains(t, err, "the graph is nil: expected one that datasets.Open reads")
}

func TestPredictionsAreNumberedAsTheGraphIs(t *testing.T) {
	x := experiment(t)
	x.Arrivals, x.CacheInference = datasets.NoValidation, true
	split, err := x.Split(1)
	require.NoError(t, err)
	results, err := x.Run(t.Context(), gnntest.Go(t), hyper.Seeds(1, 2), RunOptions{})
	require.NoError(t, err)
	for _, r := range results {
		require.Len(t, r.Predictions, x.Graph.NumNodes())
		right := 0
		for v, class := range r.Predictions {
			require.Equal(t, slices.Contains(split.Validation, int32(v)), class == -1, "validation nodes are gone")
			if slices.Contains(split.Test, int32(v)) && class == x.Graph.Labels[v] {
				right++
			}
		}
		require.Equal(t, r.Test.Accuracy, float64(right)/float64(len(split.Test)))
	}
}

func TestRatesThatKeepNobodyAreRefusedInTraining(t *testing.T) {
	x := experiment(t)
	for _, rate := range []float64{0, 1e-300} {
		x.Parameters = small().WithMasking(rate)
		_, err := x.Run(t.Context(), gnntest.Go(t), hyper.Seeds(1, 1), RunOptions{})
		require.ErrorContains(t, err, "keep rate ")
	}
}

// lopsided adds an output to an input of another width.
type lopsided struct{}

func (lopsided) Forward(scope *model.Scope, near nmgnn.Neighbours, h nmgnn.Input, mask *Node) *Node {
	own := h.Times(nmgnn.GlorotWeights(scope, h.Graph(), "weights", h.Width(), 2))
	return Add(near.Sum(own, mask), h.Node())
}

func TestAShapeThatCannotBeNamesLayerAndLine(t *testing.T) {
	x := Experiment{Graph: gnntest.TwoCamps(t), Parameters: small(), Setting: datasets.Transductive, TrainPercent: 30,
		Own: &nmgnn.Model{Layers: []nmgnn.Layer{nmgnn.GCN{Width: 8}, lopsided{}}}}
	_, err := x.Run(t.Context(), gnntest.Go(t), hyper.Seeds(1, 1), RunOptions{})
	require.Error(t, err)
	require.Regexp(t, `layer 1 \(train\.lopsided, refused_test\.go:\d+\): .*shape`, err.Error())
}
