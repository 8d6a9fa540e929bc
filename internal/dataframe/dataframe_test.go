package dataframe

import (
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func table() Table {
	return Table{
		{Name: "model", Texts: []string{"gin", "sgat, kept"}},
		{Name: "f1", Numbers: []float64{79.3125, math.NaN()}},
		{Name: "seed", Whole: []int64{1, 1<<62 + 1}},
		{Name: "resplit", Flags: []bool{true, false}, Known: []bool{true, false}},
	}
}

func TestCSVLeavesOutWhatIsNotKnown(t *testing.T) {
	var out strings.Builder
	require.NoError(t, table().CSV(&out))
	require.Equal(t, "model,f1,seed,resplit\ngin,79.3125,1,true\n\"sgat, kept\",,4611686018427387905,\n", out.String())
}

func TestTablesThatAreNoneAreRefused(t *testing.T) {
	for want, broken := range map[string]Table{
		`column 2 is called "a": expected a name of its own`: {{Name: "a", Whole: []int64{1}},
			{Name: "a", Whole: []int64{1}}},
		`column "a" has 0 kinds of values`: {{Name: "a"}},
		`column "a" has 2 kinds of values`: {{Name: "a", Whole: []int64{1}, Flags: []bool{true}}},
		`column "b" has 1 values`: {{Name: "a", Whole: []int64{1, 2}},
			{Name: "b", Whole: []int64{1}}},
	} {
		require.ErrorContains(t, broken.CSV(io.Discard), want)
	}
}
