package nmgnn

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
)

// StopOn names the validation score that early stopping follows.
type StopOn string

const (
	StopOnLoss StopOn = "loss" // the lowest loss
	StopOnF1   StopOn = "f1"   // the highest macro F1
)

// TrainOptions are the settings of training. The zero value trains without masking and weight decay, at the paper's
// epochs and patience; [Standard] is what reproduces the paper.
type TrainOptions struct {
	Mask              Mask        // zero: node masking is inactive
	Regulariser       Regulariser // nil: none
	LearningRate      float64     // of Adam; 0: 0.01
	WeightDecay       float64     // L2: added to the gradient of every weight and bias, not decoupled
	MaxEpochs         int         // 0: 1000
	Patience          int         // epochs without a better validation score before stopping; 0: 50
	StopOn            StopOn      // "": StopOnLoss
	NormalizeFeatures bool        // divide each node's features by the sum of their absolute values
	Plan              *Plan       // how to compute; nil: what the backend does best
}

func (o TrainOptions) withDefaults() TrainOptions {
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
		o.StopOn = StopOnLoss
	}
	return o
}

func (o TrainOptions) check() error {
	if err := o.Mask.Check(); err != nil {
		return err
	}
	if o.Regulariser != nil {
		if err := o.Regulariser.Check(); err != nil {
			return err
		}
	}
	switch {
	case !(o.LearningRate > 0) || math.IsInf(o.LearningRate, 0):
		return fmt.Errorf("nmgnn: learning rate %v: expected a number above 0", o.LearningRate)
	case !(o.WeightDecay >= 0) || math.IsInf(o.WeightDecay, 0):
		return fmt.Errorf("nmgnn: weight decay %v: expected a number from 0 up", o.WeightDecay)
	case o.MaxEpochs < 1:
		return fmt.Errorf("nmgnn: %d epochs: expected at least 1", o.MaxEpochs)
	case o.Patience < 1:
		return fmt.Errorf("nmgnn: patience %d: expected at least 1 epoch", o.Patience)
	case o.StopOn != StopOnLoss && o.StopOn != StopOnF1:
		return fmt.Errorf("nmgnn: no early stopping on %q: expected %q or %q", o.StopOn, StopOnLoss, StopOnF1)
	}
	return nil
}

// Epoch is what was measured in one epoch: the loss that was trained on (with mask and dropout, before the update), and
// the validation scores after it (without them).
type Epoch struct {
	TrainLoss, ValidationLoss, ValidationF1 float64
}

// Trial is one training run.
type Trial struct {
	Seed        uint64
	History     []Epoch
	BestEpoch   int     // counted from 1; its weights were restored
	Seconds     float64 // training and evaluation, without compiling
	Validation  Metrics // at the best epoch, in the validation graph
	Test        Metrics // in the test graph
	Predictions []int32 // class of every node of the test graph
	Weights     []Weight
}

// Weight is one trained variable.
type Weight struct {
	Path       string
	Dimensions []int
	Values     []float32 // row-major
}

// Train runs one trial from the seed: first weights, masks and dropout all follow from it. report, if not nil, is called
// after each epoch. A cancelled context ends it with the context's error and no trial.
func (t *Trainer) Train(ctx context.Context, seed uint64, report func(epoch int, e Epoch)) (trial *Trial, err error) {
	defer guard(&err, "training")
	begin := time.Now()
	if err := t.reset(seed); err != nil {
		return nil, err
	}
	trial = &Trial{Seed: seed}
	stopping := EarlyStopping{Patience: t.options.Patience}
	draws := t.newDraws(seed)
	for epoch := 1; epoch <= t.options.MaxEpochs && !stopping.Stop(); epoch++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		outputs, err := draws.step(t.epoch)
		if err != nil {
			return nil, fmt.Errorf("nmgnn: epoch %d: %s", epoch, firstLine(err))
		}
		predictions, err := tensors.CopyFlatData[int32](outputs[2])
		if err != nil {
			return nil, fmt.Errorf("nmgnn: epoch %d: %s", epoch, firstLine(err))
		}
		metrics, err := Evaluate(predictions, t.labels.validation, t.classes)
		if err != nil {
			return nil, err
		}
		e := Epoch{float64(tensors.ToScalar[float32](outputs[0])), float64(tensors.ToScalar[float32](outputs[1])), metrics.MacroF1}
		finalize(outputs)
		if math.IsNaN(e.TrainLoss) || math.IsInf(e.TrainLoss, 0) {
			return nil, fmt.Errorf("nmgnn: epoch %d: the training loss is %v: the learning rate %v may be too high, or the features too large", epoch, e.TrainLoss, t.options.LearningRate)
		}
		trial.History = append(trial.History, e)
		score := e.ValidationLoss
		if t.options.StopOn == StopOnF1 {
			score = -e.ValidationF1
		}
		if stopping.Observe(score) {
			trial.Validation = metrics
			if trial.Weights, err = t.weights(); err != nil {
				return nil, err
			}
		}
		if report != nil {
			report(epoch, e)
		}
	}
	trial.BestEpoch = stopping.BestEpoch()
	if trial.BestEpoch == 0 {
		return nil, fmt.Errorf("nmgnn: no validation loss in %d epochs was a number", len(trial.History))
	}
	if err := t.restore(trial.Weights); err != nil {
		return nil, err
	}
	if trial.Predictions, err = t.Predict(); err != nil {
		return nil, err
	}
	if trial.Test, err = Evaluate(t.testScored(trial.Predictions), t.labels.test, t.classes); err != nil {
		return nil, err
	}
	trial.Seconds = time.Since(begin).Seconds()
	return trial, nil
}

