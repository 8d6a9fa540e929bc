package judge

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"nodemask/datasets"
	"nodemask/paper/record"
	"nodemask/stats"
)

// Question asks for an effect on macro F1, usually the effect of masking, in several readings (interpretations) of the
// paper and at several train set sizes.
type Question struct {
	Axes        []Axis
	Data, Model string
	Setting     datasets.Setting
	Sizes       []int
	Seeds       []uint64
	Readings    []Reading
	// Contrast defines the effect; the zero value is masked minus unmasked.
	Contrast Contrast
}

// Scores are macro F1 on one split's test nodes, without and with masking. PlainCached and MaskedCached (inductive) are
// macro F1 of predictions from cached representations.
type Scores struct{ Plain, Masked, PlainCached, MaskedCached float64 }

// Contrast defines an effect on macro F1. The claim to test is that this effect is above -Margin points.
type Contrast struct {
	Of        func(Scores) float64 // nil means Masked - Plain
	PlainOnly bool                 // the function Of reads only scores without masking
	Margin    float64
}

// Effect is the value of a [Contrast] in one reading (interpretation) of the paper.
type Effect struct {
	Reading Reading
	// Differences holds the effect in points of macro F1, by train set size, then by split.
	Differences   [][]float64
	Plain, Masked []float64 // mean macro F1 in percent, by train set size
	// Pooled is a t-test over splits. Each split's value is the effect, averaged over train set sizes.
	Pooled stats.TTest
}

// Effects returns the effect in each of q.Readings (interpretations of the paper), on splits with trials under all
// interpretations. With fewer than two such splits, it returns no effects.
func (q Question) Effects(r *record.Results) (splits []uint64, effects []Effect, err error) {
	splits = slices.Clone(q.Seeds)
	// Per interpretation of the paper, found has an element per train set size: unmasked and masked results by seed.
	var found [][2]map[uint64]record.Reading
	for _, reading := range q.Readings {
		for _, size := range q.Sizes {
			var arms [2]map[uint64]record.Reading
			for i, arm := range []Arm{Plain, Masked} {
				c, err := reading.Cell(q.Axes, arm, q.Data, q.Model, q.Setting, size)
				if err != nil {
					return nil, nil, err
				}
				arms[i] = r.Readings(c)
			}
			splits = slices.DeleteFunc(splits, func(seed uint64) bool {
				_, plain := arms[0][seed]
				_, masked := arms[1][seed]
				return !plain || !masked
			})
			found = append(found, arms)
		}
	}
	if r.Err() != nil || len(splits) < 2 {
		return splits, nil, r.Err()
	}
	of := q.Contrast.Of
	if of == nil {
		of = func(s Scores) float64 { return s.Masked - s.Plain }
	}
	for i, reading := range q.Readings {
		e := Effect{Reading: reading}
		for _, arms := range found[i*len(q.Sizes):][:len(q.Sizes)] {
			var differences, plain, masked []float64
			for _, seed := range splits {
				p, m := arms[0][seed], arms[1][seed]
				differences = append(differences, of(Scores{p.F1, m.F1, p.Cached, m.Cached}))
				plain, masked = append(plain, p.F1), append(masked, m.F1)
			}
			e.Differences = append(e.Differences, differences)
			e.Plain, e.Masked = append(e.Plain, stat.Mean(plain, nil)), append(e.Masked, stat.Mean(masked, nil))
		}
		if e.Pooled, err = stats.Pooled(e.Differences); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", Departure(q.Axes, reading), err)
		}
		effects = append(effects, e)
	}
	return splits, effects, nil
}

// F1 returns macro F1 on test nodes, without or with masking according to arm, in percent, by seed.
func (q Question) F1(r *record.Results, reading Reading, arm Arm, size int) (map[uint64]float64, error) {
	c, err := reading.Cell(q.Axes, arm, q.Data, q.Model, q.Setting, size)
	if err != nil {
		return nil, err
	}
	scores := map[uint64]float64{}
	for seed, one := range r.Readings(c) {
		scores[seed] = one.F1
	}
	return scores, r.Err()
}
