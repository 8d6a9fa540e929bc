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
	Hidden    int     `json:"hidden"`     // width of all layers but the last, all heads together
	MLPLayers int     `json:"mlp_layers"` // linear layers in each GIN layer's MLP
	Epsilon   float64 `json:"epsilon"`    // of GIN
	Dropout   float64 `json:"dropout"`    // on the input of every layer: probability of being dropped

	LearnEpsilon     bool    `json:"learn_epsilon,omitempty"`     // GIN-ε
	Heads            int     `json:"heads,omitempty"`             // of GAT and GATv2, in all layers but the last, which has one; in SGAT they matter to attention dropout alone
	AttentionDropout float64 `json:"attention_dropout,omitempty"` // of GAT, SGAT and GATv2: probability of an attention weight being dropped

	Regulariser     RegulariserName `json:"regulariser,omitempty"`      // beside or instead of node masking; "" is none
	RegulariserRate float64         `json:"regulariser_rate,omitempty"` // probability of what it drops being dropped

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

// RegulariserName names a [Regulariser], or dropout as one.
type RegulariserName string

const (
	NoRegulariser       RegulariserName = ""
	DropEdgeRegulariser RegulariserName = "dropedge"
	DropNodeRegulariser RegulariserName = "dropnode"
	DropoutRegulariser  RegulariserName = "dropout" // Dropout at RegulariserRate instead of the preset's
)

// Regularisers lists the names of regularisers.
func Regularisers() []RegulariserName {
	return []RegulariserName{DropEdgeRegulariser, DropNodeRegulariser, DropoutRegulariser}
}

// Models lists the names of models.
func Models() []string { return []string{"gin", "gat", "sgat", "gcn", "sage", "gatv2"} }

// attends says whether a model has attention heads.
func attends(model string) bool { return model == "gat" || model == "gatv2" }

// drawsPerHead says whether heads share the width.
func (s Settings) drawsPerHead() bool {
	return attends(s.Model) || s.Model == "sgat" && s.AttentionDropout > 0
}

// Presets lists the names of presets.
func Presets() []string { return []string{"standard", "gat"} }

// PresetFor names the preset of a model: "gat" for the models that the original GAT paper's settings are for, else
// "standard".
func PresetFor(model string) string {
	if attends(model) || model == "sgat" {
		return "gat"
	}
	return "standard"
}

// Preset returns settings by name. "standard" is GIN-0 as it reproduces the paper's results without node masking: the
// paper leaves most of this open. "gat" is GAT as its authors set it for Cora (Veličković et al. 2018), with the
// paper's early stopping.
func Preset(name string) (Settings, error) {
	s := Settings{
		Preset: name, Model: "gin", Layers: 2, Hidden: 64, MLPLayers: 1, Dropout: 0.5,
		KeepRate: 1, MaskOver: MaskAll,
		LearningRate: 0.01, WeightDecay: 5e-4, NormalizeFeatures: true,
		MaxEpochs: 1000, Patience: 50, StopOn: StopOnLoss,
	}
	switch name {
	case "standard":
	case "gat":
		s.Model, s.Heads, s.Dropout, s.AttentionDropout, s.LearningRate = "gat", 8, 0.6, 0.6, 0.005
	default:
		return Settings{}, fmt.Errorf("no preset %q: known are %s", name, strings.Join(Presets(), ", "))
	}
	return s, nil
}

// WithMasking is the settings with node masking at a keep rate. Below 1 attention dropout goes, as in the paper; to have
// both, set AttentionDropout afterwards.
func (s Settings) WithMasking(keepRate float64) Settings {
	if s.KeepRate = keepRate; keepRate != 1 {
		s.AttentionDropout = 0
	}
	return s
}

