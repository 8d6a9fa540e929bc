// Package joint takes effects in many readings, cells or splits together: their joint test, their pool, what explains
// their variance, and what could have been detected.
package joint

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Result holds the result of a [Test]. Median is in the unit of the effects; shares and p-values are from 0 to 1.
type Result struct {
	Readings, Splits int

	Median   float64 // over readings, of the mean over splits
	Positive float64 // share of readings whose mean is above 0 by a two-sided paired t-test, p < 0.05
	Negative float64 // share of those below 0

	MedianP   float64 // two-sided: probability of a median at least as far from 0, if no reading has an effect
	PositiveP float64 // one-sided: probability of at least as large a share of positive readings, if none has an effect
	NegativeP float64 // the same of negative ones
}

const (
	mostSplits   = 13 // 2^13 patterns of 600 readings take a tenth of a second
	significance = 0.05
)

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// Test asks whether there is an effect at all in many readings of one experiment, which share their splits and so
// are far from independent. effects[reading][split] is a paired difference. If there is no effect, the differences of
// a split are as likely with all signs turned: of all readings at once, which keeps how they hang together (Simonsohn,
// Simmons and Nelson 2020, "Specification curve analysis", do so by shuffling). With signs s ∈ {-1, 1}^splits and
// differences d_rj:
//
//	m_r(s)   = Σ_j s_j·d_rj / splits
//	p-value  = |{s : statistic(s) at least as extreme as statistic(1, …, 1)}| / |{s}|
//
// s goes through all 2^splits patterns, so the p-values are exact. The observed pattern counts: no p-value is 0, and
// with few splits none is small: 2/2^splits is the least of the median's, 1/2^splits of the shares'. Medians are
// compared to within 1e-9 of the largest difference, so that patterns that tie on paper tie in floating point too.
//
// It is an error if there are no readings, fewer than 2 splits or more than 13, if readings differ in splits, or if a
// difference is not finite or so large that its square is not.
func Test(effects [][]float64) (Result, error) {
	t, err := newSignTest(effects)
	if err != nil {
		return Result{}, fmt.Errorf("joint test: %w", err)
	}
	readings, splits := len(effects), len(effects[0])
	signs := make([]float64, splits)
	for j := range signs {
		signs[j] = 1
	}
	observed := t.under(signs)
	r := Result{Readings: readings, Splits: splits, Median: observed.median / float64(splits),
		Positive: float64(observed.positive) / float64(readings), Negative: float64(observed.negative) / float64(readings)}

	var median, positive, negative int
	count := func(s signStatistics) {
		if math.Abs(s.median) >= math.Abs(observed.median)-t.slack {
			median++
		}
		if s.positive >= observed.positive {
			positive++
		}
		if s.negative >= observed.negative {
			negative++
		}
	}
	// The last split keeps its sign: a pattern with all signs turned has the same statistics, but for theirs.
	for pattern := range 1 << (splits - 1) {
		for j := range splits - 1 {
			signs[j] = float64(1 - 2*(pattern>>j&1))
		}
		s := t.under(signs)
		count(s)
		count(signStatistics{-s.median, s.negative, s.positive})
	}
	n := float64(int(1) << splits)
	r.MedianP, r.PositiveP, r.NegativeP = float64(median)/n, float64(positive)/n, float64(negative)/n
	return r, nil
}

// signTest has what does not change with the signs.
type signTest struct {
	bySplit   [][]float64 // [split][reading]
	threshold []float64   // [reading] that |Σ_j s_j·d_j| is above where the t-test has p < 0.05
	sums      []float64   // [reading], of one pattern
	slack     float64     // up to which sums count as equal
}

// signStatistics are those of one pattern of signs; median is that of sums over splits, not of means.
type signStatistics struct {
	median             float64
	positive, negative int
}

func newSignTest(effects [][]float64) (*signTest, error) {
	if len(effects) == 0 {
		return nil, errors.New("no readings: expected at least 1")
	}
	splits := len(effects[0])
	if splits < 2 || splits > mostSplits {
		return nil, fmt.Errorf("%d splits: expected 2 to %d", splits, mostSplits)
	}
	t := &signTest{threshold: make([]float64, len(effects)), sums: make([]float64, len(effects))}
	for range splits {
		t.bySplit = append(t.bySplit, make([]float64, len(effects)))
	}
	// t = m/√(v/n) with v = (Σd² - n·m²)/(n-1), and signs leave Σd² as it is. So t² > c² says no more than
	// (Σ s·d)² > Σd²·n·c²/(n-1+c²): a threshold for each reading, whatever the signs.
	n := float64(splits)
	c := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(1 - significance/2)
	factor := n * c * c / (n - 1 + c*c)
	largest := 0.0
	for r, differences := range effects {
		if len(differences) != splits {
			return nil, fmt.Errorf("reading %d has %d splits, the first has %d: expected equally many", r, len(differences),
				splits)
		}
		squares := 0.0
		for j, d := range differences {
			if !finite(d) {
				return nil, fmt.Errorf("reading %d, split %d is %v: expected a finite number", r, j, d)
			}
			t.bySplit[j][r] = d
			squares += d * d
			largest = max(largest, math.Abs(d))
		}
		if t.threshold[r] = math.Sqrt(factor * squares); !finite(t.threshold[r]) {
			return nil, fmt.Errorf("reading %d: the differences' squares are not within the range of float64: scale them", r)
		}
	}
	t.slack = 1e-9 * largest
	return t, nil
}

// under returns the statistics under a pattern of signs, [splits] of 1 and -1.
func (t *signTest) under(signs []float64) signStatistics {
	clear(t.sums)
	for j, sign := range signs {
		for r, d := range t.bySplit[j] {
			t.sums[r] += sign * d
		}
	}
	var s signStatistics
	for r, sum := range t.sums {
		if sum > t.threshold[r] {
			s.positive++
		} else if -sum > t.threshold[r] {
			s.negative++
		}
	}
	slices.Sort(t.sums)
	s.median = (t.sums[(len(t.sums)-1)/2] + t.sums[len(t.sums)/2]) / 2
	return s
}
