package advice

import (
	"math"
	"slices"
	"time"

	"nodemask/datasets"
	"nodemask/stats"
)

// seenAt returns the last look that n splits complete. Extra splits wait: a resumed run must end like an uninterrupted
// one.
func seenAt(n int) (at int) {
	for _, look := range looks() {
		if look <= n {
			at = look
		}
	}
	return at
}

func (a *Arm) judge(plain, own []float64, alpha float64) error {
	a.Verdict = Open
	if len(own) < 2 {
		return nil
	}
	differences := make([]float64, len(own))
	for i := range own {
		differences[i] = own[i] - plain[i]
	}
	t, err := stats.AnytimeTTest(differences, alpha)
	if err != nil {
		return err
	}
	a.alpha = alpha
	above, err := stats.AnytimeTTest(differences, alphaAbove)
	if err != nil || math.IsInf(t.High, 1) {
		return err
	}
	a.Effect = &Effect{Splits: t.N, Mean: t.Mean, StdDev: t.StdDev, Low: t.Low, High: above.High}
	switch {
	case t.Low > 0:
		a.Verdict = Helps
	case t.High < 0:
		a.Verdict = Hurts
	case above.High < Margin:
		a.Verdict = NoMatter
	}
	return nil
}

func (a *Arm) settled() bool { return a.Verdict != Open }

// collapse counts splits on which arms score at most 3 points above a constant prediction, or half the median arm.
func (q *Question) collapse(g *datasets.Graph, arms []*Arm) {
	var all []float64
	for _, a := range arms {
		all = append(all, a.F1...)
	}
	if len(all) == 0 {
		return
	}
	limit := max(stats.Median(all)/2, 100*constantF1(g)+3)
	for _, a := range arms {
		a.Collapsed = 0
		for _, f1 := range a.F1 {
			if f1 <= limit {
				a.Collapsed++
			}
		}
	}
}

// constantF1 is the macro F1 of always predicting the most frequent class.
func constantF1(g *datasets.Graph) float64 {
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

// usual is the assumed number of splits that settle an arm.
const usual = 30

// more estimates the further splits that settle the arm; 0: settled, or all used.
func (a *Arm) more() int {
	all := mostSplits()
	switch e := a.Effect; {
	case a.settled() || e != nil && e.Splits >= all:
		return 0
	case e == nil:
		return usual
	default:
		differences := stats.Anytime{StdDev: e.StdDev}
		helps := differences.Reach(e.Mean, a.alpha, all)
		return max(min(helps, differences.Reach(Margin-e.Mean, alphaAbove, all))-e.Splits, 1)
	}
}

func (s *study) left(a *Advice) (left time.Duration) {
	for _, q := range a.Questions {
		if q.seconds == 0 {
			continue
		}
		if q.Arms[0].Chosen == nil {
			left += s.cost(q, arm{cost: 1}, choosing(plainTried))
		}
		most := 0
		for k, arm := range arms() {
			if q.Arms[k+1].Chosen == nil {
				left += s.cost(q, arm, choosing(max(s.tried, fewTried)))
			}
			more := q.Arms[k+1].more()
			left += s.cost(q, arm, more)
			most = max(most, more)
		}
		left += s.cost(q, arm{cost: 1}, most)
	}
	return left
}
