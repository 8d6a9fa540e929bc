package multiverse

// Grade is what the evidence says of a claim.
type Grade string

// The grades there are, as the protocol defines them.
const (
	Reproduced    Grade = "reproduced"
	SameDirection Grade = "same direction"
	Depends       Grade = "depends on the representation"
	Inconclusive  Grade = "inconclusive"
	Contradicted  Grade = "contradicted"
	CannotTest    Grade = "cannot be tested"
	NotRun        Grade = "not run"
)

// Grades lists them, from the best for the paper to the worst, and then those that say nothing of it.
func Grades() []Grade {
	return []Grade{Reproduced, SameDirection, Depends, Inconclusive, Contradicted, CannotTest, NotRun}
}
