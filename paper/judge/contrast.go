package judge

import (
	"fmt"
	"slices"

	"nodemask/datasets"
)

// Score selects an arm's macro F1 on test nodes, from the whole graph or (inductive) the cache.
type Score struct {
	Arm    Arm
	Cached bool
}

// Contrast is the sum of Plus minus the sum of Minus, by default masked minus plain; a claim expects it above -Margin
// points.
type Contrast struct {
	Plus, Minus []Score
	Margin      float64
}

func (l *lookup) scores(reading Reading, size int, score Score, splits []uint64) ([]float64, error) {
	if score.Cached && l.Setting != datasets.Inductive {
		return nil, fmt.Errorf("a cached score in the %s setting: only the inductive one has them", l.Setting)
	}
	found, err := l.of(reading, score.Arm, size)
	if err != nil {
		return nil, err
	}
	f1 := make([]float64, len(splits))
	for i, seed := range splits {
		f1[i] = found[seed].F1
		if score.Cached {
			f1[i] = found[seed].Cached
		}
	}
	return f1, nil
}

func (c Contrast) differences(read func(Score) ([]float64, error)) ([]float64, error) {
	plus, minus := c.Plus, c.Minus
	if len(plus)+len(minus) == 0 {
		plus, minus = []Score{{Arm: Masked}}, []Score{{Arm: Plain}}
	}
	var sum []float64
	for i, score := range append(slices.Clone(plus), minus...) {
		f1, err := read(score)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			sum = make([]float64, len(f1))
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
