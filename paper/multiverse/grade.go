package multiverse

import (
	"fmt"

	"nodemask/stats"
)

// Grade is what all readings together say of a claim.
type Grade string

// The grades there are, as the protocol defines them.
const (
	Reproduced    Grade = "reproduced"
	SameDirection Grade = "same direction"
	Depends       Grade = "depends on the reading"
	Inconclusive  Grade = "inconclusive"
	Contradicted  Grade = "contradicted"
	CannotTest    Grade = "cannot be tested"
	NotRun        Grade = "not run"
)

// Grades lists them, from the best for the paper to the worst, and then those that say nothing of it.
func Grades() []Grade {
	return []Grade{Reproduced, SameDirection, Depends, Inconclusive, Contradicted, CannotTest, NotRun}
}

// Judgement is a grade with what it rests on.
type Judgement struct {
	Grade    Grade
	Readings int
	// Shares of the readings whose pooled effect is significantly above zero, significantly below, and above at all; zero stands for
	// -Margin of the contrast.
	Above, Below, Positive float64
	Median                 float64 // of the pooled effects, in points
	Axis                   string  // of Depends: the one that explains most
	Detectable             float64 // of Inconclusive: the difference that would have been found with a power of 80 %, median over readings
}

// Judge grades the claim that the contrast is above its -Margin, that masking raises macro F1 if there is none, by the protocol's rule. published is the paper's own pooled effect.
func (e *Effects) Judge(published float64) (Judgement, error) {
	j := Judgement{Grade: NotRun, Readings: len(e.Effects)}
	if len(e.Effects) == 0 {
		return j, nil
	}
	n, below := float64(len(e.Effects)), 0.0 // the share of intervals that end below the published effect
	var pooled, detectable []float64
	least, err := stats.Detectable(1, e.Effects[0].Pooled.N) // all are on the same splits, and it goes with the deviation
	if err != nil {
		return j, fmt.Errorf("multiverse: %w", err)
	}
	zero := -e.Contrast.Margin
	for _, effect := range e.Effects {
		switch effect.side(zero) {
		case 1:
			j.Above += 1 / n
		case -1:
			j.Below += 1 / n
		}
		if effect.Pooled.MeanDifference > zero {
			j.Positive += 1 / n
		}
		if effect.Pooled.High < published {
			below += 1 / n
		}
		pooled = append(pooled, effect.Pooled.MeanDifference)
		detectable = append(detectable, effect.Pooled.StdDev*least)
	}
	j.Median = stats.Median(pooled)
	const almostAll, some, rounding = 0.9, 0.1, 1e-9
	switch {
	case j.Above >= almostAll-rounding:
		j.Grade = Reproduced
	case j.Below >= almostAll-rounding || below >= almostAll-rounding && j.Positive <= some+rounding:
		j.Grade = Contradicted
	case j.Positive >= almostAll-rounding:
		j.Grade = SameDirection
	case j.Above >= some-rounding || j.Below >= some-rounding:
		j.Grade = Depends
		names, variance, err := e.Explained()
		if err != nil {
			return j, fmt.Errorf("multiverse: %w", err)
		}
		most := 0.0
		for i, axis := range variance.Axes {
			if axis.Lost > most {
				most, j.Axis = axis.Lost, names[i]
			}
		}
	default:
		j.Grade, j.Detectable = Inconclusive, stats.Median(detectable)
	}
	return j, nil
}
