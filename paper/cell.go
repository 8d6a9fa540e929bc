package paper

import (
	"fmt"
	"strings"

	"nodemask/datasets"
	"nodemask/nmgnn"
)

// Cell is what one number of a table, or one point of a chart, is measured with. Its trials differ in their seed.
type Cell struct {
	Data         string // name of the data set
	Setting      datasets.Setting
	TrainPercent int
	Arrivals     datasets.Arrivals // how new nodes join, in the inductive setting; "" is with all their edges
	Resplit      bool              // each trial has a split of its own
	Settings     nmgnn.Settings

	// Cached also predicts new nodes from cached representations, and History keeps the losses of every epoch. Cells
	// that differ in these alone are one cell, measured with both.
	Cached, History bool
}

// NewCell is a cell with the model's preset.
func NewCell(data, model string, setting datasets.Setting, trainPercent int) Cell {
	settings, err := nmgnn.Preset(nmgnn.PresetFor(model))
	if err != nil {
		panic(err) // PresetFor names presets that exist
	}
	settings.Model = model
	return Cell{Data: data, Setting: setting, TrainPercent: trainPercent, Settings: settings}
}

// Masked is the cell with node masking at a keep rate, and without attention dropout, as in the paper.
func (c Cell) Masked(keepRate float64) Cell {
	c.Settings = c.Settings.WithMasking(keepRate)
	return c
}

// With is the cell with other settings.
func (c Cell) With(change func(*nmgnn.Settings)) Cell {
	change(&c.Settings)
	return c
}

// Key names a cell: the same for all that are measured alike. It lists what differs from the model's preset.
func (c Cell) Key() string {
	parts := []string{c.Data, c.Settings.Model, string(c.Setting), fmt.Sprintf("%d%%", c.TrainPercent)}
	add := func(differs bool, format string, value any) {
		if differs {
			parts = append(parts, fmt.Sprintf(format, value))
		}
	}
	add(c.Arrivals != "" && c.Arrivals != datasets.AllEdges, "arrivals=%s", c.Arrivals)
	add(c.Resplit, "resplit=%v", c.Resplit)
	own, preset := c.Settings, NewCell(c.Data, c.Settings.Model, c.Setting, c.TrainPercent).Settings
	add(own.KeepRate != preset.KeepRate, "keep=%v", own.KeepRate)
	add(own.MaskOver != preset.MaskOver, "over=%s", own.MaskOver)
	add(own.Rescale != preset.Rescale, "rescale=%v", own.Rescale)
	add(own.Regulariser != nmgnn.NoRegulariser, "regulariser=%s", fmt.Sprintf("%s:%v", own.Regulariser, own.RegulariserRate))
	add(own.Layers != preset.Layers, "layers=%d", own.Layers)
	add(own.Hidden != preset.Hidden, "hidden=%d", own.Hidden)
	add(own.MLPLayers != preset.MLPLayers, "mlp=%d", own.MLPLayers)
	add(own.Epsilon != preset.Epsilon, "epsilon=%v", own.Epsilon)
	add(own.LearnEpsilon != preset.LearnEpsilon, "learn-epsilon=%v", own.LearnEpsilon)
	add(own.Heads != preset.Heads, "heads=%d", own.Heads)
	add(own.Dropout != preset.Dropout, "dropout=%v", own.Dropout)
	// Masking takes attention dropout away by itself.
	add(own.AttentionDropout != preset.WithMasking(own.KeepRate).AttentionDropout, "attention-dropout=%v", own.AttentionDropout)
	add(own.LearningRate != preset.LearningRate, "lr=%v", own.LearningRate)
	add(own.WeightDecay != preset.WeightDecay, "decay=%v", own.WeightDecay)
	add(own.NormalizeFeatures != preset.NormalizeFeatures, "normalize=%v", own.NormalizeFeatures)
	add(own.MaxEpochs != preset.MaxEpochs, "epochs=%d", own.MaxEpochs)
	add(own.Patience != preset.Patience, "patience=%d", own.Patience)
	add(own.StopOn != preset.StopOn, "stop=%s", own.StopOn)
	return strings.Join(parts, "/")
}

// Command is what runs trials of the cell by hand.
func (c Cell) Command(trials int) string {
	parts := []string{"nodemask train", "--data", c.Data, "--model", c.Settings.Model, "--setting", string(c.Setting), "--train", fmt.Sprint(c.TrainPercent), "--trials", fmt.Sprint(trials)}
	for _, part := range strings.Split(c.Key(), "/")[4:] {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "keep":
			name = "keep-rate"
		case "over":
			name = "mask-over"
		case "mlp":
			name = "mlp-layers"
		case "lr":
			name = "learning-rate"
		case "decay":
			name = "weight-decay"
		case "epochs":
			name = "max-epochs"
		case "stop":
			name = "stop-on"
		case "normalize":
			parts = append(parts, "--raw-features")
			continue
		case "rescale", "resplit", "learn-epsilon":
			parts = append(parts, "--"+name)
			continue
		case "regulariser":
			regulariser, rate, _ := strings.Cut(value, ":")
			parts = append(parts, "--regulariser", regulariser, "--regulariser-rate", rate)
			continue
		}
		parts = append(parts, "--"+name, value)
	}
	if c.Cached {
		parts = append(parts, "--cache-inference")
	}
	return strings.Join(append(parts, "--json"), " ")
}

// Experiment is the cell as nmgnn runs it, on its data.
func (c Cell) Experiment(g *datasets.Graph) nmgnn.Experiment {
	arrivals := c.Arrivals
	if arrivals == "" {
		arrivals = datasets.AllEdges
	}
	return nmgnn.Experiment{Graph: g, Settings: c.Settings, Setting: c.Setting, Arrivals: arrivals, TrainPercent: c.TrainPercent,
		SplitSeed: 1, Resplit: c.Resplit, Smoothness: true, CacheInference: c.Cached && c.Setting == datasets.Inductive}
}
