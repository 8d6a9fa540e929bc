package judge

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"nodemask/datasets"
	"nodemask/paper/record"
	"nodemask/stats"
)

// Question asks for an effect in some readings, over train set sizes.
type Question struct {
	Axes        []Axis
	Data, Model string
	Setting     datasets.Setting
	Sizes       []int
	// Seeds of the splits that count.
	Seeds    []uint64
	Readings []Reading
	// Contrast is the effect; by default masking's.
	Contrast Contrast
}

// Effect is masking's effect in a reading.
type Effect struct {
	Reading Reading
	// Differences [size][split] of macro F1, in points.
	Differences   [][]float64
	Plain, Masked []float64 // mean macro F1 in percent, by size
	// Pooled tests the mean over sizes; splits are its units.
	Pooled stats.TTest
}

// Effects holds all readings' effects on common splits.
type Effects struct {
	Question
	Splits  []uint64
	Effects []Effect // in the order of Readings
}

type lookup struct {
	Question
	results *record.Results
	found   map[record.Cell]map[uint64]record.Reading
}

func (q Question) look(r *record.Results) *lookup {
	return &lookup{q, r, map[record.Cell]map[uint64]record.Reading{}}
}

func (l *lookup) of(r Reading, arm Arm, size int) (map[uint64]record.Reading, error) {
	c, err := r.Cell(l.Axes, arm, l.Data, l.Model, l.Setting, size)
	if err != nil {
		return nil, err
	}
	scores, ok := l.found[c]
	if !ok {
		scores = l.results.Readings(c)
		l.found[c] = scores
	}
	return scores, l.results.Err()
}

func (l *lookup) splits(arms ...Arm) ([]uint64, error) {
	common := slices.Clone(l.Seeds)
	for _, reading := range l.Readings {
		for _, size := range l.Sizes {
			for _, arm := range arms {
				scores, err := l.of(reading, arm, size)
				if err != nil {
					return nil, err
				}
				common = slices.DeleteFunc(common, func(seed uint64) bool {
					_, ok := scores[seed]
					return !ok
				})
			}
		}
	}
	return common, nil
}

// Effects returns the contrast in every reading, on their common splits; with fewer than two there are no effects.
// Cached scores in the transductive setting are an error.
func (q Question) Effects(r *record.Results) (*Effects, error) {
	all := &Effects{Question: q}
	var err error
	l := q.look(r)
	if all.Splits, err = l.splits(Plain, Masked); err != nil || len(all.Splits) < 2 {
		return all, err
	}
	for _, reading := range q.Readings {
		e := Effect{Reading: reading}
		for _, size := range q.Sizes {
			scores := map[Score][]float64{}
			read := func(score Score) (f1 []float64, err error) {
				if scores[score] == nil {
					scores[score], err = l.scores(reading, size, score, all.Splits)
				}
				return scores[score], err
			}
			differences, err := q.Contrast.differences(read)
			if err != nil {
				return nil, err
			}
			plain, err := read(Score{Arm: Plain})
			if err != nil {
				return nil, err
			}
			masked, err := read(Score{Arm: Masked})
			if err != nil {
				return nil, err
			}
			e.Differences = append(e.Differences, differences)
			e.Plain, e.Masked = append(e.Plain, stat.Mean(plain, nil)), append(e.Masked, stat.Mean(masked, nil))
		}
		if e.Pooled, err = stats.Pooled(e.Differences); err != nil {
			return nil, fmt.Errorf("%s: %w", reading.Words(q.Axes, q.Setting), err)
		}
		all.Effects = append(all.Effects, e)
	}
	return all, nil
}

// F1 returns an arm's macro F1, in percent, by seed.
func (q Question) F1(r *record.Results, reading Reading, arm Arm, size int) (map[uint64]float64, error) {
	found, err := q.look(r).of(reading, arm, size)
	scores := map[uint64]float64{}
	for seed, one := range found {
		scores[seed] = one.F1
	}
	return scores, err
}
