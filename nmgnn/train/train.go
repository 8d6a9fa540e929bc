package train

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"nodemask/internal/gomlx"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/learn"
	"nodemask/stats"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
)

// ending is one way to end a trial.
type ending struct {
	On hyper.StopOn
	// View is on whose validation graph: 0 is the trainer's view, from 1 on those in [Options].Also.
	View int
}

// endedBy is a trial as one way of stopping ends it.
type endedBy struct {
	ending
	BestEpoch, Epochs int   // counted from 1: of the best scores, and the last one before patience ended
	Best              Epoch // what was measured in the best epoch
	Validation        stats.Metrics
	Weights           []infer.Weight // of the best epoch; those that stop at the same one share them
}

// Train runs one trial from the seed: first weights, masks and dropout all follow from it. report, if not nil, is
// called after each epoch. A cancelled context ends it with the context's error and no trial.
func (t *Trainer) Train(ctx context.Context, seed uint64, report func(epoch int, e Epoch)) (trial *Trial, err error) {
	defer gomlx.Guard(&err, "training")
	return TrainBy(ctx, whole{t}, t.options, seed, report)
}

// follow runs one trial as [Trainer.Train] does, until all ways of stopping have ended it, and returns what each of
// them keeps: what Train would have kept with that way alone. Where the training loss stops being a number, no later
// epoch could be better: each way keeps what it had. Nothing is evaluated on the test graph.
func (t *Trainer) follow(ctx context.Context, seed uint64, stops []ending) (stopped []endedBy, err error) {
	defer gomlx.Guard(&err, "training")
	for _, stop := range stops {
		if stop.View < 0 || stop.View >= len(t.validatedBy) {
			return nil, fmt.Errorf("stopping by view %d of %d", stop.View, len(t.validatedBy))
		}
	}
	_, stopped, err = follow(ctx, whole{t}, t.options, seed, stops, nil)
	return stopped, err
}

// Program is a model compiled for one view of a graph, which trains trials one after the other: on the whole graph, as
// a [Trainer] has one, or on parts of it, as package batches has.
type Program interface {
	// Begin sets all that training changes to what the trial of a seed begins with. It returns the trial, with what was
	// done of it before if that was kept.
	Begin(seed uint64) (*Trial, error)
	// Epoch trains for an epoch, and returns what was measured on the validation graph of each view.
	Epoch(ctx context.Context) ([]Epoch, []stats.Metrics, error)
	// Weights copies the weights as they are.
	Weights() ([]infer.Weight, error)
	// Keep is called with the trial after each epoch.
	Keep(trial *Trial) error
	// End is called when no more epochs follow.
	End(trial *Trial)
	// Predict returns the class of every node of the test graph by the trial's weights, and PredictCached with those
	// outside the train graph computed by the cache: together, so that they see one another, or apart, as if each arrived
	// alone.
	Predict(ctx context.Context, trial *Trial) ([]int32, error)
	PredictCached(ctx context.Context, trial *Trial, together bool) ([]int32, error)
	// Cache returns what nodes that arrive later need, by the trial's weights.
	Cache(ctx context.Context, trial *Trial) (*cached.Cache, error)
	// Score measures the classes of all nodes of the test graph.
	Score(classes []int32) (stats.Metrics, error)
}

// TrainBy runs one trial of a program, as [Trainer.Train] does.
func TrainBy(ctx context.Context, p Program, o Options, seed uint64, report func(epoch int, e Epoch)) (*Trial, error) {
	begin := time.Now()
	trial, stopped, err := follow(ctx, p, o, seed, []ending{{On: o.StopOn}}, report)
	if err != nil {
		return nil, err
	}
	best := stopped[0]
	if err := o.fault(trial.History, best.BestEpoch); err != nil {
		return nil, err
	}
	trial.BestEpoch, trial.Validation, trial.Weights = best.BestEpoch, best.Validation, best.Weights
	if trial.Predictions, err = p.Predict(ctx, trial); err != nil {
		return nil, err
	}
	if trial.Test, err = p.Score(trial.Predictions); err != nil {
		return nil, err
	}
	trial.Seconds = time.Since(begin).Seconds()
	return trial, nil
}

