package measure

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/record"
)

func TestShardsHaveEveryCellOnce(t *testing.T) {
	var cells []record.Cell
	for _, model := range hyper.Models() {
		for _, setting := range []datasets.Setting{datasets.Inductive, datasets.Transductive} {
			for _, size := range []int{10, 20, 50} {
				for _, keepRate := range []float64{1, 0.9, 0.5} {
					cells = append(cells, record.NewCell("cora", model, setting, size).Masked(keepRate))
				}
			}
		}
	}
	cells = record.Merged(cells)
	require.Len(t, cells, 6*2*3*3)
	seen := map[string]int{}
	programs := map[string]int{}
	for shard := range 5 {
		o := Options{Seeds: hyper.Seeds(1, 1), Shard: shard, Shards: 5}
		tasks, total := planned(t, cells, nil, "go", o)
		require.NotEmpty(t, tasks)
		require.Equal(t, len(tasks), total)
		for _, task := range tasks {
			seen[task.cell.Key()]++
			if other, ok := programs[programOf(task.cell)]; ok {
				require.Equal(t, other, shard, "cells that share a program stay together: %s", task.cell.Key())
			}
			programs[programOf(task.cell)] = shard
		}
	}
	require.Len(t, seen, len(cells))
	for key, times := range seen {
		require.Equal(t, 1, times, key)
	}
}

func planned(
	t *testing.T, cells []record.Cell, have []record.Record, backend string, o Options,
) (tasks []task, total int) {
	groups, total, err := plan(cells, o, func(c record.Cell, seed uint64) (bool, error) {
		return slices.ContainsFunc(have, func(r record.Record) bool {
			return r.Cell == c.Key() && r.Seed == seed && r.Backend == backend && r.CellOf().Measures(c)
		}), nil
	})
	require.NoError(t, err)
	return slices.Concat(groups...), total
}

// recorded has only the fields that plan reads.
func recorded(c record.Cell, seed uint64) record.Record {
	return record.Record{Cell: c.Key(), Data: c.Data, Setting: c.Setting, TrainPercent: c.TrainPercent,
		Parameters: c.Parameters, Seed: seed, Backend: "go"}
}

func TestTrialsThatLackWhatIsNeededRunAgain(t *testing.T) {
	plain := record.NewCell("cora", "gin", datasets.Inductive, 10)
	cached := plain
	cached.Cached = true
	have := []record.Record{recorded(plain, 1), recorded(plain, 2)}
	tasks, total := planned(t, []record.Cell{plain}, have, "go", Options{Seeds: hyper.Seeds(1, 2)})
	require.Empty(t, tasks)
	require.Equal(t, 2, total)
	tasks, _ = planned(t, []record.Cell{cached}, have, "go", Options{Seeds: hyper.Seeds(1, 2)})
	require.Equal(t, []task{{cached, []uint64{1}, 0}, {cached, []uint64{2}, 1}}, tasks)
	tasks, _ = planned(t, []record.Cell{plain}, have, "xla:cpu", Options{Seeds: hyper.Seeds(1, 1)})
	require.Len(t, tasks, 1, "another backend's trials are not this one's")
}

func TestMaskedCellsOfOneProgramAreDoneTogether(t *testing.T) {
	plain := record.NewCell("cora", "gin", datasets.Inductive, 10)
	other := record.NewCell("cora", "gat", datasets.Inductive, 10)
	groups := grouped([]task{{plain.Masked(0.5), []uint64{1}, 0}, {plain.Masked(0.9), []uint64{1}, 0},
		{plain, []uint64{1}, 0}, {other, []uint64{1}, 0}})
	require.Len(t, groups, 3)
	require.Len(t, groups[0], 2, "the keep rate is an input of the program")
}

func TestTrialsMayBeginAtAnySeed(t *testing.T) {
	cell := record.NewCell("cora", "gin", datasets.Inductive, 10)
	have := []record.Record{recorded(cell, 1), recorded(cell, 101)}
	tasks, total := planned(t, []record.Cell{cell}, have, "go", Options{Seeds: hyper.Seeds(100, 3)})
	require.Equal(t, 3, total)
	require.Len(t, tasks, 2, "the first trial by itself")
	require.Equal(t, []uint64{100}, tasks[0].seeds)
	require.Equal(t, []uint64{102}, tasks[1].seeds)
}
