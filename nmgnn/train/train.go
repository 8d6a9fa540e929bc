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

// Stop is one way to end a trial.
type Stop struct {
	On hyper.StopOn
	// View is on whose validation graph: 0 is the trainer's view, from 1 on those in [Options].Also.
	View int
}

// Stopped is a trial as one way of stopping ends it.
type Stopped struct {
	Stop
	BestEpoch, Epochs int   // counted from 1: of the best scores, and the last one before patience ended
	Best              Epoch // what was measured in the best epoch
	Validation        stats.Metrics
	Weights           []infer.Weight // of the best epoch; those that stop at the same one share them
}

// Train runs one trial from the seed: first weights, masks and dropout all follow from it. report, if not nil, is called
// after each epoch. A cancelled context ends it with the context's error and no trial.
func (t *Trainer) Train(ctx context.Context, seed uint64, report func(epoch int, e Epoch)) (trial *Trial, err error) {
	defer gomlx.Guard(&err, "training")
	begin := time.Now()
	history, stopped, err := t.follow(ctx, seed, []Stop{{On: t.options.StopOn}}, report)
	if err != nil {
		return nil, err
	}
	best := stopped[0]
	if err := t.options.Fault(history, best.BestEpoch); err != nil {
		return nil, err
	}
	trial = &Trial{Seed: seed, History: history, BestEpoch: best.BestEpoch, Validation: best.Validation, Weights: best.Weights}
	if err := infer.SetWeights(t.store, trial.Weights); err != nil {
		return nil, err
	}
	if trial.Predictions, err = t.Predict(); err != nil {
		return nil, err
	}
	if trial.Test, err = stats.Evaluate(t.testScored(trial.Predictions), t.test.labels, t.classes); err != nil {
		return nil, err
	}
	trial.Seconds = time.Since(begin).Seconds()
	return trial, nil
}

// Follow runs one trial as [Trainer.Train] does, until all ways of stopping have ended it, and returns what each of them
// keeps: what Train would have kept with that way alone. Where the training loss stops being a number, no later epoch could
// be better: each way keeps what it had. Nothing is evaluated on the test graph.
func (t *Trainer) Follow(ctx context.Context, seed uint64, stops []Stop) (stopped []Stopped, err error) {
	defer gomlx.Guard(&err, "training")
	_, stopped, err = t.follow(ctx, seed, stops, nil)
	return stopped, err
}

func (t *Trainer) follow(ctx context.Context, seed uint64, stops []Stop, report func(epoch int, e Epoch)) (history []Epoch, stopped []Stopped, err error) {
	if err := t.reset(seed); err != nil {
		return nil, nil, err
	}
	stopped = make([]Stopped, len(stops))
	stopping := make([]EarlyStopping, len(stops))
	for i, stop := range stops {
		if stop.View < 0 || stop.View >= len(t.validatedBy) {
			return nil, nil, fmt.Errorf("train: stopping by view %d of %d", stop.View, len(t.validatedBy))
		}
		stopped[i].Stop, stopping[i] = stop, EarlyStopping{On: stop.On, Patience: t.options.Patience}
	}
	draws, left := t.newDraws(seed), len(stops)
	t.drawn = draws
	for epoch := 1; epoch <= t.options.MaxEpochs && left > 0; epoch++ {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		measured, metrics, err := t.oneEpoch(draws)
		if err != nil {
			return nil, nil, fmt.Errorf("train: epoch %d: %w", epoch, err)
		}
		history = append(history, measured[0])
		if Diverged(history) {
			break
		}
		var weights []infer.Weight // of this epoch, if anybody keeps them
		for i, stop := range stops {
			if stopping[i].Stop() {
				continue
			}
			by := t.validatedBy[stop.View]
			if stopping[i].Observe(measured[by]) {
				if weights == nil {
					if weights, err = infer.WeightsOf(t.store); err != nil {
						return nil, nil, err
					}
				}
				stopped[i].Best, stopped[i].Validation, stopped[i].Weights = measured[by], metrics[by], weights
			}
			stopped[i].Epochs = epoch
			if stopping[i].Stop() {
				left--
			}
		}
		if report != nil {
			report(epoch, measured[0])
		}
	}
	for i := range stopped {
		if stopped[i].BestEpoch = stopping[i].BestEpoch(); stopped[i].BestEpoch == 0 {
			return nil, nil, t.options.Fault(history, 0)
		}
	}
	return history, stopped, nil
}

// Diverged reports whether the last epoch's training loss is no number any more: no later epoch could be better.
func Diverged(history []Epoch) bool {
	loss := last(history).TrainLoss
	return math.IsNaN(loss) || math.IsInf(loss, 0)
}

// Fault returns why a trial with this history and this best epoch, counted from 1 (0: none), gives no result, and what to do; nil if
// it gives one.
func (o Options) Fault(history []Epoch, best int) error {
	remedy := fmt.Sprintf("the learning rate %v may be too high, or the features too large", o.LearningRate)
	switch {
	case Diverged(history):
		return fmt.Errorf("train: epoch %d: the training loss is %v: %s", len(history), last(history).TrainLoss, remedy)
	case best == 0:
		return fmt.Errorf("train: no validation loss in %d epochs was a number: %s", len(history), remedy)
	case math.IsNaN(history[best-1].ValidationLoss): // F1 and accuracy are numbers even where what a class was told from is none
		return fmt.Errorf("train: epoch %d, the best one: the validation loss is NaN: %s", best, remedy)
	}
	return nil
}

// oneEpoch trains for an epoch and returns what was measured on each validation graph.
func (t *Trainer) oneEpoch(draws *draws) ([]Epoch, []stats.Metrics, error) {
	outputs, err := draws.step(t.epoch)
	if err != nil {
		return nil, nil, gomlx.Error(err)
	}
	defer infer.Finalize(outputs)
	measured, all := make([]Epoch, len(t.validations)), make([]stats.Metrics, len(t.validations))
	for i, v := range t.validations {
		predictions, err := tensors.CopyFlatData[int32](outputs[2+2*i])
		if err != nil {
			return nil, nil, gomlx.Error(err)
		}
		if all[i], err = stats.Evaluate(predictions, v.labels, t.classes); err != nil {
			return nil, nil, err
		}
		measured[i] = Epoch{TrainLoss: float64(tensors.ToScalar[float32](outputs[0])), ValidationLoss: float64(tensors.ToScalar[float32](outputs[1+2*i])),
			ValidationF1: all[i].MacroF1, ValidationAccuracy: all[i].Accuracy}
	}
	return measured, all, nil
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
		tensors.FromFlatDataAndDimensions([]uint32{d.keys.Uint32(), d.keys.Uint32()}, 2),
		tensors.FromScalar(float32(d.trainer.options.WeightDecay)))
}

// reset gives weights their first values and the optimizer its own.
func (t *Trainer) reset(seed uint64) error {
	return t.start.Reset(t.store, seed, t.options.LearningRate)
}