// testScored picks the predictions that count from those of all nodes of the test graph.
func (t *Trainer) testScored(predictions []int32) []int32 {
	scored := make([]int32, len(t.view.Test.Score))
	for i, v := range t.view.Test.Score {
		scored[i] = predictions[v]
	}
	return scored
}

// draws are what is drawn anew for each epoch of a trial.
type draws struct {
	trainer     *Trainer
	masks, keys *rand.Rand
	delta       []float32
}

func (t *Trainer) newDraws(seed uint64) *draws {
	return &draws{t, hostRandom(seed, "mask"), hostRandom(seed, "dropout"), make([]float32, t.deltaSize)}
}

// step runs a compiled epoch on the next draws.
func (d *draws) step(epoch *model.Exec) ([]*tensors.Tensor, error) {
	d.trainer.options.Mask.Draw(d.masks, d.delta)
	return epoch.Call(
		tensors.FromFlatDataAndDimensions(d.delta, len(d.delta), 1),
		tensors.FromFlatDataAndDimensions([]uint32{d.keys.Uint32(), d.keys.Uint32()}, 2))
}

func finalize(outputs []*tensors.Tensor) {
	for _, output := range outputs {
		output.MustFinalizeAll()
	}
}

// TimeEpochs trains for so many epochs, with validation or without, and returns how long each took, from the draw of the
// mask until the loss is known. It is for measuring speed: it goes on from wherever the weights are, from seed 1 on
// after [NewTrainer], and neither stops early nor keeps the best weights.
func (t *Trainer) TimeEpochs(ctx context.Context, epochs int, validate bool) (laps []time.Duration, err error) {
	defer guard(&err, "training")
	if t.timing == nil {
		if err := t.reset(1); err != nil {
			return nil, err
		}
		t.timing = t.newDraws(1)
	}
	program := t.epoch
	if !validate {
		if t.trainOnly == nil {
			if t.trainOnly, err = t.compileStep(false); err != nil {
				return nil, err
			}
		}
		program = t.trainOnly
	}
	for range epochs {
		if err := ctx.Err(); err != nil {
			return laps, err
		}
		begin := time.Now()
		outputs, err := t.timing.step(program)
		if err != nil {
			return laps, fmt.Errorf("nmgnn: %s", firstLine(err))
		}
		tensors.ToScalar[float32](outputs[0])
		laps = append(laps, time.Since(begin))
		finalize(outputs)
	}
	return laps, nil
}

// Predict returns the class of every node of the test graph, by the weights that training left, without mask or dropout.
func (t *Trainer) Predict() (classes []int32, err error) {
	defer guard(&err, "predicting")
	all, err := t.represent(t.phases.test)
	if err != nil {
		return nil, err
	}
	return last(all).argmax(), nil
}

// reset gives weights their first values and the optimizer its own.
func (t *Trainer) reset(seed uint64) error {
	for v := range t.store.IterVariables() {
		if !t.owns(v) {
			continue
		}
		value := t.resting[v.Path()]
		var err error
		switch {
		case v.Trainable:
			value, err = firstValue(t.store, v, seed)
		case value != nil:
			value, err = value.LocalClone()
		default:
			value = tensors.FromShape(v.Shape())
		}
		if err != nil {
			return err
		}
		if err := v.SetValue(value); err != nil {
			return fmt.Errorf("nmgnn: variable %s: %s", v.Path(), firstLine(err))
		}
	}
	return nil
}

// firstValue draws a variable's first values on the host, so that they are the same on every backend.
func firstValue(store *model.Store, v *model.Variable, seed uint64) (*tensors.Tensor, error) {
	shape := v.Shape()
	if shape.DType != dtypes.Float32 {
		return nil, fmt.Errorf("nmgnn: variable %s is of type %s: only float32 is trained", v.Path(), shape.DType)
	}
	bound, found := store.GetParam(v.Path() + boundSuffix)
	limit, isNumber := bound.(float64)
	if !found || !isNumber {
		// Made without Weights: Glorot for matrices, zero for the rest.
		if shape.Rank() >= 2 {
			limit = math.Sqrt(6 / float64(shape.Dimensions[shape.Rank()-2]+shape.Dimensions[shape.Rank()-1]))
		}
	}
	r := hostRandom(seed, "weights"+v.Path())
	values := make([]float32, shape.Size())
	for i := range values {
		values[i] = float32((2*r.Float64() - 1) * limit)
	}
	return tensors.FromFlatDataAndDimensions(values, shape.Dimensions...), nil
}

func (t *Trainer) weights() ([]Weight, error) { return weightsOf(t.store) }

// weightsOf copies the trained variables.
func weightsOf(store *model.Store) ([]Weight, error) {
	var all []Weight
	for v := range store.IterVariables() {
		if !v.Trainable {
			continue
		}
		value, err := v.Value()
		if err != nil {
			return nil, fmt.Errorf("nmgnn: variable %s: %s", v.Path(), firstLine(err))
		}
		w := Weight{Path: v.Path(), Dimensions: slices.Clone(v.Shape().Dimensions)}
		if w.Values, err = tensors.CopyFlatData[float32](value); err != nil {
			return nil, fmt.Errorf("nmgnn: variable %s: %s", v.Path(), firstLine(err))
		}
		all = append(all, w)
	}
	return all, nil
}

func (t *Trainer) restore(weights []Weight) error {
	for _, w := range weights {
		v := t.store.GetVariable(w.Path)
		if err := v.SetValue(tensors.FromFlatDataAndDimensions(w.Values, w.Dimensions...)); err != nil {
			return fmt.Errorf("nmgnn: variable %s: %s", w.Path, firstLine(err))
		}
	}
	return nil
}
