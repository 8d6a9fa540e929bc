package record

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/internal/dataframe"
	"nodemask/nmgnn/hyper"
)

func TestRecordsAreATidyTable(t *testing.T) {
	gin := NewCell("cora", "gin", datasets.Inductive, 10).Masked(0.5)
	gat := NewCell("my, data", "gat", datasets.Transductive, 50).
		With(func(p *hyper.Parameters) { p.NormalizeFeatures = false })
	f1 := 61.5
	table := Tidy([]Record{
		{Cell: gin.Key(), Data: gin.Data, Setting: gin.Setting, TrainPercent: 10, Parameters: gin.Parameters, Seed: 3,
			SplitSeed: 1, MacroF1: 60.25, Accuracy: 62, MacroF1Together: &f1, Nodes: 2464, Backend: "go"},
		{Cell: gat.Key(), Data: gat.Data, Setting: gat.Setting, TrainPercent: 50, Parameters: gat.Parameters, Seed: 4,
			SplitSeed: 4, MacroF1: 80, Accuracy: 81, Backend: "xla:cpu"},
	})
	require.NoError(t, table.Check())
	column := func(name string) dataframe.Column {
		for _, c := range table {
			if c.Name == name {
				return c
			}
		}
		require.Fail(t, "no column", name)
		return dataframe.Column{}
	}
	require.Equal(t, []string{"cora", "my, data"}, column("data").Texts)
	require.Equal(t, []string{"gin", "gat"}, column("model").Texts)
	require.Equal(t, []float64{0.5, 1}, column("keep_rate").Numbers)
	require.Equal(t, []bool{false, true}, column("raw_features").Flags, "the flag, not the axis, which says the reverse")
	require.Equal(t, []bool{true, false}, column("arrivals").Known, "nobody arrives in the transductive setting")
	require.Equal(t, []int64{3, 4}, column("seed").Whole)
	require.Equal(t, []float64{60.25, 80}, column("macro_f1").Numbers)
	require.Equal(t, 61.5, column("macro_f1_from_cache").Numbers[0])
	require.True(t, math.IsNaN(column("macro_f1_from_cache").Numbers[1]))
	require.True(t, math.IsNaN(column("nodes").Numbers[1]))
	for _, axis := range Axes() {
		require.NotPanics(t, func() { column(flagColumn(axis)) }, axis.Name)
	}
}
