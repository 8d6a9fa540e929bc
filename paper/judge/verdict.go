package judge

import (
	"math"

	"nodemask/stats"
)

// Verdict is the word for masking's effect, or for another difference between two scores.
type Verdict string

// The verdicts.
const (
	Helps      Verdict = "helps"
	Hurts      Verdict = "hurts"
	Under      Verdict = "under a point"
	Unclear    Verdict = "can't tell"
	Unmeasured Verdict = "not run"
)

// Clear reports whether v is [Helps] or [Hurts].
func (v Verdict) Clear() bool { return v == Helps || v == Hurts }

// Margin is in points of macro F1. If a difference is not significant and its 90 % interval is within ±Margin,
// [VerdictOf] returns "under a point".
const Margin = 1.0

// VerdictOf returns "helps" or "hurts" if p < 0.05, where p may be corrected. Otherwise it returns "under a point" if
// the difference's 90 % interval is within ±1 (two one-sided tests of equivalence at 5 %), else "can't tell".
func VerdictOf(t stats.TTest, p float64) Verdict {
	return VerdictWithin(t.MeanDifference, stats.HalfWidth(t.StdDev, t.N, 0.1), p < 0.05)
}

// VerdictWithin applies the rule of [VerdictOf] to a difference. The 90 % interval is difference ± half. The parameter
// clear states whether the difference's sign is certain.
func VerdictWithin(difference, half float64, clear bool) Verdict {
	switch {
	case clear && difference > 0:
		return Helps
	case clear && difference < 0:
		return Hurts
	case math.Abs(difference)+half < Margin:
		return Under
	}
	return Unclear
}

// Grade is the verdict on a claim of the paper.
type Grade string

// The grades that a claim of the paper can get, as defined in docs/CLAIMS.md.
const (
	Reproduced    Grade = "reproduced"
	SameDirection Grade = "same direction"
	Depends       Grade = "depends on the reading"
	UnderAPoint   Grade = "under a point"
	CannotTell    Grade = "can't tell"
	Contradicted  Grade = "contradicted"
	CannotTest    Grade = "cannot be tested"
	NotRun        Grade = "not run"
)

// Grades returns all grades, best first; [CannotTest] and [NotRun] do not judge the paper.
func Grades() []Grade {
	return []Grade{Reproduced, SameDirection, Depends, UnderAPoint, CannotTell, Contradicted, CannotTest, NotRun}
}