// follow runs epochs until all ways of stopping have ended the trial.
func follow(ctx context.Context, p Program, o Options, seed uint64, stops []ending,
	report func(epoch int, e Epoch)) (*Trial, []endedBy, error) {
	trial, err := p.Begin(seed)
	if err != nil {
		return nil, nil, err
	}
	stopped, stopping, left := make([]endedBy, len(stops)), make([]earlyStopping, len(stops)), 0
	for i, stop := range stops {
		stopped[i] = endedBy{ending: stop, Validation: trial.Validation, Weights: trial.Weights}
		stopping[i] = earlyStopping{On: stop.On, Patience: o.Patience}
		for _, e := range trial.History {
			stopping[i].observe(e)
		}
		if !stopping[i].over() {
			left++
		}
	}
	for epoch := len(trial.History) + 1; epoch <= o.MaxEpochs && left > 0; epoch++ {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		measured, metrics, err := p.Epoch(ctx)
		if err != nil {
			return nil, nil, fmt.Errorf("epoch %d: %w", epoch, err)
		}
		trial.History = append(trial.History, measured[0])
		if diverged(trial.History) {
			break
		}
		var weights []infer.Weight // of this epoch, if anybody keeps them
		for i, stop := range stops {
			if stopping[i].over() {
				continue
			}
			if stopping[i].observe(measured[stop.View]) {
				if weights == nil {
					if weights, err = p.Weights(); err != nil {
						return nil, nil, err
					}
				}
				stopped[i].Best, stopped[i].Validation, stopped[i].Weights = measured[stop.View], metrics[stop.View], weights
			}
			stopped[i].Epochs = epoch
			if stopping[i].over() {
				left--
			}
		}
		trial.Validation, trial.Weights = stopped[0].Validation, stopped[0].Weights
		if err := p.Keep(trial); err != nil {
			return nil, nil, err
		}
		if report != nil {
			report(epoch, measured[0])
		}
	}
	p.End(trial)
	for i := range stopped {
		if stopped[i].BestEpoch = stopping[i].bestEpoch(); stopped[i].BestEpoch == 0 {
			return nil, nil, o.fault(trial.History, 0)
		}
	}
	return trial, stopped, nil
}

// whole is a trainer as a [Program].
type whole struct{ *Trainer }

func (t whole) Begin(seed uint64) (*Trial, error) {
	t.drawn = learn.NewDraws(seed, t.deltaSize)
	return &Trial{Seed: seed}, t.start.Reset(t.store, seed, t.options.LearningRate)
}

func (t whole) Epoch(context.Context) ([]Epoch, []stats.Metrics, error) {
	outputs, err := t.step(t.epoch, t.drawn)
	if err != nil {
		return nil, nil, err
	}
	defer infer.Finalize(outputs)
	measured, metrics := make([]Epoch, len(t.validatedBy)), make([]stats.Metrics, len(t.validatedBy))
	for i, v := range t.validations {
		predictions, err := tensors.CopyFlatData[int32](outputs[2+2*i])
		if err != nil {
			return nil, nil, gomlx.Error(err)
		}
		m, err := stats.Evaluate(predictions, v.labels, t.classes)
		if err != nil {
			return nil, nil, err
		}
		of := Epoch{TrainLoss: float64(tensors.ToScalar[float32](outputs[0])),
			ValidationLoss: float64(tensors.ToScalar[float32](outputs[1+2*i])),
			ValidationF1:   m.MacroF1, ValidationAccuracy: m.Accuracy}
		for view, by := range t.validatedBy {
			if by == i {
				measured[view], metrics[view] = of, m
			}
		}
	}
	return measured, metrics, nil
}

func (t whole) Weights() ([]infer.Weight, error) { return infer.WeightsOf(t.store) }
func (t whole) Keep(*Trial) error                { return nil }
func (t whole) End(*Trial)                       {}

func (t whole) Predict(_ context.Context, trial *Trial) ([]int32, error) {
	if err := infer.SetWeights(t.store, trial.Weights); err != nil {
		return nil, err
	}
	if t.predictor != nil {
		return t.predictor.predict(t.Trainer, trial.Weights)
	}
	return t.Trainer.Predict()
}

func (t whole) PredictCached(_ context.Context, _ *Trial, together bool) (classes []int32, err error) {
	defer gomlx.Guard(&err, "predicting from the cache")
	all, err := t.representCached(together)
	if err != nil {
		return nil, err
	}
	return last(all).Classes(), nil
}

func (t whole) Cache(context.Context, *Trial) (*cached.Cache, error) { return t.Trainer.Cache() }

func (t whole) Score(classes []int32) (stats.Metrics, error) {
	return learn.Evaluate(t.graph, t.view.Test, classes)
}

// step runs a compiled epoch on the next draws.
func (t *Trainer) step(epoch *model.Exec, d *learn.Draws) ([]*tensors.Tensor, error) {
	t.options.Mask.Draw(rand.New(d.Masks), d.Delta)
	return d.Run(epoch, tensors.FromFlatDataAndDimensions(d.Delta, len(d.Delta), 1), t.options.WeightDecay)
}

// diverged reports whether the last epoch's training loss is not finite: no later epoch can be better.
func diverged(history []Epoch) bool {
	loss := last(history).TrainLoss
	return math.IsNaN(loss) || math.IsInf(loss, 0)
}

// fault returns why a trial with this history and this best epoch, counted from 1 (0: none), gives no result, and what
// to do; nil if it gives one.
func (o Options) fault(history []Epoch, best int) error {
	remedy := fmt.Sprintf("the learning rate %v may be too high, or the features too large", o.LearningRate)
	switch {
	case diverged(history):
		return fmt.Errorf("epoch %d: the training loss is %v: %s", len(history), last(history).TrainLoss, remedy)
	case best == 0:
		return fmt.Errorf("no validation loss in %d epochs was a number: %s", len(history), remedy)
	// F1 and accuracy are numbers even where what a class was told from is none
	case math.IsNaN(history[best-1].ValidationLoss):
		return fmt.Errorf("epoch %d, the best one: the validation loss is NaN: %s", best, remedy)
	}
	return nil
}
