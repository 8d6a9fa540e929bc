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

// Options say how to train. The zero value trains without masking and weight decay, for the paper's epochs and
// patience.
type Options struct {
	Mask              nmgnn.Mask        // zero: node masking is inactive
	Regulariser       nmgnn.Regulariser // nil: none
	Rates             []float64         // drop rates of the model that [Trainer.Switch] may change; others are compiled in
	LearningRate      float64           // of Adam; 0: 0.01
	WeightDecay       float64           // L2: added to the gradient of every weight and bias, not decoupled
	MaxEpochs         int               // 0: 1000
	Patience          int               // epochs without a better validation score before stopping; 0: 50
	StopOn            hyper.StopOn      // "": hyper.StopOnLoss
	NormalizeFeatures bool              // divide each node's features by the sum of their absolute values
	Plan              *kernels.Plan     // how to compute; nil: what the backend does best

	// Also lists further views of the same split, on whose validation graphs [Trainer.Readings] can stop.
	Also []*datasets.View
	// Room makes room for the edges of other splits, so that [Trainer.Switch] seldom fails. It changes no number.
	Room bool
}

// Complete fills zero fields with defaults, and validates.
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

// rates are the drop rates that are not compiled in.
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

// OptionsOf returns what the parameters say about training on a view.
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
