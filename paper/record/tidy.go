package record

import (
	"math"
	"strconv"
	"strings"

	"nodemask/datasets"
	"nodemask/internal/dataframe"
)

// Tidy returns a table with a row per trial: what was trained, a column per axis ([Axes]), seeds, split, scores in
// percent, and the machine; no losses of epochs. Columns are typed by their values; missing scores are unknown.
func Tidy(records []Record) dataframe.Table {
	texts := func(name string, of func(Record) string) dataframe.Column {
		values := each(records, of)
		return dataframe.Column{Name: name, Texts: values, Known: each(values, func(text string) bool { return text != "" })}
	}
	whole := func(name string, of func(Record) int64) dataframe.Column {
		return dataframe.Column{Name: name, Whole: each(records, of)}
	}
	numbers := func(name string, of func(Record) (float64, bool)) dataframe.Column {
		return dataframe.Column{Name: name, Numbers: each(records, func(r Record) float64 {
			if value, ok := of(r); ok {
				return value
			}
			return math.NaN()
		})}
	}
	t := dataframe.Table{
		texts("data", func(r Record) string { return r.Data }),
		texts("model", func(r Record) string { return r.Parameters.Model }),
		texts("setting", func(r Record) string { return string(r.Setting) }),
		whole("train_percent", func(r Record) int64 { return int64(r.TrainPercent) }),
	}
	for _, axis := range Axes() {
		t = append(t, typed(texts(flagColumn(axis), func(r Record) string {
			if axis.Name == "arrivals" && r.Setting != datasets.Inductive {
				return "" // no nodes arrive
			}
			value := axis.Get(r.CellOf())
			if axis.Switch != "" { // the flag may negate the axis
				value = strconv.FormatBool(value == axis.Switch)
			}
			return value
		})))
	}
	t = append(t,
		whole("seed", func(r Record) int64 { return int64(r.Seed) }),
		whole("split_seed", func(r Record) int64 { return int64(r.SplitSeed) }),
		texts("split_hash", func(r Record) string { return r.SplitHash }))
	for _, score := range []struct {
		name   string
		metric Metric
	}{
		{"macro_f1", MacroF1}, {"micro_f1", MicroF1}, {"accuracy", Accuracy},
		{"macro_f1_from_cache", MacroF1Together}, {"macro_f1_from_cache_apart", MacroF1Apart},
		{"mad_hidden", MADHidden}, {"mad_logits", MADLogits}, {"mad_probabilities", MADSoftmax},
		{"nodes", Nodes}, {"nodes_reached", NodesReached}, {"nodes_from_cache", NodesCached},
	} {
		t = append(t, numbers(score.name, score.metric.Of))
	}
	return append(t,
		numbers("validation_macro_f1", func(r Record) (float64, bool) { return r.ValidationF1, true }),
		numbers("validation_loss", func(r Record) (float64, bool) { return r.Loss, true }),
		whole("best_epoch", func(r Record) int64 { return int64(r.BestEpoch) }),
		whole("epochs", func(r Record) int64 { return int64(r.Epochs) }),
		numbers("seconds", func(r Record) (float64, bool) { return r.Seconds, true }),
		texts("backend", func(r Record) string { return r.Backend }),
		texts("kernels", func(r Record) string { return r.Kernels }),
		texts("digits", func(r Record) string { return r.Digits }),
		texts("device", func(r Record) string { return r.Device }),
		texts("version", func(r Record) string { return r.Version }),
		texts("date", func(r Record) string { return r.Date }),
		texts("cell", func(r Record) string { return r.Cell }))
}

func each[S, T any](all []S, of func(S) T) []T {
	values := make([]T, len(all))
	for i, x := range all {
		values[i] = of(x)
	}
	return values
}

// typed makes numbers or flags of texts that all are such.
func typed(c dataframe.Column) dataframe.Column {
	numbers, flags := make([]float64, len(c.Texts)), make([]bool, len(c.Texts))
	allNumbers, allFlags, some := true, true, false
	for i, text := range c.Texts {
		numbers[i] = math.NaN()
		if !c.Known[i] {
			continue
		}
		some = true
		var err error
		if numbers[i], err = strconv.ParseFloat(text, 64); err != nil {
			allNumbers = false
		}
		flags[i] = text == "true"
		allFlags = allFlags && (flags[i] || text == "false")
	}
	switch {
	case some && allNumbers:
		return dataframe.Column{Name: c.Name, Numbers: numbers}
	case some && allFlags:
		return dataframe.Column{Name: c.Name, Flags: flags, Known: c.Known}
	}
	return c
}

func flagColumn(a Axis) string { return strings.ReplaceAll(a.Flag, "-", "_") }
