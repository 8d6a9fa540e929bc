package record

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
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
	column := func(name string) []string {
		at := slices.Index(table[0], name)
		require.GreaterOrEqual(t, at, 0, name)
		return []string{table[1][at], table[2][at]}
	}
	for name, want := range map[string][]string{"data": {"cora", "my, data"}, "model": {"gin", "gat"},
		"keep_rate": {"0.5", "1"}, "raw_features": {"false", "true"}, "arrivals": {"all-edges", ""}, "seed": {"3", "4"},
		"macro_f1": {"60.25", "80"}, "macro_f1_from_cache": {"61.5", ""}, "nodes": {"2464", ""}} {
		require.Equal(t, want, column(name), name)
	}
	for _, axis := range Axes() {
		column(flagColumn(axis))
	}
}
