package train

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/gnntest"
)

func TestTrialsThatShareAProgramHaveTheNumbersOfTrialsThatDoNot(t *testing.T) {
	g, err := datasets.SBM(datasets.SBMOptions{Nodes: 150, Classes: 3})
	require.NoError(t, err)
	settings, err := hyper.Preset("standard")
	require.NoError(t, err)
	settings.Hidden, settings.MaxEpochs = 8, 5
	x := Experiment{Graph: g, Parameters: settings.WithMasking(0.3), Setting: datasets.Inductive, TrainPercent: 20, SplitSeed: 1}
	other := x
	other.Parameters.KeepRate = 0.8
	b := gnntest.Go(t)
	shared, alone := NewRunner(b), NewRunner(b)
	defer shared.Close()
	defer alone.Close()
	first, err := shared.Trial(t.Context(), x, 1, nil)
	require.NoError(t, err)
	program := shared.trainer
	second, err := shared.Trial(t.Context(), other, 1, nil)
	require.NoError(t, err)
	require.Same(t, program, shared.trainer, "another keep rate is the same program")
	fresh, err := alone.Trial(t.Context(), other, 1, nil)
	require.NoError(t, err)
	require.Equal(t, fresh.History, second.History)
	require.Equal(t, fresh.Test, second.Test)
	require.NotEqual(t, first.History, second.History, "but another mask")

	plain, zero := x, x
	plain.Parameters.KeepRate, zero.Parameters.KeepRate = 1, 0
	one, err := alone.Trial(t.Context(), plain, 1, nil)
	require.NoError(t, err)
	program = alone.trainer
	none, err := alone.Trial(t.Context(), zero, 1, nil)
	require.NoError(t, err)
	require.Same(t, program, alone.trainer, "no keep rate is that of 1")
	require.Equal(t, one.History, none.History)

	for name, change := range map[string]func(*Experiment){
		"no mask":   func(x *Experiment) { x.Parameters.KeepRate = 1 },
		"size":      func(x *Experiment) { x.TrainPercent = 30 },
		"split":     func(x *Experiment) { x.SplitSeed = 2 },
		"resplit":   func(x *Experiment) { x.Resplit, x.SplitSeed = true, 7 },
		"arrivals":  func(x *Experiment) { x.Arrivals = datasets.TrainEdges },
		"setting":   func(x *Experiment) { x.Setting = datasets.Transductive },
		"dropout":   func(x *Experiment) { x.Parameters.Dropout = 0.1 },
		"mask over": func(x *Experiment) { x.Parameters.MaskOver = hyper.MaskTrain },
		"rescale":   func(x *Experiment) { x.Parameters.Rescale = true },
	} {
		changed := x
		change(&changed)
		program := shared.trainer
		_, err := shared.Trial(t.Context(), changed, 3, nil)
		require.NoError(t, err, name)
		require.NotSame(t, program, shared.trainer, name)
		_, err = shared.Trial(t.Context(), x, 1, nil)
		require.NoError(t, err)
	}
}
