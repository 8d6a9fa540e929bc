package paper

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/record"
)

func TestAnEffectIsTheMeanOverSizesAndItsIntervalIsOverSeeds(t *testing.T) {
	var records []record.Record
	add := func(c record.Cell, seed uint64, f1 float64) {
		records = append(records, record.Record{Cell: c.Key(), Data: c.Data, Setting: c.Setting, TrainPercent: c.TrainPercent, Parameters: c.Parameters,
			Seed: seed, SplitHash: "5eed", MacroF1: f1, Backend: "go"})
	}
	// GCN at two sizes: seed 1 gains 1 and 3 (2 in the mean), seed 2 gains 3 and 5 (4), seed 3 lacks a size.
	for i, size := range []int{10, 50} {
		plain := record.NewCell("cora", "gcn", datasets.Transductive, size)
		for seed := uint64(1); seed <= 2; seed++ {
			add(plain, seed, 70)
			add(plain.Masked(MaskedKeepRate), seed, 70+float64(2*int(seed)-1+2*i))
		}
	}
	plain := record.NewCell("cora", "gcn", datasets.Transductive, 10)
	add(plain, 3, 70)
	add(plain.Masked(MaskedKeepRate), 3, 90)
	f := Effects(record.NewResults(records))
	require.Len(t, f.Groups, 1)
	require.Len(t, f.Groups[0].Rows, 1)
	e := f.Groups[0].Rows[0]
	assert.Equal(t, "GCN, Cora, transductive", e.Label)
	assert.Equal(t, "(2)", e.Note)
	assert.InDelta(t, 3, e.Value, 1e-12)
	// Of 2 and 4: standard deviation √2, standard error 1, and Student's t with one degree of freedom at 97.5 % is 12.706.
	assert.InDelta(t, 3-12.706, e.Low, 1e-3)
	assert.InDelta(t, 3+12.706, e.High, 1e-3)
}
