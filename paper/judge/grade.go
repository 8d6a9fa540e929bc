package judge

// Grade is what the evidence says, of a claim.
type Grade string

// The grades of claims, as the protocols define them.
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

// Grades lists those of claims, from the best for the paper to the worst, and then those that say nothing of it.
func Grades() []Grade {
	return []Grade{Reproduced, SameDirection, Depends, UnderAPoint, CannotTell, Contradicted, CannotTest, NotRun}
}
