package record

import (
	"fmt"
	"strconv"
	"strings"

	"nodemask/datasets"
)

// Tidy returns a header, then a row per trial: cell, a column per axis ([Axes]), seeds, split, scores in percent, and
// machine. Missing values are empty.
func Tidy(records []Record) [][]string {
	type column struct {
		name string
		of   func(Record) any
	}
	columns := []column{
		{"data", func(r Record) any { return r.Data }},
		{"model", func(r Record) any { return r.Parameters.Model }},
		{"setting", func(r Record) any { return r.Setting }},
		{"train_percent", func(r Record) any { return r.TrainPercent }},
	}
	for _, axis := range Axes() {
		columns = append(columns, column{flagColumn(axis), func(r Record) any {
			if axis.Name == "arrivals" && r.Setting != datasets.Inductive {
				return "" // without new nodes
			}
			value := axis.Get(r.CellOf())
			if axis.Switch != "" { // the flag may negate the axis
				return value == axis.Switch
			}
			return value
		}})
	}
	columns = append(columns,
		column{"seed", func(r Record) any { return r.Seed }},
		column{"split_seed", func(r Record) any { return r.SplitSeed }},
		column{"split_hash", func(r Record) any { return r.SplitHash }})
	for _, score := range []struct {
		name   string
		metric Metric
	}{
		{"macro_f1", MacroF1}, {"micro_f1", MicroF1}, {"accuracy", Accuracy}, {"auc", AUC},
		{"macro_f1_from_cache", MacroF1Together}, {"macro_f1_from_cache_apart", MacroF1Apart},
		{"mad_hidden", MADHidden}, {"mad_logits", MADLogits}, {"mad_probabilities", MADSoftmax},
		{"nodes", Nodes}, {"nodes_reached", NodesReached}, {"nodes_from_cache", NodesCached},
	} {
		columns = append(columns, column{score.name, func(r Record) any {
			if value, ok := score.metric.Of(r); ok {
				return value
			}
			return ""
		}})
	}
	columns = append(columns,
		column{"validation_macro_f1", func(r Record) any { return r.ValidationF1 }},
		column{"validation_loss", func(r Record) any { return r.Loss }},
		column{"best_epoch", func(r Record) any { return r.BestEpoch }},
		column{"epochs", func(r Record) any { return r.Epochs }},
		column{"seconds", func(r Record) any { return r.Seconds }},
		column{"backend", func(r Record) any { return r.Backend }},
		column{"kernels", func(r Record) any { return r.Kernels }},
		column{"digits", func(r Record) any { return r.Digits }},
		column{"device", func(r Record) any { return r.Device }},
		column{"version", func(r Record) any { return r.Version }},
		column{"date", func(r Record) any { return r.Date }},
		column{"cell", func(r Record) any { return r.Cell }})
	rows := make([][]string, len(records)+1)
	for i := range rows {
		for _, c := range columns {
			text := c.name
			if i > 0 {
				text = fieldText(c.of(records[i-1]))
			}
			rows[i] = append(rows[i], text)
		}
	}
	return rows
}

// fieldText writes numbers in the fewest digits that tell them apart.
func fieldText(value any) string {
	if x, ok := value.(float64); ok {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return fmt.Sprint(value)
}

func flagColumn(a Axis) string { return strings.ReplaceAll(a.Flag, "-", "_") }
