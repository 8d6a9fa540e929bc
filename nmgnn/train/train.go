package train

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"nodemask/internal/ended"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/learn"
	"nodemask/nmgnn/internal/variables"
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
	return TrainBy(ctx, fullGraph{t}, t.options, seed, report)
}

// follow runs one trial as [Trainer.Train] does, until all ways of stopping have ended it, and returns what each of
// them keeps: what Train would have kept with that way alone. Where the training loss stops being a number, no later
// epoch could be better: each way keeps what it had. Nothing is evaluated on the test graph.
func (t *Trainer) follow(ctx context.Context, seed uint64, stops []ending) (stopped []endedBy, err error) {
	defer gomlx.Guard(&err, "training")
	_, stopped, err = follow(ctx, fullGraph{t}, t.options, seed, stops, nil)
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
	// Predict returns the class of every node of the whole graph by the trial's weights, -1 of those that are not in the
	// test graph, and PredictCached with those outside the train graph computed by the cache: together, so that they see
	// one another, or apart, as if each arrived alone.
	Predict(ctx context.Context, trial *Trial) ([]int32, error)
	PredictCached(ctx context.Context, trial *Trial, together bool) ([]int32, error)
	// Cache returns what nodes that arrive later need, by the trial's weights.
	Cache(ctx context.Context, trial *Trial) (*cached.Cache, error)
	// Score measures what Predict or PredictCached returned on the test nodes.
	Score(classes []int32) (stats.Metrics, error)
}

// TrainBy runs one trial of a program, as [Trainer.Train] does.
func TrainBy(ctx context.Context, p Program, o Options, seed uint64, report func(epoch int, e Epoch)) (*Trial, error) {
	begin := time.Now()
	trial, stopped, err := follow(ctx, p, o, seed, []ending{{On: o.StopOn}}, report)
	if err != nil {
		return nil, err
	}
	if err := trial.endedBy(stopped[0], o); err != nil {
		return nil, err
	}
	if trial.Predictions, err = p.Predict(ctx, trial); err != nil {
		return nil, err
	}
	if trial.Test, err = p.Score(trial.Predictions); err != nil {
		return nil, err
	}
	trial.Seconds = time.Since(begin).Seconds()
	return trial, nil
}

// endedBy copies the best epoch of a way of stopping into the trial, if it gives a result.
func (t *Trial) endedBy(best endedBy, o Options) error {
	t.BestEpoch, t.Validation, t.Weights = best.BestEpoch, best.Validation, best.Weights
	return o.fault(t.History, best.BestEpoch)
}

// follow runs epochs until all ways of stopping have ended the trial.
func follow(ctx context.Context, p Program, o Options, seed uint64, stops []ending,
	report func(epoch int, e Epoch)) (*Trial, []endedBy, error) {
	trial, err := p.Begin(seed)
	if err != nil {
		return nil, nil, err
	}
	f := newFollowed(trial, o, stops)
	for f.goesOn() {
		if err := ended.Err(ctx); err != nil {
			return nil, nil, err
		}
		measured, metrics, err := p.Epoch(ctx)
		if err != nil {
			return nil, nil, fmt.Errorf("epoch %d: %w", len(trial.History)+1, err)
		}
		if err := f.add(measured, metrics, p.Weights); err != nil {
			return nil, nil, err
		}
		if diverged(trial.History) {
			break
		}
		if err := p.Keep(trial); err != nil {
			return nil, nil, err
		}
		if report != nil {
			report(len(trial.History), measured[0])
		}
	}
	p.End(trial)
	stopped, err := f.end()
	return trial, stopped, err
}

// followed is a trial, and what each way of stopping keeps of it.
type followed struct {
	trial    *Trial
	options  Options
	stopped  []endedBy
	stopping []earlyStopping
	left     int // ways that have not ended it
}

// newFollowed goes on from what was done of a trial.
func newFollowed(trial *Trial, o Options, stops []ending) *followed {
	f := &followed{trial: trial, options: o, stopped: make([]endedBy, len(stops)),
		stopping: make([]earlyStopping, len(stops))}
	for i, stop := range stops {
		f.stopped[i] = endedBy{ending: stop, Validation: trial.Validation, Weights: trial.Weights}
		f.stopping[i] = earlyStopping{On: stop.On, Patience: o.Patience}
		for _, e := range trial.History {
			f.stopping[i].observe(e)
		}
		if !f.stopping[i].over() {
			f.left++
		}
	}
	return f
}

// goesOn reports whether there is another epoch.
func (f *followed) goesOn() bool {
	done := len(f.trial.History)
	return done < f.options.MaxEpochs && f.left > 0 && (done == 0 || !diverged(f.trial.History))
}

