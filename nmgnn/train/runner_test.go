package train

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
)

func TestTrialsThatShareAProgramHaveTheNumbersOfTrialsThatDoNot(t *testing.T) {
	g, err := datasets.SBM(datasets.SBMOptions{Nodes: 150, Classes: 3})
	require.NoError(t, err)
	settings, err := Preset("standard")
	require.NoError(t, err)
	settings.Hidden, settings.MaxEpochs = 8, 5
	x := Experiment{Graph: g, Settings: settings.WithMasking(0.3), Setting: datasets.Inductive, TrainPercent: 20, SplitSeed: 1}
	other := x
	other.Settings.KeepRate = 0.8
	b := goBackend(t)
	shared, alone := NewRunner(b), NewRunner(b)
	defer shared.Close()
	defer alone.Close()
	first, err := shared.Run(t.Context(), x, 1, nil)
	require.NoError(t, err)
	program := shared.trainer
	second, err := shared.Run(t.Context(), other, 1, nil)
	require.NoError(t, err)
	require.Same(t, program, shared.trainer, "another keep rate is the same program")
	fresh, err := alone.Run(t.Context(), other, 1, nil)
	require.NoError(t, err)
	require.Equal(t, fresh.History, second.History)
	require.Equal(t, fresh.Test, second.Test)
	require.NotEqual(t, first.History, second.History, "but another mask")

	for name, change := range map[string]func(*Experiment){
		"no mask":   func(x *Experiment) { x.Settings.KeepRate = 1 },
		"size":      func(x *Experiment) { x.TrainPercent = 30 },
		"split":     func(x *Experiment) { x.SplitSeed = 2 },
		"resplit":   func(x *Experiment) { x.Resplit, x.SplitSeed = true, 7 },
		"arrivals":  func(x *Experiment) { x.Arrivals = datasets.TrainEdges },
		"setting":   func(x *Experiment) { x.Setting = datasets.Transductive },
		"dropout":   func(x *Experiment) { x.Settings.Dropout = 0.1 },
		"mask over": func(x *Experiment) { x.Settings.MaskOver = MaskTrain },
		"rescale":   func(x *Experiment) { x.Settings.Rescale = true },
	} {
		changed := x
		change(&changed)
		program := shared.trainer
		_, err := shared.Run(t.Context(), changed, 3, nil)
		require.NoError(t, err, name)
		require.NotSame(t, program, shared.trainer, name)
		_, err = shared.Run(t.Context(), x, 1, nil)
		require.NoError(t, err)
	}
}
