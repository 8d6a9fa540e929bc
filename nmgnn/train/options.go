package train

import (
	"fmt"
	"math"
	"slices"

	"nodemask/datasets"
	"nodemask/nmgnn"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/internal/kernels"
)

// Options say how to train. The zero value has no masking or weight decay, and the paper's epochs and patience.
type Options struct {
	Mask              nmgnn.Mask        // zero: no node masking
	Regulariser       nmgnn.Regulariser // nil: none
	Rates             []float64         // that [Trainer.Switch] may change; others are compiled in
	LearningRate      float64           // of Adam; 0: 0.01
	WeightDecay       float64           // L2, not decoupled: added to the gradient of every weight and bias
	MaxEpochs         int               // 0: 1000
	Patience          int               // epochs without a better score before stopping; 0: 50
	StopOn            hyper.StopOn      // "": hyper.StopOnLoss
	NormalizeFeatures bool              // divide each node's features by the sum of their absolute values
	Plan              *kernels.Plan     // nil: the backend's fastest

	// Also lists further views of the split for [Trainer.Readings].
	Also []*datasets.View
	// Room reserves room for other splits' edges, so that [Trainer.Switch] seldom fails; results stay the same.
	Room bool
}

// Complete returns the options with defaults filled in, or an error.
func (o Options) Complete() (Options, error) {
	if o.LearningRate == 0 {
		o.LearningRate = 0.01
	}
	if o.MaxEpochs == 0 {
		o.MaxEpochs = 1000
	}
	if o.Patience == 0 {
		o.Patience = 50
	}
	if o.StopOn == "" {
		o.StopOn = hyper.StopOnLoss
	}
	return o, o.check()
}

func (o Options) rates() []float64 {
	if o.Regulariser == nil {
		return o.Rates
	}
	return append(slices.Clone(o.Rates), o.Regulariser.DropRate())
}

func (o Options) check() error {
	if err := hyper.KeepRate(o.Mask.KeepRate).Check(); err != nil {
		return err
	}
	if o.Regulariser != nil {
		if err := hyper.CheckDropRate(fmt.Sprintf("%T's rate", o.Regulariser), o.Regulariser.DropRate()); err != nil {
			return err
		}
	}
	switch {
	case !(o.LearningRate > 0) || math.IsInf(o.LearningRate, 0):
		return fmt.Errorf("learning rate %v: expected a number above 0", o.LearningRate)
	case !(o.WeightDecay >= 0) || math.IsInf(o.WeightDecay, 0):
		return fmt.Errorf("weight decay %v: expected a number from 0 up", o.WeightDecay)
	case o.MaxEpochs < 1:
		return fmt.Errorf("%d epochs: expected at least 1", o.MaxEpochs)
	case o.Patience < 1:
		return fmt.Errorf("patience %d: expected at least 1 epoch", o.Patience)
	}
	return o.StopOn.Check()
}

// OptionsOf returns the parameters' training options for a view.
func OptionsOf(p hyper.Parameters, view *datasets.View) Options {
	o := Options{
		Regulariser:  nmgnn.RegulariserOf(p),
		Rates:        []float64{nmgnn.DropoutOf(p), p.AttentionDropout},
		Mask:         nmgnn.Mask{KeepRate: float64(p.KeepRate), Rescale: p.Rescale},
		LearningRate: p.LearningRate, WeightDecay: p.WeightDecay, NormalizeFeatures: p.NormalizeFeatures,
		MaxEpochs: p.MaxEpochs, Patience: p.Patience, StopOn: p.StopOn,
	}
	if p.MaskOver == hyper.MaskTrain {
		o.Mask.Only = view.Train.Score
	}
	return o
}
