// Package train runs trials with early stopping, and experiments of many trials.
package train

import (
	"context"
	"fmt"
	"math"
	"time"

	"nodemask/internal/ended"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/stats"
)

// stopped is a trial's result under one stopping rule.
type stopped struct {
	earlyStopping
	// View is the index of the [datasets.View] with the validation graph: 0 for the trainer's view, i for
	// [options].Also[i-1].
	View int

	// one entry per epoch until patience ran out
	History    []Epoch
	Validation stats.Metrics
	// weights of the best epoch under this stopping rule; other results may share the slice
	Weights []infer.Weight
}

type trainable interface {
	how() options
	// Begin resets all training state for a new trial.
	Begin(ctx context.Context, seed uint64) error
	// Epoch trains for one epoch. It returns losses and scores for each view (a train, a validation and a test graph).
	Epoch(ctx context.Context) ([]Epoch, []stats.Metrics, error)
	Weights() ([]infer.Weight, error)
	// Predict predicts the class of every node of the whole graph with the trial's weights; nodes outside the test
	// graph get -1. PredictCached predicts new nodes, those outside the train graph, from cached representations. If
	// together is true, it uses edges between new nodes; else it treats each new node as if it arrived alone.
	Predict(ctx context.Context, trial *Result) ([]int32, error)
	PredictCached(ctx context.Context, trial *Result, together bool) ([]int32, error)
	Cache(ctx context.Context, trial *Result) (*cached.Cache, error)
	score(classes []int32) (stats.Metrics, error)
}

// trainBy trains p for one trial; the seed determines all random numbers.
func trainBy(ctx context.Context, p trainable, seed uint64,
	report func(epoch int, e Epoch)) (_ *Result, err error) {
	defer gomlx.Guard(&err, "training")
	begin := time.Now()
	rules := []stopped{{earlyStopping: earlyStopping{On: p.how().StopOn}}}
	history, err := follow(ctx, p, seed, rules, report)
	if err != nil {
		return nil, err
	}
	best := rules[0]
	if err := p.how().fault(history, best.best); err != nil {
		return nil, err
	}
	trial := &Result{Seed: seed, History: history, BestEpoch: best.best, Validation: best.Validation,
		Weights: best.Weights}
	if trial.Predictions, err = p.Predict(ctx, trial); err != nil {
		return nil, err
	}
	if trial.Test, err = p.score(trial.Predictions); err != nil {
		return nil, err
	}
	trial.Seconds = time.Since(begin).Seconds()
	return trial, nil
}

// follow trains until every early-stopping rule would stop, and stores each rule's result in rules. It also stops when
// the training loss is not finite: no later epoch could be better.
func follow(ctx context.Context, p trainable, seed uint64, rules []stopped,
	report func(epoch int, e Epoch)) (history []Epoch, err error) {
	if err := p.Begin(ctx, seed); err != nil {
		return nil, err
	}
	o := p.how()
	for i := range rules {
		rules[i].Patience = o.Patience
	}
	for waiting := true; waiting && len(history) < o.MaxEpochs; {
		if err := ended.Err(ctx); err != nil {
			return nil, err
		}
		measured, metrics, err := p.Epoch(ctx)
		if err != nil {
			return nil, fmt.Errorf("epoch %d: %w", len(history)+1, err)
		}
		history = append(history, measured[0])
		if diverged(history) {
			break
		}
		var weights []infer.Weight
		waiting = false
		for i := range rules {
			rule := &rules[i]
			if rule.over() {
				continue
			}
			if rule.observe(measured[rule.View]) {
				if weights == nil {
					if weights, err = p.Weights(); err != nil {
						return nil, err
					}
				}
				rule.Validation, rule.Weights = metrics[rule.View], weights
			}
			rule.History = append(rule.History, measured[rule.View])
			waiting = waiting || !rule.over()
		}
		if report != nil {
			report(len(history), measured[0])
		}
	}
	for _, rule := range rules {
		if rule.best == 0 {
			return nil, o.fault(history, 0)
		}
	}
	return history, nil
}

func diverged(history []Epoch) bool {
	loss := last(history).TrainLoss
	return math.IsNaN(loss) || math.IsInf(loss, 0)
}

// fault returns an error if training diverged or found no usable best epoch. best counts epochs from 1; 0 means none.
func (o options) fault(history []Epoch, best int) error {
	remedy := fmt.Sprintf("the learning rate %v may be too high, or the features too large", o.LearningRate)
	switch {
	case diverged(history):
		return fmt.Errorf("epoch %d: the training loss is %v: %s", len(history), last(history).TrainLoss, remedy)
	case best == 0:
		return fmt.Errorf("no validation loss in %d epochs was a number: %s", len(history), remedy)
	// F1 and accuracy are finite even if logits are NaN, so an epoch with NaN logits can be the best.
	case math.IsNaN(history[best-1].ValidationLoss):
		return fmt.Errorf("epoch %d, the best one: the validation loss is NaN: %s", best, remedy)
	}
	return nil
}

type earlyStopping struct {
	On       hyper.StopOn // "" means hyper.StopOnLoss
	Patience int

	loss, score  float64 // best values so far; score is the monitored value, negated if higher is better
	best, seen   int     // numbers, from 1, of the best and the latest epoch; 0 means none yet
	waitingSince int     // epoch from which patience counts
}

// An epoch with a NaN score never is the best.
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

// observeEither counts an epoch as the best if both its loss and its accuracy are at least as good as the best so far.
// Patience also begins again if only the loss or only the accuracy is that good. A tie counts, because accuracy seldom
// gets better.
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
