package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
	"nodemask/stats"
)

// noted is a trial with one validation macro F1 per epoch, on so many nodes, 60 % of them in one class.
func noted(nodes int, seed uint64, best int, f1 ...float64) *train.Result {
	r := &train.Result{Seed: seed, BestEpoch: best, Validation: stats.Metrics{MacroF1: f1[best-1],
		Confusion: [][]int{{nodes * 3 / 5, 0}, {nodes - nodes*3/5, 0}}}}
	for _, v := range f1 {
		r.History = append(r.History, train.Epoch{ValidationF1: v})
	}
	return r
}

func TestTrialsThatStopTooEarlyAreNamed(t *testing.T) {
	results := []*train.Result{noted(20, 1, 2, 0.5, 0.2, 0.9), noted(20, 2, 3, 0.9, 0.8, 0.7, 0.75),
		noted(20, 3, 1, 0.3, 0.4)}
	x := train.Experiment{Parameters: hyper.Parameters{StopOn: hyper.StopOnEither}}
	require.Equal(t, "seeds 1, 3 kept epochs 2, 1, with a macro F1 on validation of at most 30.0 %, which later came to "+
		"90.0 %: try --stop-on f1", stoppedEarly(x, results), "what was better before does not count")
	require.Equal(t, "seed 1 kept epoch 2, with a macro F1 on validation of at most 20.0 %, which later came to 90.0 %: "+
		"try --stop-on f1", stoppedEarly(x, results[:2]))
	require.Empty(t, stoppedEarly(x, results[1:2]))
	x.Parameters.StopOn = hyper.StopOnF1
	require.Empty(t, stoppedEarly(x, results))
	x.Parameters.StopOn = hyper.StopOnEither
	require.Empty(t, stoppedEarly(x, []*train.Result{noted(19, 1, 2, 0.5, 0.2, 0.9)}), "a node makes the difference")
}

func TestATrialIsNamedAsCollapsedOnlyWhereThatMeansSomething(t *testing.T) {
	x := train.Experiment{Parameters: hyper.Parameters{StopOn: hyper.StopOnLoss}}
	require.Contains(t, collapsed(x, []*train.Result{noted(20, 1, 1, 0.37, 0.38), noted(20, 2, 1, 0.9)}),
		"seed 1 collapsed: macro F1 on validation is at most 37.0 %, and one class for every node has 37.5 %")
	require.Empty(t, collapsed(x, []*train.Result{noted(19, 1, 1, 0.37, 0.38)}), "a node makes the difference")
	late := []*train.Result{noted(20, 1, 1, 0.2, 0.389)}
	require.Empty(t, collapsed(x, late), "it learnt something later")
	require.Contains(t, stoppedEarly(x, late), "later came to 38.9 %")
	x.Parameters.StopOn = hyper.StopOnF1
	require.Contains(t, collapsed(x, late), "seed 1 collapsed", "what stops on F1 kept the best epoch")
}
