// Package hyper holds the hyperparameters of models and their training. nmgnn.Build makes a model from them.
package hyper

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Parameters are the hyperparameters of a model and its training. Start from [Preset].
type Parameters struct {
	Preset string `json:"preset"`
	Model  string `json:"model"` // one of [Models]

	Layers    int     `json:"layers"`
	Hidden    int     `json:"hidden"`     // width of all layers but the last, summed over heads
	MLPLayers int     `json:"mlp_layers"` // linear layers in each GIN layer's MLP
	Epsilon   float64 `json:"epsilon"`    // ε of GIN
	Dropout   float64 `json:"dropout"`    // probability of dropping an entry of a layer's input

	LearnEpsilon bool      `json:"learn_epsilon,omitempty"` // GIN-ε
	Norm         Norm      `json:"norm,omitempty"`          // batch normalisation in GIN
	Readout      Readout   `json:"readout,omitempty"`       // how logits are computed
	DropoutOn    DropoutOn `json:"dropout_on,omitempty"`    // where Dropout applies; "" means every layer's input
	// add a layer's input to its output if their widths are equal
	Residual bool `json:"residual,omitempty"`
	// attention heads in the hidden layers of GAT and GATv2, and of SGAT if it has attention dropout
	Heads int `json:"heads,omitempty"`
	// probability of dropping an attention weight, in GAT, SGAT and GATv2
	AttentionDropout float64 `json:"attention_dropout,omitempty"`

	// addition or alternative to node masking; "" means none
	Regulariser     RegulariserName `json:"regulariser,omitempty"`
	RegulariserRate float64         `json:"regulariser_rate,omitempty"`

	KeepRate KeepRate `json:"keep_rate"`
	MaskOver MaskOver `json:"mask_over"`
	Rescale  bool     `json:"rescale"` // divide kept contributions by KeepRate; not in the paper
	// whether masking a node in GAT, SGAT and GATv2 also masks the node's own term in its attention sum
	SelfTerm SelfTerm `json:"self_term,omitempty"`

	LearningRate      float64 `json:"learning_rate"`
	WeightDecay       float64 `json:"weight_decay"`
	NormalizeFeatures bool    `json:"normalize_features"`
	MaxEpochs         int     `json:"max_epochs"`
	Patience          int     `json:"patience"`
	StopOn            StopOn  `json:"stop_on"`
}

// StopOn names the validation score that early stopping monitors.
type StopOn string

const (
	StopOnLoss     StopOn = "loss"     // the best epoch has the lowest validation loss
	StopOnF1       StopOn = "f1"       // the best epoch has the highest validation macro F1
	StopOnAccuracy StopOn = "accuracy" // the best epoch has the highest validation accuracy
	// StopOnEither is the rule of GAT's authors: patience counts from the last epoch with the best loss or accuracy so
	// far; the kept weights are from the last epoch in which both were the best so far.
	StopOnEither StopOn = "either"
)

// StopOns returns all values of [StopOn].
func StopOns() []StopOn { return []StopOn{StopOnLoss, StopOnF1, StopOnAccuracy, StopOnEither} }

// MaskOver names the nodes that can be masked.
type MaskOver string

const (
	MaskAll   MaskOver = "all"   // every node of the train graph
	MaskTrain MaskOver = "train" // the train nodes: in the inductive setting, the whole train graph
)

// RegulariserName names an addition or alternative to node masking; "" means none.
type RegulariserName string

const (
	DropEdgeRegulariser RegulariserName = "dropedge"
	DropoutRegulariser  RegulariserName = "dropout" // Dropout at RegulariserRate instead of the preset's rate
	// DropGNNRegulariser masks nodes both in training and in prediction. A prediction averages several masked runs.
	DropGNNRegulariser RegulariserName = "dropgnn"

	// Retired regularisers occur only in records of earlier runs.
	DropNodeRegulariser    RegulariserName = "dropnode"
	DropMessageRegulariser RegulariserName = "dropmessage"
)

// Regularisers returns the names of regularisers.
func Regularisers() []RegulariserName {
	return []RegulariserName{DropEdgeRegulariser, DropoutRegulariser, DropGNNRegulariser}
}

// IsRetired reports whether the regulariser occurs only in records of earlier runs.
func (r RegulariserName) IsRetired() bool {
	return r == DropNodeRegulariser || r == DropMessageRegulariser
}

// Presets returns the names of presets.
func Presets() []string { return []string{standard, "gat", "paper"} }

const standard = "standard"

