package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/train"
	"nodemask/stats"
)

func TestTrialsThatStopTooEarlyAreNamed(t *testing.T) {
	trial := func(seed uint64, best int, f1 ...float64) *train.Result {
		r := &train.Result{Trial: &train.Trial{Seed: seed, BestEpoch: best, Validation: stats.Metrics{MacroF1: f1[best-1]}}}
		for _, v := range f1 {
			r.History = append(r.History, train.Epoch{ValidationF1: v})
		}
		return r
	}
	results := []*train.Result{trial(1, 2, 0.5, 0.2, 0.9), trial(2, 3, 0.9, 0.8, 0.7, 0.75), trial(3, 1, 0.3, 0.4)}
	x := train.Experiment{Parameters: hyper.Parameters{StopOn: hyper.StopOnEither}}
	require.Equal(t, "seeds 1, 3 kept epochs 2, 1, with a macro F1 on validation of at most 30.0 %, which later came to "+
		"90.0 %: try --stop-on f1", stoppedEarly(x, results), "what was better before does not count")
	require.Equal(t, "seed 1 kept epoch 2, with a macro F1 on validation of at most 20.0 %, which later came to 90.0 %: "+
		"try --stop-on f1", stoppedEarly(x, results[:2]))
	require.Empty(t, stoppedEarly(x, results[1:2]))
	x.Parameters.StopOn = hyper.StopOnF1
	require.Empty(t, stoppedEarly(x, results))
}