// add adds an epoch's metrics on each view, and calls weights where one of them is the best so far.
func (f *followed) add(measured []Epoch, metrics []stats.Metrics, weights func() ([]infer.Weight, error)) (err error) {
	f.trial.History = append(f.trial.History, measured[0])
	if diverged(f.trial.History) {
		return nil
	}
	var of []infer.Weight
	for i := range f.stopped {
		stop, stopping := &f.stopped[i], &f.stopping[i]
		if stopping.over() {
			continue
		}
		if stopping.observe(measured[stop.View]) {
			if of == nil {
				if of, err = weights(); err != nil {
					return err
				}
			}
			stop.Best, stop.Validation, stop.Weights = measured[stop.View], metrics[stop.View], of
		}
		stop.Epochs = len(f.trial.History)
		if stopping.over() {
			f.left--
		}
	}
	f.trial.Validation, f.trial.Weights = f.stopped[0].Validation, f.stopped[0].Weights
	return nil
}

// end returns what each way of stopping kept, or why one kept nothing.
func (f *followed) end() ([]endedBy, error) {
	for i := range f.stopped {
		if f.stopped[i].BestEpoch = f.stopping[i].best; f.stopped[i].BestEpoch == 0 {
			return nil, f.options.fault(f.trial.History, 0)
		}
	}
	return f.stopped, nil
}

// fullGraph is a trainer as a [Program].
type fullGraph struct{ *Trainer }

func (t fullGraph) Begin(seed uint64) (*Trial, error) {
	t.drawn, t.trained = learn.NewDraws(seed, t.trainNodes()), true
	return &Trial{Seed: seed}, t.start.Reset(t.store, t.options.LearningRate, seed)
}

func (t fullGraph) Epoch(context.Context) ([]Epoch, []stats.Metrics, error) {
	outputs, err := t.step(t.epoch, t.drawn)
	if err != nil {
		return nil, nil, err
	}
	defer gomlx.Finalize(outputs)
	epochs, metrics := make([]Epoch, len(t.validatedBy)), make([]stats.Metrics, len(t.validatedBy))
	loss := float64(tensors.ToScalar[float32](outputs[0]))
	for k, v := range t.validations {
		predictions, err := tensors.CopyFlatData[int32](outputs[2+2*k])
		if err != nil {
			return nil, nil, gomlx.Error(err)
		}
		m, err := stats.Evaluate(predictions, v.labels, t.graph.NumClasses())
		if err != nil {
			return nil, nil, err
		}
		for view, by := range t.validatedBy {
			if by == k {
				epochs[view] = Epoch{TrainLoss: loss, ValidationLoss: float64(tensors.ToScalar[float32](outputs[1+2*k])),
					ValidationF1: m.MacroF1, ValidationAccuracy: m.Accuracy}
				metrics[view] = m
			}
		}
	}
	return epochs, metrics, nil
}

func (t fullGraph) Weights() ([]infer.Weight, error) { return variables.WeightsOf(t.store) }
func (t fullGraph) Keep(*Trial) error                { return nil }
func (t fullGraph) End(*Trial)                       {}

func (t fullGraph) Predict(_ context.Context, trial *Trial) ([]int32, error) {
	err := variables.SetWeights(t.store, trial.Weights)
	if err != nil {
		return nil, err
	}
	var classes []int32
	if t.predictor != nil {
		classes, err = t.predictor.predict(t.Trainer, trial.Weights)
	} else {
		classes, err = t.Trainer.Predict()
	}
	if err != nil {
		return nil, err
	}
	return learn.OnGraph(t.graph, t.view.Test, classes), nil
}

func (t fullGraph) PredictCached(_ context.Context, _ *Trial, together bool) (classes []int32, err error) {
	defer gomlx.Guard(&err, "predicting from the cache")
	all, err := t.representCached(together)
	if err != nil {
		return nil, err
	}
	return learn.OnGraph(t.graph, t.view.Test, last(all).Classes()), nil
}

func (t fullGraph) Cache(context.Context, *Trial) (*cached.Cache, error) { return t.Trainer.Cache() }

func (t fullGraph) Score(classes []int32) (stats.Metrics, error) {
	return learn.EvaluateOnGraph(t.graph, t.view.Test, classes)
}

// step runs a compiled epoch on the next draws of a trial.
func (t *Trainer) step(epoch *model.Exec, d *learn.Draws) ([]*tensors.Tensor, error) {
	t.options.Mask.Draw(rand.New(d.Masks), d.Delta)
	return learn.Run(epoch, d, t.options.WeightDecay, tensors.FromFlatDataAndDimensions(d.Delta, len(d.Delta), 1))
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
	// F1 and accuracy stay finite where logits are NaN.
	case math.IsNaN(history[best-1].ValidationLoss):
		return fmt.Errorf("epoch %d, the best one: the validation loss is NaN: %s", best, remedy)
	}
	return nil
}
