// Package train runs trials with early stopping, and experiments of many trials.
package train

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"

	"nodemask/internal/ended"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/learn"
	"nodemask/stats"
)

// ending is a stopping rule on a view.
type ending struct {
	On hyper.StopOn
	// View is the index of the view whose validation graph counts: 0 the trainer's, then [options].Also.
	View int
}

// endedBy is a trial's result under one stopping rule.
type endedBy struct {
	ending
	History    []Epoch // on its view, until patience ran out
	BestEpoch  int     // from 1
	Validation stats.Metrics
	Weights    []infer.Weight // of the best epoch; may be shared with other rules
}

// Train returns one trial; the seed determines initial weights, masks and dropout. report (may be nil) is called after
// each epoch. If cancelled, it returns the context's error and no trial.
func (t *trainer) Train(ctx context.Context, seed uint64, report func(epoch int, e Epoch)) (trial *Result, err error) {
	defer gomlx.Guard(&err, "training")
	return trainBy(ctx, fullGraph{t}, t.options, seed, report)
}

// follow returns a trial's result under each stopping rule. It stops once the training loss is not finite, as no later
// epoch could be better, and does not evaluate the test graph.
func (t *trainer) follow(ctx context.Context, seed uint64, stops []ending) (stopped []endedBy, err error) {
	defer gomlx.Guard(&err, "training")
	_, stopped, err = follow(ctx, fullGraph{t}, t.options, seed, stops, nil)
	return stopped, err
}

// trainable is a model compiled for one view, which trains trials one by one: on the whole graph (trainer) or in
// batches (batchTrainer).
type trainable interface {
	// Begin resets all training state and returns the trial, with its history if a checkpoint exists.
	Begin(seed uint64) (*Result, error)
	// Epoch trains for an epoch and returns validation results per view.
	Epoch(ctx context.Context) ([]Epoch, []stats.Metrics, error)
	// Weights returns a copy.
	Weights() ([]infer.Weight, error)
	// Keep is called with the trial after each epoch.
	Keep(trial *Result) error
	// End is called after the last epoch.
	End(trial *Result)
	// Predict returns the class of every node of the whole graph under the trial's weights; -1 outside the test graph.
	// PredictCached computes nodes outside the train graph from the cache: together, seeing one another, or apart, as
	// if each arrived alone.
	Predict(ctx context.Context, trial *Result) ([]int32, error)
	PredictCached(ctx context.Context, trial *Result, together bool) ([]int32, error)
	// Cache returns the cached representations under the trial's weights.
	Cache(ctx context.Context, trial *Result) (*cached.Cache, error)
	// Score returns the test metrics of predictions.
	Score(classes []int32) (stats.Metrics, error)
}

// trainBy returns one trial of p, like Train.
func trainBy(ctx context.Context, p trainable, o options, seed uint64,
	report func(epoch int, e Epoch)) (*Result, error) {
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

// endedBy copies a rule's best epoch, or returns why there is no result.
func (t *Result) endedBy(best endedBy, o options) error {
	t.BestEpoch, t.Validation, t.Weights = best.BestEpoch, best.Validation, best.Weights
	return o.fault(t.History, best.BestEpoch)
}

func follow(ctx context.Context, p trainable, o options, seed uint64, stops []ending,
	report func(epoch int, e Epoch)) (*Result, []endedBy, error) {
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

type followed struct {
	trial    *Result
	options  options
	stopped  []endedBy
	stopping []earlyStopping
	left     int // rules still running
}

// newFollowed replays the trial's history.
func newFollowed(trial *Result, o options, stops []ending) *followed {
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

func (f *followed) goesOn() bool {
	done := len(f.trial.History)
	return done < f.options.MaxEpochs && f.left > 0 && (done == 0 || !diverged(f.trial.History))
}

// add records an epoch's metrics per view; it calls weights if the epoch is the best so far under any rule.
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
			stop.Validation, stop.Weights = metrics[stop.View], of
		}
		stop.History = append(stop.History, measured[stop.View])
		if stopping.over() {
			f.left--
		}
	}
	f.trial.Validation, f.trial.Weights = f.stopped[0].Validation, f.stopped[0].Weights
	return nil
}