// Preset returns a preset's parameters, or an error for an unknown name. "standard" is GIN-0; the node-masking paper
// leaves most of its settings open, so they were chosen by validation scores without masking. "gat" is GAT with its
// authors' settings for Cora (Veličković et al. 2018), but stops on validation loss with the node-masking paper's
// patience. "paper" is GIN as the node-masking paper and its references describe it (table in paper/PROTOCOL-2.md):
// GIN-0 with batch normalisation, logits from all layers and the stopping rule of GAT's authors.
func Preset(name string) (Parameters, error) {
	p := Parameters{
		Preset: name, Model: "gin", Layers: 2, Hidden: 64, MLPLayers: 1, Dropout: 0.5,
		KeepRate: 1, MaskOver: MaskAll,
		LearningRate: 0.01, WeightDecay: 5e-4, NormalizeFeatures: true,
		MaxEpochs: 1000, Patience: 50, StopOn: StopOnLoss,
	}
	switch name {
	case standard:
	case "paper":
		p.MLPLayers, p.Norm, p.Readout, p.DropoutOn = 2, NormBoth, ReadoutAll, DropoutOnScores
		p.LearningRate, p.WeightDecay, p.MaskOver, p.StopOn = 0.01, 0, MaskTrain, StopOnEither
	case "gat":
		p.Model, p.Heads, p.Dropout, p.AttentionDropout, p.LearningRate = "gat", 8, 0.6, 0.6, 0.005
	default:
		return Parameters{}, fmt.Errorf("no preset %q: expected one of %s", name, strings.Join(Presets(), ", "))
	}
	return p, nil
}

// For returns the parameters of a model's preset, or an error for an unknown model.
func For(model string) (Parameters, error) {
	if !slices.Contains(Models(), model) {
		return Parameters{}, unknownModel(model)
	}
	p, err := Preset(TraitsOf(model).Preset)
	p.Model = model
	return p, err
}

// WithMasking returns the parameters with this keep rate. A rate below 1 removes attention dropout, as in the paper; to
// have both, set AttentionDropout afterwards. A rate of 1 does not restore attention dropout. [Parameters.Check]
// refuses a rate of 0.
func (p Parameters) WithMasking(keepRate float64) Parameters {
	if p.KeepRate = KeepRate(keepRate); keepRate == 0 {
		p.KeepRate = explicitZero
	}
	if p.KeepRate.Active() {
		p.AttentionDropout = 0
	}
	return p
}

// Check returns an error that reports the first invalid parameter and its range.
func (p Parameters) Check() error {
	if p.Regulariser.IsRetired() {
		return fmt.Errorf("the regulariser %q is retired: expected one of %v", p.Regulariser, Regularisers())
	}
	return p.CheckRecorded()
}

// ModelDropout returns RegulariserRate if dropout is the regulariser, else Dropout.
func (p Parameters) ModelDropout() float64 {
	if p.Regulariser == DropoutRegulariser {
		return p.RegulariserRate
	}
	return p.Dropout
}

// CheckRecorded is [Parameters.Check] for records of earlier runs: it allows retired regularisers.
func (p Parameters) CheckRecorded() error {
	if !slices.Contains(Models(), p.Model) {
		return unknownModel(p.Model)
	}
	type count struct {
		name        string
		value, most int
	}
	counts := []count{{"layers", p.Layers, 128}, {"hidden width", p.Hidden, 1 << 16}, {"linear layers of an MLP",
		p.MLPLayers, 16},
		{"max epochs", p.MaxEpochs, 1 << 30}, {"patience", p.Patience, 1 << 30}}
	traits := TraitsOf(p.Model)
	if traits.Heads {
		counts = append(counts, count{"attention heads", p.Heads, 1024})
	}
	for _, c := range counts {
		if c.value < 1 || c.value > c.most {
			return fmt.Errorf("%s: %d: expected 1 to %d", c.name, c.value, c.most)
		}
	}
	shared := traits.Heads || traits.Attention && p.AttentionDropout > 0
	if hidden := p.Layers > 1 || p.Readout != ""; shared && hidden && p.Hidden%max(p.Heads, 1) != 0 {
		return fmt.Errorf("hidden width %d: expected a multiple of the %d attention heads that share it", p.Hidden, p.Heads)
	}
	if err := p.KeepRate.Check(); err != nil {
		return err
	}
	if p.MaskOver != MaskAll && p.MaskOver != MaskTrain {
		return fmt.Errorf("no masking over %q: expected %q or %q", p.MaskOver, MaskAll, MaskTrain)
	}
	if err := p.checkReadings(); err != nil {
		return err
	}
	if p.Regulariser != "" && !p.Regulariser.IsRetired() && !slices.Contains(Regularisers(), p.Regulariser) {
		return fmt.Errorf("no regulariser %q: expected one of %v", p.Regulariser, Regularisers())
	}
	if p.Regulariser == "" && p.RegulariserRate != 0 {
		return fmt.Errorf("a regulariser's rate of %v without a regulariser: expected one of %v", p.RegulariserRate,
			Regularisers())
	}
	for _, r := range []struct {
		what string
		rate float64
	}{{"dropout", p.Dropout}, {"attention dropout", p.AttentionDropout}, {"regulariser's rate", p.RegulariserRate}} {
		if err := CheckDropRate(r.what, r.rate); err != nil {
			return err
		}
	}
	return p.checkTraining()
}

// CheckOneRun returns an error for DropGNN, whose predictions average several runs: such models cannot be saved, cached
// or exported.
func (p Parameters) CheckOneRun() error {
	if p.Regulariser == DropGNNRegulariser {
		return errors.New("what is saved or cached predicts by one run, and DropGNN averages several: expected another " +
			"regulariser")
	}
	return nil
}

