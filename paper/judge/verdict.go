package judge

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"nodemask/stats"
)

// Verdict is the word for a difference in points.
type Verdict string

// The verdicts.
const (
	Helps      Verdict = "helps"
	Hurts      Verdict = "hurts"
	Under      Verdict = "under a point"
	Unclear    Verdict = "can't tell"
	Unmeasured Verdict = "not run"
)

// Clear reports whether it helps or hurts.
func (v Verdict) Clear() bool { return v == Helps || v == Hurts }

// VerdictOf names a difference in points: "helps" or "hurts" if p < 0.05 (p may be corrected); else "under a point" if
// its 90 % interval is within ±1 (two one-sided tests of equivalence at 5 %); else "can't tell".
func VerdictOf(t stats.TTest, p float64) Verdict {
	half := 0.0
	if t.StdDev > 0 {
		n := float64(t.N)
		half = distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(0.95) * t.StdDev / math.Sqrt(n)
	}
	switch {
	case p < 0.05 && t.MeanDifference > 0:
		return Helps
	case p < 0.05 && t.MeanDifference < 0:
		return Hurts
	case math.Abs(t.MeanDifference)+half < 1:
		return Under
	}
	return Unclear
}
