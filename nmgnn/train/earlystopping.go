// Package train runs trials with early stopping, and experiments of many trials.
package train

import (
	"math"

	"nodemask/nmgnn/hyper"
)

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
