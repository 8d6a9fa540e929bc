package judge

// Grade is what the evidence says, of a claim or of what masking does.
type Grade string

// The grades of claims, as the protocols define them.
const (
	Reproduced    Grade = "reproduced"
	SameDirection Grade = "same direction"
	Depends       Grade = "depends on the representation"
	Inconclusive  Grade = "inconclusive"
	Contradicted  Grade = "contradicted"
	CannotTest    Grade = "cannot be tested"
	NotRun        Grade = "not run"
)

// The grades of what masking does to a model, with Inconclusive and NotRun.
const (
	Gains        Grade = "gains"
	Loses        Grade = "loses"
	NoDifference Grade = "no difference"
)

// Grades lists those of claims, from the best for the paper to the worst, and then those that say nothing of it.
func Grades() []Grade {
	return []Grade{Reproduced, SameDirection, Depends, Inconclusive, Contradicted, CannotTest, NotRun}
}

// Clear reports whether masking gains or loses.
func (g Grade) Clear() bool { return g == Gains || g == Loses }