func (p Parameters) checkTraining() error {
	const most = 1e6 // largest weight decay and |epsilon|; larger values overflow float32 sums
	switch {
	case !(p.LearningRate > 0) || math.IsInf(p.LearningRate, 0):
		return fmt.Errorf("learning rate %v: expected a number above 0", p.LearningRate)
	case !(p.WeightDecay >= 0 && p.WeightDecay <= most):
		return fmt.Errorf("weight decay %v: expected a number from 0 to %g", p.WeightDecay, most)
	case !(math.Abs(p.Epsilon) <= most):
		return fmt.Errorf("epsilon %v: expected a number from %g to %g", p.Epsilon, -most, most)
	}
	return p.StopOn.Check()
}

// Check returns an error for an unknown score.
func (s StopOn) Check() error {
	if !slices.Contains(StopOns(), s) {
		return fmt.Errorf("no early stopping on %q: expected one of %q", s, StopOns())
	}
	return nil
}

// CheckDropRate returns an error unless the rate is in [0, 1).
func CheckDropRate(name string, rate float64) error {
	if !(rate >= 0 && rate < 1) {
		return fmt.Errorf("%s %v: expected a probability from 0 up to, but not including, 1", name, rate)
	}
	return nil
}

// Seeds returns one seed per trial: first, first+1, ….
func Seeds(first uint64, trials int) []uint64 {
	seeds := make([]uint64, max(trials, 0))
	for i := range seeds {
		seeds[i] = first + uint64(i)
	}
	return seeds
}

// Norm selects where GIN has batch normalisation; "" means nowhere.
type Norm string

const (
	// NormInside normalises the output of each linear layer but the last in a GIN layer's MLP, before the ReLU.
	NormInside Norm = "inside"
	// NormBoth normalises like NormInside, and also normalises each hidden GIN layer's output before the activation, as
	// the code of GIN's authors does (Xu et al. 2019).
	NormBoth Norm = "both"
)

// Norms returns all values of [Norm].
func Norms() []Norm { return []Norm{NormInside, NormBoth} }

// Readout selects how logits are computed. "" means that the logits are the last layer's outputs.
type Readout string

const (
	// ReadoutLast computes logits by a linear layer on the last GNN layer's output. All GNN layers are hidden layers.
	ReadoutLast Readout = "last"
	// ReadoutAll computes scores by one linear layer on the features and one on each GNN layer's output. The logits are
	// the sum of these scores, as in the code of GIN's authors. All GNN layers are hidden layers.
	ReadoutAll Readout = "all"
)

// Readouts returns all values of [Readout].
func Readouts() []Readout { return []Readout{ReadoutLast, ReadoutAll} }

// DropoutOn selects what dropout applies to. "" means the inputs of the layers and of the readout. With [ReadoutAll],
// "" means the inputs of the layers and the scores of the readout.
type DropoutOn string

// DropoutOnScores applies dropout only to the readout's scores, as in the code of GIN's authors.
const DropoutOnScores DropoutOn = "scores"

// SelfTerm selects whether masking a node v also masks v's own term in the sum over v and its neighbours. "" means yes
// (eqs. 7 and 9).
type SelfTerm string

// SelfKept keeps a masked node's own term: by eq. 6 the node "can still appear as the root".
const SelfKept SelfTerm = "kept"

func (p Parameters) checkReadings() error {
	traits := TraitsOf(p.Model)
	switch {
	case p.Norm != "" && !slices.Contains(Norms(), p.Norm):
		return fmt.Errorf("no batch normalisation %q: expected one of %q", p.Norm, Norms())
	case p.Norm != "" && !traits.MLP:
		return fmt.Errorf("batch normalisation %q for the model %s: expected none, since only GIN's MLPs have a place for it",
			p.Norm, p.Model)
	case p.Norm != "" && p.MLPLayers < 2:
		return fmt.Errorf("batch normalisation %q in MLPs of %d linear layer: expected 2 or more, since it stands between "+
			"them", p.Norm, p.MLPLayers)
	case p.Readout != "" && !slices.Contains(Readouts(), p.Readout):
		return fmt.Errorf("no readout %q: expected one of %q", p.Readout, Readouts())
	case p.DropoutOn != "" && p.DropoutOn != DropoutOnScores:
		return fmt.Errorf("no dropout on %q: expected one of [%q]", p.DropoutOn, DropoutOnScores)
	case p.DropoutOn == DropoutOnScores && p.Readout == "":
		return fmt.Errorf("dropout on %q without a readout: expected one of %q, which have scores", p.DropoutOn, Readouts())
	case p.SelfTerm != "" && p.SelfTerm != SelfKept:
		return fmt.Errorf("no self term %q: expected one of [%q]", p.SelfTerm, SelfKept)
	case p.SelfTerm != "" && !traits.SelfTerm:
		return fmt.Errorf("self term %q for the model %s: expected none, since only GAT, SGAT and GATv2 can keep it",
			p.SelfTerm, p.Model)
	}
	return nil
}
