// Package train trains models: a trainer compiled once for a view of a graph, trials of it with early stopping, and
// experiments of many trials side by side.
package train

import (
	"math"

	"nodemask/nmgnn/hyper"
)

// earlyStopping follows validation scores and tells when to stop: after Patience epochs in a row without a new best.
type earlyStopping struct {
	On       hyper.StopOn // "": hyper.StopOnLoss
	Patience int

	loss, score  float64 // the best so far; score is the one followed, of which lower is better
	best, seen   int     // epochs: of the best scores, from 1 (0: none yet), and the last
	waitingSince int     // epoch after which patience runs
}

// observe takes the scores of the next epoch and reports whether it is the best so far. NaN never is.
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

// observeEither goes by what GAT's authors published: ties count, as better accuracies are rare.
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

// over reports whether patience has run out.
func (e *earlyStopping) over() bool { return e.seen-e.waitingSince >= e.Patience }
