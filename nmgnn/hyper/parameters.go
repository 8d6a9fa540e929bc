// Package hyper describes a model and its training in names and numbers alone: what a command takes, a record keeps and
// a saved model remembers. It computes nothing; nmgnn.Build makes a model of it.
package hyper

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Parameters are the hyperparameters of a model and its training. Start from [Preset] and change what should differ.
type Parameters struct {
	Preset string `json:"preset"` // where the values came from
	Model  string `json:"model"`  // one of [Models]

	Layers    int     `json:"layers"`     // depth k
	Hidden    int     `json:"hidden"`     // width of all layers but the last, all heads together
	MLPLayers int     `json:"mlp_layers"` // linear layers in each GIN layer's MLP
	Epsilon   float64 `json:"epsilon"`    // of GIN
	Dropout   float64 `json:"dropout"`    // on the input of every layer: probability of being dropped

	LearnEpsilon bool      `json:"learn_epsilon,omitempty"` // GIN-ε
	Norm         Norm      `json:"norm,omitempty"`          // batch normalisation, of GIN
	Readout      Readout   `json:"readout,omitempty"`       // what the logits are computed from
	DropoutOn    DropoutOn `json:"dropout_on,omitempty"`    // where Dropout is, if not on the input of every layer
	// add a layer's input to its output, where they are as wide
	Residual bool `json:"residual,omitempty"`
	// of GAT and GATv2, in all layers but the last, which has one; in SGAT they matter to attention dropout alone
	Heads int `json:"heads,omitempty"`
	// of GAT, SGAT and GATv2: probability of an attention weight being dropped
	AttentionDropout float64 `json:"attention_dropout,omitempty"`

	Regulariser     RegulariserName `json:"regulariser,omitempty"`      // beside or instead of node masking; "" is none
	RegulariserRate float64         `json:"regulariser_rate,omitempty"` // probability of what it drops being dropped

	KeepRate KeepRate `json:"keep_rate"` // node masking
	MaskOver MaskOver `json:"mask_over"` // which nodes can be masked
	Rescale  bool     `json:"rescale"`   // divide what is kept by KeepRate; not in the paper
	// of GAT, SGAT and GATv2: whether a masked node's own term is masked too
	SelfTerm SelfTerm `json:"self_term,omitempty"`

	LearningRate      float64 `json:"learning_rate"`
	WeightDecay       float64 `json:"weight_decay"`
	NormalizeFeatures bool    `json:"normalize_features"`
	MaxEpochs         int     `json:"max_epochs"`
	Patience          int     `json:"patience"`
	StopOn            StopOn  `json:"stop_on"`
}

// StopOn names the validation score that early stopping follows.
type StopOn string

const (
	StopOnLoss StopOn = "loss" // the lowest loss
	StopOnF1   StopOn = "f1"   // the highest macro F1
	// StopOnAccuracy is the highest accuracy.
	StopOnAccuracy StopOn = "accuracy"
	// StopOnEither is what GAT's authors do: patience ends when neither the loss nor the accuracy has been at its best for
	// so long, and the weights kept are those of the last epoch at which both were.
	StopOnEither StopOn = "either"
)

// StopOns lists them.
func StopOns() []StopOn { return []StopOn{StopOnLoss, StopOnF1, StopOnAccuracy, StopOnEither} }

// MaskOver names the nodes that can be masked.
type MaskOver string

const (
	MaskAll   MaskOver = "all"   // every node of the train graph
	MaskTrain MaskOver = "train" // the train nodes; in the inductive setting these are all there are
)

// RegulariserName names what can stand beside node masking or in its place; "": nothing.
type RegulariserName string

const (
	DropEdgeRegulariser RegulariserName = "dropedge"
	DropoutRegulariser  RegulariserName = "dropout" // Dropout at RegulariserRate instead of the preset's
	// DropGNNRegulariser masks nodes in validation and testing too, several times, and averages.
	DropGNNRegulariser RegulariserName = "dropgnn"

	// Records name these two, which nothing trains any more.
	DropNodeRegulariser    RegulariserName = "dropnode"
	DropMessageRegulariser RegulariserName = "dropmessage"
)