func (f *followed) end() ([]endedBy, error) {
	for i := range f.stopped {
		if f.stopped[i].BestEpoch = f.stopping[i].best; f.stopped[i].BestEpoch == 0 {
			return nil, f.options.fault(f.trial.History, 0)
		}
	}
	return f.stopped, nil
}

type fullGraph struct{ *trainer }

func (t fullGraph) Begin(seed uint64) (*Result, error) {
	t.drawn, t.trained = learn.NewDraws(seed, t.trainNodes()), true
	return &Result{Seed: seed}, t.start.Reset(t.store, t.options.LearningRate, seed)
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

func (t fullGraph) Weights() ([]infer.Weight, error) {
	return gomlx.WeightsOf[infer.Weight](t.store)
}
func (t fullGraph) Keep(*Result) error { return nil }
func (t fullGraph) End(*Result)        {}

func (t fullGraph) Predict(_ context.Context, trial *Result) ([]int32, error) {
	if err := gomlx.SetWeights(t.store, trial.Weights); err != nil {
		return nil, err
	}
	classes, err := t.trainer.Predict()
	if err != nil {
		return nil, err
	}
	return learn.OnGraph(t.graph, t.view.Test, classes), nil
}

func (t fullGraph) PredictCached(_ context.Context, _ *Result, together bool) (classes []int32, err error) {
	defer gomlx.Guard(&err, "predicting from the cache")
	all, err := t.representCached(together)
	if err != nil {
		return nil, err
	}
	return learn.OnGraph(t.graph, t.view.Test, last(all).Classes()), nil
}

func (t fullGraph) Cache(context.Context, *Result) (*cached.Cache, error) { return t.trainer.Cache() }

func (t fullGraph) Score(classes []int32) (stats.Metrics, error) {
	return learn.EvaluateOnGraph(t.graph, t.view.Test, classes)
}

func (t *trainer) step(epoch *model.Exec, d *learn.Draws) ([]*tensors.Tensor, error) {
	copy(d.Delta, t.options.DrawDelta(rand.New(d.Masks), len(d.Delta), t.view.Train.Score))
	return learn.Run(epoch, d, t.options.WeightDecay, tensors.FromFlatDataAndDimensions(d.Delta, len(d.Delta), 1))
}

// diverged reports whether the last training loss is not finite: no later epoch can be better.
func diverged(history []Epoch) bool {
	loss := last(history).TrainLoss
	return math.IsNaN(loss) || math.IsInf(loss, 0)
}

// fault returns why a trial gives no result, and a remedy, or nil; best counts from 1 (0: none).
func (o options) fault(history []Epoch, best int) error {
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

// earlyStopping stops after Patience epochs without a new best score.
type earlyStopping struct {
	On       hyper.StopOn // "": hyper.StopOnLoss
	Patience int

	loss, score  float64 // best so far; score is the monitored one, negated if higher is better
	best, seen   int     // epochs, from 1: the best (0: none yet), and the last
	waitingSince int     // start of patience
}

// observe reports whether the next epoch is the best so far. NaN never is.
func (e *earlyStopping) observe(scores Epoch) (best bool) {
	if e.seen == 0 {
		e.loss, e.score = math.Inf(1), math.Inf(1)
	}
	e.seen++
	if e.On == hyper.StopOnEither {
		return e.observeEither(scores)
	}
	score := scores.ValidationLoss
	switch e.On {
	case hyper.StopOnF1:
		score = -scores.ValidationF1
	case hyper.StopOnAccuracy:
		score = -scores.ValidationAccuracy
	}
	if score < e.score {
		e.score, e.best, e.waitingSince = score, e.seen, e.seen
		return true
	}
	return false
}

// observeEither is the rule of GAT's published code: ties count, as better accuracies are rare.
func (e *earlyStopping) observeEither(scores Epoch) (best bool) {
	lower, better := scores.ValidationLoss <= e.loss, -scores.ValidationAccuracy <= e.score
	if lower {
		e.loss = scores.ValidationLoss
	}
	if better {
		e.score = -scores.ValidationAccuracy
	}
	if lower || better {
		e.waitingSince = e.seen
	}
	if lower && better {
		e.best = e.seen
		return true
	}
	return false
}

func (e *earlyStopping) over() bool { return e.seen-e.waitingSince >= e.Patience }
