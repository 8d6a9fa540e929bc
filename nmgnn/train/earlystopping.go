// Package train trains models: a trainer compiled once for a view of a graph, trials of it with early stopping, and
// experiments of many trials side by side.
package train

import "math"

// EarlyStopping follows a validation score, of which lower is better, and tells when to stop: after Patience epochs in a row
// without a new best.
type EarlyStopping struct {
	Patience int

	best  float64
	epoch int // of the best, from 1
	seen  int
}

// Observe takes the score of the next epoch and reports whether it is the best so far. NaN never is.
func (e *EarlyStopping) Observe(score float64) (best bool) {
	if e.seen == 0 {
		e.best = math.Inf(1)
	}
	e.seen++
	if score < e.best {
		e.best, e.epoch = score, e.seen
		return true
	}
	return false
}

// Stop reports whether patience has run out.
func (e *EarlyStopping) Stop() bool { return e.seen-e.epoch >= e.Patience }

// BestEpoch returns the epoch of the best score, counted from 1; 0 if there was none.
func (e *EarlyStopping) BestEpoch() int { return e.epoch }
