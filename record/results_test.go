package record

import (
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
)

// scored makes records of a cell with these scores, from seed 1 on.
func scored(c Cell, f1 ...float64) []Record {
	var records []Record
	for i, x := range f1 {
		records = append(records, recordOf(c, uint64(i+1), x))
	}
	return records
}

func TestOnlyTrialsOfOneSplitAreCompared(t *testing.T) {
	plain := NewCell("cora", "gin", datasets.Inductive, 10)
	records := append(scored(plain, 50, 51, 52), scored(plain.Masked(0.5), 60, 61, 62)...)
	records[4].SplitHash = "another"
	c := NewResults(records).Compare(plain.Masked(0.5), MacroF1, plain, MacroF1)
	require.Equal(t, 2, c.Trials)
	require.Equal(t, 10.0, c.Difference)
	require.Equal(t, Comparison{P: 1}, NewResults(records[:3]).Compare(plain.Masked(0.5), MacroF1, plain, MacroF1))
}

func TestTrialsOfOneBackendAreShownTheOneWithMost(t *testing.T) {
	c := NewCell("cora", "gin", datasets.Inductive, 10)
	records := scored(c, 50, 51, 52)
	records[0], records[2] = records[2], records[0]
	for i := range 2 {
		r := recordOf(c, uint64(i+1), 90)
		r.Backend = "xla:cpu"
		records = append(records, r)
	}
	results := NewResults(records)
	require.Equal(t, []float64{50, 51, 52}, results.Values(c, MacroF1), "by seed")
	require.Empty(t, results.Values(c, MacroF1Together), "trials that did not measure it are left out")
	require.Empty(t, results.Trials(c.Masked(0.5)))
}
