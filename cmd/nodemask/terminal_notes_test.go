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

func TestPoorTrialsAreNamedWithWhatToTry(t *testing.T) {
	results := []*train.Result{noted(20, 1, 2, 0.5, 0.2, 0.9), noted(20, 2, 3, 0.9, 0.8, 0.7, 0.75),
		noted(20, 3, 1, 0.3, 0.4), noted(20, 4, 1, 0.37, 0.38), noted(19, 5, 1, 0.37, 0.9)}
	x := train.Experiment{Parameters: hyper.Parameters{StopOn: hyper.StopOnEither, LearningRate: 0.01}}
	require.Equal(t, []string{"collapsed (seed 4): macro F1 on validation is hardly that of one class for every node: try " +
		"--set raw-features=false, or a --learning-rate below 0.01", "stopped early (seed 1, 3): after the epoch that was kept, " +
		"macro F1 on validation came to 10 points more: try --stop-on f1"}, poorTrials(x, results))
	x.Parameters.StopOn = hyper.StopOnF1
	require.Regexp(t, `^collapsed \(seed 1, 3, 4\): `, poorTrials(x, results)[0], "what stops on F1 kept the best epoch")
}
