package judge

// Grade is the verdict on a claim.
type Grade string

// The grades, as the protocols define them.
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

// Grades returns all grades, best first; the last two do not judge the paper.
func Grades() []Grade {
	return []Grade{Reproduced, SameDirection, Depends, UnderAPoint, CannotTell, Contradicted, CannotTest, NotRun}
}
