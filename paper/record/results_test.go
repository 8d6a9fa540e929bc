package record_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/record"
	"nodemask/paper/recordtest"
)

func TestOnlyTrialsOfOneSplitAreCompared(t *testing.T) {
	plain := record.NewCell("cora", "gin", datasets.Inductive, 10)
	records := append(recordtest.Records(plain, 50, 51, 52), recordtest.Records(plain.Masked(0.5), 60, 61, 62)...)
	records[4].SplitHash = "another"
	c := record.NewResults(records).Compare(plain.Masked(0.5), record.MacroF1, plain, record.MacroF1)
	require.Equal(t, 2, c.Trials)
	require.Equal(t, 10.0, c.Difference)
	c = record.NewResults(records[:3]).Compare(plain.Masked(0.5), record.MacroF1, plain, record.MacroF1)
	require.Equal(t, record.Comparison{P: 1}, c)
}

func TestTrialsOfOneBackendAreShownTheOneWithMost(t *testing.T) {
	c := record.NewCell("cora", "gin", datasets.Inductive, 10)
	records := recordtest.Records(c, 50, 51, 52)
	records[0], records[2] = records[2], records[0]
	for i := range 2 {
		r := recordtest.Record(c, uint64(i+1), 90)
		r.Backend = "xla:cpu"
		records = append(records, r)
	}
	results := record.NewResults(records)
	require.Equal(t, []float64{50, 51, 52}, results.Values(c, record.MacroF1), "by seed")
	require.Empty(t, results.Values(c, record.MacroF1Together), "trials that did not measure it are left out")
	require.Empty(t, results.Trials(c.Masked(0.5)))
}

// training has readings of one score.
func training(c record.Cell, seed uint64) record.Record {
	return recordtest.Read(c, seed, func(hyper.StopOn, datasets.Arrivals) (float64, float64) { return 80, 79 })
}

func TestATrainingReadsAsACellsRecord(t *testing.T) {
	cell := record.NewCell("cora", "gin", datasets.Inductive, 10).Masked(0.5)
	one := training(cell, 101)
	one.Readings["f1/train-edges"] = record.Reading{F1: 71, Cached: 61, BestEpoch: 2}
	cell.Resplit, cell.Parameters.StopOn, cell.Arrivals = true, hyper.StopOnF1, datasets.TrainEdges
	require.Empty(t, record.NewResults([]record.Record{one}).Trials(cell),
		"a record with readings is not one of a cell that has none")
	results := record.NewResults(record.NewResults([]record.Record{one}).ReadOff(cell))
	require.Equal(t, []float64{71}, results.Values(cell, record.MacroF1))
	require.Equal(t, []float64{61}, results.Values(cell, record.MacroF1Together))
	for _, m := range []record.Metric{record.MicroF1, record.Accuracy, record.MacroF1Apart, record.MADLogits,
		record.NodesCached} {
		require.Empty(t, results.Values(cell, m), "a training does not keep it: %s", m)
	}
	trial := results.Trials(cell)[0]
	require.Equal(t, cell.Key(), trial.CellOf().Key())
	require.Equal(t, uint64(101), trial.Seed)
	require.Equal(t, 2, trial.BestEpoch)
}

func TestTrialsOnOtherFilesAreNotCompared(t *testing.T) {
	one := training(record.NewCell("cora", "gin", datasets.Inductive, 10), 100)
	other := training(record.NewCell("cora", "gin", datasets.Transductive, 25), 100)
	other.SplitHash = "b"
	require.NoError(t, record.NewResults([]record.Record{one, other}).Err(), "another size has another split")
	other.TrainPercent = 10
	require.EqualError(t, record.NewResults([]record.Record{one, other}).Err(),
		`cora, 10 %, seed 100 has the splits "5eed" and "b": `+
			`some trials were run on other files of cora, which order its nodes otherwise; keep them in a folder of their own`)
}
