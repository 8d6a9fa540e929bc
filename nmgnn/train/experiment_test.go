package train

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn/backend"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/gnntest"
)

func TestResultsDoNotDependOnTheNumberOfJobs(t *testing.T) {
	g := gnntest.TwoCamps(t)
	for _, resplit := range []bool{false, true} {
		x := Experiment{Graph: g, Parameters: small(), Setting: datasets.Inductive, Arrivals: datasets.AllEdges,
			TrainPercent: 30, SplitSeed: 1, Resplit: resplit}
		run := func(jobs int) []*Result {
			results, err := x.Run(context.Background(), gnntest.Go(t), hyper.Seeds(1, 5), RunOptions{Jobs: jobs})
			require.NoError(t, err)
			for _, r := range results {
				r.Seconds = 0
			}
			return results
		}
		one, three := run(1), run(3)
		require.Equal(t, one, three)
		require.Equal(t, resplit, one[0].SplitHash != one[1].SplitHash)
	}
}

func TestInterruptionReturnsFinishedTrials(t *testing.T) {
	x := experiment(t)
	ctx, cancel := context.WithCancel(context.Background())
	results, err := x.Run(ctx, gnntest.Go(t), hyper.Seeds(1, 5), RunOptions{Done: func(i int, _ *Result) {
		if i == 1 {
			cancel()
		}
	}})
	require.ErrorIs(t, err, context.Canceled)
	require.NotNil(t, results[0])
	require.NotNil(t, results[1])
	require.Equal(t, []*Result{nil, nil, nil}, results[2:])
}

func TestAnExperimentUsesTheGraphsOwnSplit(t *testing.T) {
	g := gnntest.TwoCamps(t)
	x := Experiment{Graph: g, Parameters: small(), Setting: datasets.Inductive, Arrivals: datasets.AllEdges,
		TrainPercent: 30, SplitSeed: 1, OwnSplit: true}
	_, err := x.Run(t.Context(), gnntest.Go(t), hyper.Seeds(1, 1), RunOptions{})
	require.ErrorContains(t, err, "has no train, validation and test nodes of its own: expected a stratified split")

	drawn, err := datasets.Stratified(g, datasets.SplitOptions{TrainPercent: 20, Seed: 9})
	require.NoError(t, err)
	own := *g
	own.OwnSplit = drawn
	x.Graph = &own
	r := NewRunner(gnntest.Go(t))
	defer r.Close()
	for _, takes := range []bool{false, true, false, true} { // one runner switches between the splits
		x.OwnSplit = takes
		result, err := r.Trial(t.Context(), x, 1, nil)
		require.NoError(t, err)
		require.Equal(t, takes, result.SplitHash == drawn.Hash())
	}
	x.Resplit = true
	_, err = r.Trial(t.Context(), x, 1, nil)
	require.ErrorContains(t, err, "both Resplit and OwnSplit: expected one of the two")
}

func TestOnlyTheBestResultKeepsWhatIsSaved(t *testing.T) {
	for _, stopOn := range []hyper.StopOn{hyper.StopOnLoss, hyper.StopOnF1} {
		x := experiment(t)
		x.Keep = true
		x.Parameters.StopOn = stopOn
		all, err := x.Run(t.Context(), gnntest.Go(t), hyper.Seeds(1, 6), RunOptions{})
		require.NoError(t, err)
		best := 0
		for i, r := range all {
			require.NotNil(t, r.Weights)
			if x.better(r, all[best]) {
				best = i
			}
		}
		for _, jobs := range []int{1, 3} {
			seen := 0
			kept, err := x.Run(t.Context(), gnntest.Go(t), hyper.Seeds(1, 6), RunOptions{Jobs: jobs, KeepBest: true,
				Done: func(_ int, r *Result) {
					seen++
					require.NotNil(t, r.Weights, "whoever is told of a trial has all of it")
				}})
			require.NoError(t, err)
			require.Equal(t, 6, seen)
			for i, r := range kept {
				require.Equal(t, i == best, r.Weights != nil, "trial %d of which %d is best", i, best)
				require.Equal(t, i == best, r.Cache != nil)
				require.Equal(t, i == best, r.Predictions != nil)
				require.Equal(t, all[i].Test, r.Test)
			}
			require.Equal(t, all[best].Weights, kept[best].Weights)
		}
	}
}

func TestTrialsWalkThroughTheSplitsOfAGraph(t *testing.T) {
	g, err := datasets.SBM(t.Context(), datasets.SBMOptions{Nodes: 200})
	require.NoError(t, err)
	for first := range int32(3) {
		g.OwnSplits = append(g.OwnSplits, &datasets.Split{Train: []int32{first}})
	}
	g.OwnSplit = g.OwnSplits[0]
	x := Experiment{Graph: g, OwnSplit: true, SplitSeed: 1}
	var train []int32
	for seed := range uint64(4) {
		split, err := x.Split(seed + 1)
		require.NoError(t, err)
		train = append(train, split.Train...)
	}
	require.Equal(t, []int32{1, 2, 0, 1}, train)
	require.True(t, x.Splits())
	g.OwnSplits = g.OwnSplits[:1]
	require.False(t, x.Splits())
}

// TestDirectedGraphsTrain: each of 60 nodes receives from one node, whose feature is the receiver's class. Reverse
// edges carry no information.
func TestDirectedGraphsTrain(t *testing.T) {
	const n = 60
	gnntest.ForEachBackend(t, func(t *testing.T, b *backend.Backend) {
		for _, heard := range []bool{true, false} {
			g := &datasets.Graph{Name: "one way", OneWay: true, Classes: []string{"0", "1"}, Labels: make([]int32, 2*n),
				Features: datasets.Features{Rows: 2 * n, Width: 1, Dense: make([]float32, 2*n)}}
			var edges []csr.Edge
			for v := range int32(n) {
				class := v * v / 7 % 2
				g.Labels[v], g.Labels[n+v], g.Features.Dense[n+v] = class, datasets.Unlabelled, float32(2*class-1)
				e := csr.Edge{Node: v, Neighbour: n + v}
				if !heard {
					e = csr.Edge{Node: n + v, Neighbour: v}
				}
				edges = append(edges, e)
			}
			var err error
			g.Edges, _, err = csr.FromEdges(2*n, edges, csr.Options{Directed: true})
			require.NoError(t, err)
			p, err := hyper.For("gin")
			require.NoError(t, err)
			p.Layers, p.Dropout, p.MaxEpochs, p.NormalizeFeatures = 1, 0, 100, false
			x := Experiment{Graph: g, Parameters: p, Setting: datasets.Transductive, TrainPercent: 50, SplitSeed: 1}
			results, err := x.Run(t.Context(), b, hyper.Seeds(1, 1), RunOptions{})
			require.NoError(t, err)
			require.Equal(t, heard, results[0].Test.Accuracy == 1, "%v", results[0].Test.Accuracy)
		}
	})
}
