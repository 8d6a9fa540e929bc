package nmgnn

import (
	"fmt"
	"slices"
	"strings"

	"nodemask/datasets"
)

// Settings describe a model and its training in names and numbers alone: what a command takes and a record keeps.
// Start from [Preset] and change what is to differ.
type Settings struct {
	Preset string `json:"preset"` // where the values came from
	Model  string `json:"model"`  // one of [Models]

	Layers    int     `json:"layers"`     // depth k
	Hidden    int     `json:"hidden"`     // width of all layers but the last
	MLPLayers int     `json:"mlp_layers"` // linear layers in each GIN layer's MLP
	Epsilon   float64 `json:"epsilon"`    // of GIN
	Dropout   float64 `json:"dropout"`    // on the input of every layer: probability of being dropped

	KeepRate float64  `json:"keep_rate"` // node masking: probability of being kept; 1 is inactive
	MaskOver MaskOver `json:"mask_over"` // which nodes can be masked
	Rescale  bool     `json:"rescale"`   // divide what is kept by KeepRate; not in the paper

	LearningRate      float64 `json:"learning_rate"`
	WeightDecay       float64 `json:"weight_decay"`
	NormalizeFeatures bool    `json:"normalize_features"`
	MaxEpochs         int     `json:"max_epochs"`
	Patience          int     `json:"patience"`
	StopOn            StopOn  `json:"stop_on"`
}

// MaskOver names the nodes that can be masked.
type MaskOver string

const (
	MaskAll   MaskOver = "all"   // every node of the train graph
	MaskTrain MaskOver = "train" // the train nodes; in the inductive setting these are all there are
)

// Models lists the names of models.
func Models() []string { return []string{"gin"} }

// Presets lists the names of presets.
func Presets() []string { return []string{"standard"} }

// Preset returns settings by name. "standard" is GIN-0 as it reproduces the paper's results without node masking: the
// paper leaves most of this open.
func Preset(name string) (Settings, error) {
	if name != "standard" {
		return Settings{}, fmt.Errorf("no preset %q: known are %s", name, strings.Join(Presets(), ", "))
	}
	return Settings{
		Preset: name, Model: "gin", Layers: 2, Hidden: 64, MLPLayers: 1, Dropout: 0.5,
		KeepRate: 1, MaskOver: MaskAll,
		LearningRate: 0.01, WeightDecay: 5e-4, NormalizeFeatures: true,
		MaxEpochs: 1000, Patience: 50, StopOn: StopOnLoss,
	}, nil
}

// Check returns an error that names the setting which cannot be, and what it can be.
func (s Settings) Check() error {
	if !slices.Contains(Models(), s.Model) {
		return fmt.Errorf("no model %q: known are %s", s.Model, strings.Join(Models(), ", "))
	}
	for _, count := range []struct {
		name  string
		value int
		most  int
	}{{"layers", s.Layers, 128}, {"hidden width", s.Hidden, 1 << 16}, {"linear layers of an MLP", s.MLPLayers, 16},
		{"epochs", s.MaxEpochs, 1 << 30}, {"patience", s.Patience, 1 << 30}} {
		if count.value < 1 || count.value > count.most {
			return fmt.Errorf("%s: %d: expected 1 to %d", count.name, count.value, count.most)
		}
	}
	if !(s.KeepRate > 0 && s.KeepRate <= 1) {
		return fmt.Errorf("keep rate %v: expected a probability above 0 and up to 1, where 1 keeps every node", s.KeepRate)
	}
	if s.MaskOver != MaskAll && s.MaskOver != MaskTrain {
		return fmt.Errorf("no masking over %q: expected %q or %q", s.MaskOver, MaskAll, MaskTrain)
	}
	if err := (Model{Layers: []Layer{GIN{}}, Dropout: s.Dropout}).Check(); err != nil {
		return err
	}
	return s.options().withDefaults().check()
}

// Build makes the model for a number of classes.
func (s Settings) Build(classes int) Model {
	m := Model{Dropout: s.Dropout}
	for i := range s.Layers {
		out := s.Hidden
		if i == s.Layers-1 {
			out = classes
		}
		width := make([]int, s.MLPLayers)
		for j := range width {
			width[j] = s.Hidden
		}
		width[len(width)-1] = out
		m.Layers = append(m.Layers, GIN{Width: width, Epsilon: s.Epsilon})
	}
	return m
}

// Options are the settings of training on a view.
func (s Settings) Options(view *datasets.View) TrainOptions {
	o := s.options()
	if s.MaskOver == MaskTrain {
		o.Mask.Only = view.Train.Score
	}
	return o
}

func (s Settings) options() TrainOptions {
	return TrainOptions{
		Mask:         Mask{KeepRate: s.KeepRate, Rescale: s.Rescale},
		LearningRate: s.LearningRate, WeightDecay: s.WeightDecay, NormalizeFeatures: s.NormalizeFeatures,
		MaxEpochs: s.MaxEpochs, Patience: s.Patience, StopOn: s.StopOn,
	}
}
