package train

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"nodemask/nmgnn"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/stats"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
)

// Train runs one trial from the seed: first weights, masks and dropout all follow from it. report, if not nil, is called
// after each epoch. A cancelled context ends it with the context's error and no trial.
func (t *Trainer) Train(ctx context.Context, seed uint64, report func(epoch int, e Epoch)) (trial *Trial, err error) {
	defer gomlx.Guard(&err, "training")
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
			return nil, fmt.Errorf("train: epoch %d: %w", epoch, gomlx.Error(err))
		}
		predictions, err := tensors.CopyFlatData[int32](outputs[2])
		if err != nil {
			return nil, fmt.Errorf("train: epoch %d: %w", epoch, gomlx.Error(err))
		}
		metrics, err := stats.Evaluate(predictions, t.labels.validation, t.classes)
		if err != nil {
			return nil, err
		}
		e := Epoch{float64(tensors.ToScalar[float32](outputs[0])), float64(tensors.ToScalar[float32](outputs[1])), metrics.MacroF1}
		infer.Finalize(outputs)
		if math.IsNaN(e.TrainLoss) || math.IsInf(e.TrainLoss, 0) {
			return nil, fmt.Errorf("train: epoch %d: the training loss is %v: the learning rate %v may be too high, or the features too large", epoch, e.TrainLoss, t.options.LearningRate)
		}
		trial.History = append(trial.History, e)
		score := e.ValidationLoss
		if t.options.StopOn == hyper.StopOnF1 {
			score = -e.ValidationF1
		}
		if stopping.Observe(score) {
			trial.Validation = metrics
			if trial.Weights, err = infer.WeightsOf(t.store); err != nil {
				return nil, err
			}
		}
		if report != nil {
			report(epoch, e)
		}
	}
	trial.BestEpoch = stopping.BestEpoch()
	if trial.BestEpoch == 0 {
		return nil, fmt.Errorf("train: no validation loss in %d epochs was a number", len(trial.History))
	}
	if err := infer.SetWeights(t.store, trial.Weights); err != nil {
		return nil, err
	}
	if trial.Predictions, err = t.Predict(); err != nil {
		return nil, err
	}
	if trial.Test, err = stats.Evaluate(t.testScored(trial.Predictions), t.labels.test, t.classes); err != nil {
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
	return &draws{t, nmgnn.HostRandom(seed, "mask"), nmgnn.HostRandom(seed, "dropout"), make([]float32, t.deltaSize)}
}

// step runs a compiled epoch on the next draws.
func (d *draws) step(epoch *model.Exec) ([]*tensors.Tensor, error) {
	d.trainer.options.Mask.Draw(d.masks, d.delta)
	return epoch.Call(
		tensors.FromFlatDataAndDimensions(d.delta, len(d.delta), 1),
		tensors.FromFlatDataAndDimensions([]uint32{d.keys.Uint32(), d.keys.Uint32()}, 2))
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
		case infer.IsWeight(v):
			value, err = infer.FirstValue(t.store, v, seed)
		case value != nil:
			value, err = value.LocalClone()
		default:
			value = tensors.FromShape(v.Shape())
		}
		if err != nil {
			return err
		}
		if err := v.SetValue(value); err != nil {
			return fmt.Errorf("train: variable %s: %w", v.Path(), gomlx.Error(err))
		}
	}
	return nil
}
