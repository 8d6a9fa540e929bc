package measure

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/internal/memory"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/record"
)

// The two masked trainingCells differ only in inputs of a compiled program.
func trainingCells() []record.Cell {
	quick := func(p *hyper.Parameters) { p.Hidden, p.MaxEpochs = 8, 4 }
	plain := record.NewCell("sbm", "gin", datasets.Inductive, 20).With(quick)
	slow := plain.Masked(0.5).With(func(p *hyper.Parameters) { p.LearningRate = 0.005 })
	other := record.NewCell("sbm", "gin", datasets.Transductive, 20).With(quick)
	other.Parameters.StopOn = hyper.StopOnF1 // differ only in how they are read
	return []record.Cell{plain.Trained(), plain.Masked(0.5).Trained(), slow.Trained(), other.Trained(),
		other.With(func(p *hyper.Parameters) { p.StopOn = hyper.StopOnLoss }).Trained()}
}

func trainingOptions() (o Options, opened *atomic.Int32) {
	o, opened = tinyOptions()
	o.Seeds, o.Batch, o.Protocol = hyper.Seeds(100, 3), 2, "rules"
	return o, opened
}

func TestTrajectoriesThatAreMissingAreRunAndOnlyThose(t *testing.T) {
	b, store := openGo(t), record.Open(t.TempDir())
	o, opened := trainingOptions()
	var last State
	o.Progress = func(s State) { last = s }
	require.NoError(t, Missing(t.Context(), b, store, trainingCells(), o))
	require.Equal(t, 12, last.Done, "4 trainings, 3 splits")
	require.Equal(t, 12, last.Total)
	require.EqualValues(t, 1, opened.Load())
	all := loaded(t, store)
	require.Len(t, all, 12)
	splits := map[uint64]map[string]bool{}
	for _, training := range all {
		require.Equal(t, "rules", training.Protocol)
		if splits[training.Seed] == nil {
			splits[training.Seed] = map[string]bool{}
		}
		splits[training.Seed][training.SplitHash] = true
	}
	require.Len(t, splits, 3)
	for _, hashes := range splits {
		require.Len(t, hashes, 1, "all trainings of a seed have its split")
	}

	// Complete: nothing runs. With one more split: one trial each.
	last = State{}
	require.NoError(t, Missing(t.Context(), b, store, trainingCells(), o))
	require.Zero(t, last.Done)
	o.Seeds = hyper.Seeds(100, 4)
	require.NoError(t, Missing(t.Context(), b, store, trainingCells(), o))
	require.Equal(t, 16, last.Done)
	require.Equal(t, 12, last.Before)

	differences, err := Again(t.Context(), b, o.Open, all[0], 1<<40)
	require.NoError(t, err)
	require.Empty(t, differences)
	name := all[0].CellOf().ReadingName()
	one := all[0].Readings[name]
	one.F1++
	all[0].Readings[name] = one
	differences, err = Again(t.Context(), b, o.Open, all[0], 1<<40)
	require.NoError(t, err)
	require.Len(t, differences, 1)
	require.Contains(t, differences[0], name+": ")
}

func TestARecordThatAsksForTooMuchIsRefused(t *testing.T) {
	b := openGo(t)
	g, err := datasets.SBM(t.Context(), datasets.SBMOptions{Nodes: 60, Classes: 2, MeanDegree: 4, Seed: 1})
	require.NoError(t, err)
	opened := 0
	open := func(context.Context, string) (*datasets.Graph, error) { opened++; return g, nil }
	p, err := hyper.For("gin")
	require.NoError(t, err)
	p.Hidden, p.Layers = 1<<16, 3
	cell := record.Cell{Data: "two camps", Setting: datasets.Transductive, TrainPercent: 30, Parameters: p}
	_, err = within(t.Context(), b, open, cell, 2<<30)
	require.ErrorIs(t, err, memory.ErrTooLarge)
	require.ErrorContains(t, err, "3 layers of width 65536 on 60 nodes take about ")
	cell.Parameters.Hidden = 64
	_, err = within(t.Context(), b, open, cell, 2<<30)
	require.NoError(t, err)
	require.Equal(t, 2, opened)
	for _, name := range []string{"sbm:nodes=50000000", "sbm:nodes=1000000,degree=1000"} {
		cell.Data = name
		_, err = within(t.Context(), b, open, cell, 2<<30)
		require.ErrorIs(t, err, memory.ErrTooLarge, name)
		require.ErrorContains(t, err, name+" takes about ")
	}
	require.Equal(t, 2, opened, "what is too large is not made")
	for _, name := range []string{"sbm:nodes=3000,degree=6", "cora", "a/b:scale=100"} {
		cell.Data = name
		_, err = within(t.Context(), b, open, cell, 2<<30)
		require.NoError(t, err, name)
	}
}