// Regularisers lists the names of regularisers.
func Regularisers() []RegulariserName {
	return []RegulariserName{DropEdgeRegulariser, DropoutRegulariser, DropGNNRegulariser}
}

// IsRetired reports whether records name a regulariser that nothing trains any more.
func (r RegulariserName) IsRetired() bool {
	return r == DropNodeRegulariser || r == DropMessageRegulariser
}

// Presets lists the names of presets.
func Presets() []string { return []string{standard, "gat", "paper"} }

// standard is the preset of models that name no other.
const standard = "standard"

// Preset returns the parameters of that name. "standard" is one reading of GIN-0, chosen without masking on validation
// scores: the paper leaves most of this open. "gat" is GAT as its authors set it for Cora (Veličković et al. 2018),
// with the paper's early stopping. "paper" is GIN as the paper and the works that it cites describe it, by the table in
// paper/PROTOCOL-2.md: GIN-0 with batch normalisation and its prediction from all layers, stopped as GAT's authors do.
// It returns an error for an unknown name.
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

// For returns the parameters of a model's own preset ([Traits]). It returns an error for an unknown model.
func For(model string) (Parameters, error) {
	if !slices.Contains(Models(), model) {
		return Parameters{}, unknownModel(model)
	}
	p, err := Preset(TraitsOf(model).Preset)
	p.Model = model
	return p, err
}

// WithMasking returns the parameters with node masking at a keep rate. A rate below 1 removes attention dropout, as in
// the paper; to have both, set AttentionDropout afterwards. A rate of 1 does not bring it back: in a loop over rates,
// call it on parameters without masking. A rate of 0, at which every node would be masked, is one that
// [Parameters.Check] refuses, and not the zero value that stands for 1.
func (p Parameters) WithMasking(keepRate float64) Parameters {
	if p.KeepRate = KeepRate(keepRate); keepRate == 0 {
		p.KeepRate = explicitZero
	}
	if p.KeepRate.Active() {
		p.AttentionDropout = 0
	}
	return p
}

// Check returns an error that names the first parameter out of its range, and the range.
func (p Parameters) Check() error {
	if p.Regulariser.IsRetired() {
		return fmt.Errorf("the regulariser %q is retired: expected one of %v", p.Regulariser, Regularisers())
	}
	return p.CheckRecorded()
}

// CheckRecorded is [Parameters.Check] for what a record says: it takes regularisers that nothing trains any more.
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

// CheckOneRun returns an error unless the model predicts by one run, as what is saved, cached or exported does: with
// DropGNN a trial's predictions average several masked ones.
func (p Parameters) CheckOneRun() error {
	if p.Regulariser == DropGNNRegulariser {
		return errors.New("what is saved or cached predicts by one run, and DropGNN averages several: expected another " +
			"regulariser")
	}
	return nil
}

func (p Parameters) checkTraining() error {
	const most = 1e6 // beyond, sums in float32 overflow, and the fault seems to be the learning rate's
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

// Check returns an error unless early stopping knows the score.
func (s StopOn) Check() error {
	if !slices.Contains(StopOns(), s) {
		return fmt.Errorf("no early stopping on %q: expected one of %q", s, StopOns())
	}
	return nil
}

// CheckDropRate returns an error that names what the rate is of, unless the rate is a probability below 1.
func CheckDropRate(what string, rate float64) error {
	if !(rate >= 0 && rate < 1) {
		return fmt.Errorf("%s %v: expected a probability from 0 up to, but not including, 1", what, rate)
	}
	return nil
}

// Seeds returns the seeds of a number of trials: first, first+1, ….
func Seeds(first uint64, trials int) []uint64 {
	seeds := make([]uint64, max(trials, 0))
	for i := range seeds {
		seeds[i] = first + uint64(i)
	}
	return seeds
}