// Check returns an error that names the setting which cannot be, and what it can be.
func (s Settings) Check() error {
	if !slices.Contains(Models(), s.Model) {
		return fmt.Errorf("no model %q: known are %s", s.Model, strings.Join(Models(), ", "))
	}
	counts := []struct {
		name  string
		value int
		most  int
	}{{"layers", s.Layers, 128}, {"hidden width", s.Hidden, 1 << 16}, {"linear layers of an MLP", s.MLPLayers, 16},
		{"epochs", s.MaxEpochs, 1 << 30}, {"patience", s.Patience, 1 << 30}}
	if attends(s.Model) {
		counts = append(counts, struct {
			name  string
			value int
			most  int
		}{"attention heads", s.Heads, 1024})
	}
	for _, count := range counts {
		if count.value < 1 || count.value > count.most {
			return fmt.Errorf("%s: %d: expected 1 to %d", count.name, count.value, count.most)
		}
	}
	if s.drawsPerHead() && s.Layers > 1 && s.Hidden%max(s.Heads, 1) != 0 {
		return fmt.Errorf("hidden width %d: expected a multiple of the %d attention heads that share it", s.Hidden, s.Heads)
	}
	if !(s.KeepRate > 0 && s.KeepRate <= 1) {
		return fmt.Errorf("keep rate %v: expected a probability above 0 and up to 1, where 1 keeps every node", s.KeepRate)
	}
	if s.MaskOver != MaskAll && s.MaskOver != MaskTrain {
		return fmt.Errorf("no masking over %q: expected %q or %q", s.MaskOver, MaskAll, MaskTrain)
	}
	if s.Regulariser != NoRegulariser && !slices.Contains(Regularisers(), s.Regulariser) {
		return fmt.Errorf("no regulariser %q: known are %v", s.Regulariser, Regularisers())
	}
	if s.Regulariser == NoRegulariser && s.RegulariserRate != 0 {
		return fmt.Errorf("a regulariser's rate of %v without a regulariser: known are %v", s.RegulariserRate, Regularisers())
	}
	for what, rate := range map[string]float64{"dropout": s.Dropout, "attention dropout": s.AttentionDropout, "regulariser's rate": s.RegulariserRate} {
		if err := checkRate(what, rate); err != nil {
			return err
		}
	}
	return s.options().withDefaults().check()
}

// Build makes the model for a number of classes.
func (s Settings) Build(classes int) Model {
	m := Model{Dropout: s.Dropout}
	if s.Regulariser == DropoutRegulariser {
		m.Dropout = s.RegulariserRate
	}
	if PresetFor(s.Model) == "gat" {
		m.Activation = ELU
	}
	for i := range s.Layers {
		width, heads := s.Hidden, s.Heads
		if i == s.Layers-1 {
			width, heads = classes, 1
		}
		m.Layers = append(m.Layers, s.layer(width, heads))
	}
	return m
}

// layer makes a layer with so many outputs, all heads together.
func (s Settings) layer(width, heads int) Layer {
	switch s.Model {
	case "gat":
		return GAT{Heads: heads, Width: width / heads, Dropout: s.AttentionDropout}
	case "gatv2":
		return GATv2{Heads: heads, Width: width / heads, Dropout: s.AttentionDropout}
	case "sgat":
		return SGAT{Width: width, Dropout: s.AttentionDropout, Heads: heads}
	case "gcn":
		return GCN{Width: width}
	case "sage":
		return SAGE{Width: width}
	}
	mlp := slices.Repeat([]int{s.Hidden}, s.MLPLayers)
	mlp[len(mlp)-1] = width
	return GIN{Width: mlp, Epsilon: s.Epsilon, LearnEpsilon: s.LearnEpsilon}
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
	var r Regulariser
	switch s.Regulariser {
	case DropEdgeRegulariser:
		r = DropEdge{Rate: s.RegulariserRate}
	case DropNodeRegulariser:
		r = DropNode{Rate: s.RegulariserRate}
	}
	return TrainOptions{
		Regulariser:  r,
		Mask:         Mask{KeepRate: s.KeepRate, Rescale: s.Rescale},
		LearningRate: s.LearningRate, WeightDecay: s.WeightDecay, NormalizeFeatures: s.NormalizeFeatures,
		MaxEpochs: s.MaxEpochs, Patience: s.Patience, StopOn: s.StopOn,
	}
}
