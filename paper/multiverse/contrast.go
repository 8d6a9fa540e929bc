package multiverse

import (
	"fmt"
	"slices"

	"nodemask/datasets"
	"nodemask/stats"
)

// Score is what is read of a trial: macro F1 on the test nodes of an arm, computed from the whole graph or, in the inductive
// setting, from the cache.
type Score struct {
	Arm    Arm
	Cached bool
}

// Contrast is a difference of scores, the sum of Plus less that of Minus: what a claim says is above zero. The zero value stands
// for the arm with masking less the one without.
type Contrast struct{ Plus, Minus []Score }

// scores returns what is read of the trials of a reading at a size, by split.
func (r *Results) scores(q Question, reading Reading, size int, score Score, splits []uint64) ([]float64, error) {
	if score.Cached && q.Setting != datasets.Inductive {
		return nil, fmt.Errorf("multiverse: a cached score in the %s setting: only the inductive one has them", q.Setting)
	}
	k, err := q.key(reading, score.Arm, size)
	if err != nil {
		return nil, err
	}
	f1 := make([]float64, len(splits))
	for i, seed := range splits {
		of := r.trials[k.cell][seed].F1
		if score.Cached {
			of = r.trials[k.cell][seed].Cached
		}
		f1[i] = of[k.stop][k.arrivals]
	}
	return f1, nil
}

// differences are those of the question's contrast in a reading at a size, by split.
func (r *Results) differences(q Question, reading Reading, size int, splits []uint64) ([]float64, error) {
	plus, minus := q.Contrast.Plus, q.Contrast.Minus
	if len(plus)+len(minus) == 0 {
		plus, minus = []Score{{Arm: Masked}}, []Score{{Arm: Plain}}
	}
	sum := make([]float64, len(splits))
	for i, score := range append(slices.Clone(plus), minus...) {
		f1, err := r.scores(q, reading, size, score, splits)
		if err != nil {
			return nil, err
		}
		for k := range sum {
			if i < len(plus) {
				sum[k] += f1[k]
			} else {
				sum[k] -= f1[k]
			}
		}
	}
	return sum, nil
}

// From returns the effects as they stand above -margin instead of above 0, margin being in points. It returns an error if they
// cannot be tested.
func (e *Effects) From(margin float64) (*Effects, error) {
	if margin == 0 {
		return e, nil
	}
	some := *e
	some.Effects = slices.Clone(e.Effects)
	for i, effect := range some.Effects {
		shifted := make([][]float64, len(effect.Differences))
		for size, differences := range effect.Differences {
			for _, d := range differences {
				shifted[size] = append(shifted[size], d+margin)
			}
		}
		pooled, err := stats.Pooled(shifted)
		if err != nil {
			return nil, fmt.Errorf("multiverse: %s: %w", effect.Reading.Words(e.Axes, e.Setting), err)
		}
		some.Effects[i].Differences, some.Effects[i].Pooled = shifted, pooled
	}
	return &some, nil
}
