package advice

import (
	"math"
	"slices"
	"time"

	"nodemask/datasets"
	"nodemask/paper/judge"
	"nodemask/stats"
)

// looks lists the numbers of splits after which a regulariser is judged.
func looks() []int { return []int{3, 5, 8, 12, 18, 27, 40, 60, 90, 135} }

func mostSplits() int { return looks()[len(looks())-1] }

// familyError returns the error probability of the comparison at index rank in the order of testing. These
// probabilities add up to 5 % over all ranks, which bounds the probability that any "helps" or "hurts" is wrong.
func familyError(rank int) float64 { return 0.05 / float64((rank+1)*(rank+2)) }

const sideError = 0.1

func spent(probability float64) float64 { return probability / float64(len(looks())) }

// seenAt returns how many of n finished splits a decision may use: the largest number in [looks] that is at most n, or
// 0. Later splits are ignored, so that a resumed run ends with the same result as an uninterrupted run.
func seenAt(n int) (at int) {
	for _, look := range looks() {
		if look <= n {
			at = look
		}
	}
	return at
}

func (a *Arm) judge(base []float64, rank int) error {
	if a.rank = rank; len(base) < 2 {
		return nil
	}
	t, err := stats.PairedTTest(a.F1, base)
	if err != nil {
		return err
	}
	half := stats.HalfWidth(t.StdDev, t.N, spent(sideError))
	a.Effect = &Effect{Splits: t.N, Mean: t.MeanDifference, StdDev: t.StdDev, Low: t.MeanDifference - half,
		High: t.MeanDifference + half}
	a.Verdict = judge.VerdictWithin(t.MeanDifference, half, t.P < spent(familyError(rank)))
	return nil
}

func (a *Arm) settled() bool { return a.Verdict != "" && a.Verdict != judge.Unclear }

func (q *Question) collapse(g *datasets.Graph) {
	var all []float64
	for _, a := range q.Arms {
		all = append(all, a.F1...)
	}
	if len(all) == 0 {
		return
	}
	limit := max(stats.Median(all)/2, 100*ConstantF1(g)+3)
	for _, a := range q.Arms {
		a.Collapsed = 0
		for _, f1 := range a.F1 {
			if f1 <= limit {
				a.Collapsed++
			}
		}
	}
}

// ConstantF1 returns the macro F1, from 0 to 1, of predicting a graph's most frequent class for every node.
func ConstantF1(g *datasets.Graph) float64 {
	counts, total := make([]int, g.NumClasses()), 0
	for _, c := range g.Labels {
		if c != datasets.Unlabelled {
			counts[c]++
			total++
		}
	}
	most := slices.Max(counts)
	return 2 * float64(most) / float64(most+total) / float64(len(counts))
}

const usual = 18

func (a *Arm) more() int {
	e := a.Effect
	switch {
	case a.settled():
		return 0
	case e == nil:
		return usual
	}
	for _, n := range looks() {
		if n > e.Splits && (stats.HalfWidth(e.StdDev, n, spent(familyError(a.rank))) < math.Abs(e.Mean) ||
			stats.HalfWidth(e.StdDev, n, spent(sideError)) < judge.Margin-math.Abs(e.Mean)) {
			return n - e.Splits
		}
	}
	return mostSplits() - e.Splits
}

func (s *study) left(a *Advice) (left time.Duration) {
	known := slices.IndexFunc(a.Questions, func(q *Question) bool { return q.seconds > 0 })
	if known < 0 {
		return 0
	}
	for _, q := range a.Questions {
		like := q
		if q.seconds == 0 {
			like = a.Questions[known]
		}
		if q.Arms[0].Chosen == nil {
			left += s.cost(like, plainArm, choosing(s.affordable(like, plainArm, plainTried, 5)))
		}
		most := 0
		for k, of := range arms() {
			arm := q.Arms[k+1]
			if arm.Chosen == nil {
				left += s.cost(like, of, choosing(s.affordable(like, of, armTried, 10)))
			}
			more := arm.more()
			left += s.cost(like, of, more)
			most = max(most, len(arm.F1)+more)
		}
		left += s.cost(like, plainArm, max(most-len(q.Arms[0].F1), 0))
	}
	return left
}
