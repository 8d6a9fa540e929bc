package advice

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/judge"
	"nodemask/paper/record"
	"nodemask/plots"
	"nodemask/stats"
)

// Same is the verdict on a regulariser whose chosen configuration is the plain model's. The other verdicts are those of
// package judge; "" means not compared yet.
const Same judge.Verdict = "is the plain model"

// Advice says which regularisers help on a graph, as far as the finished trials show.
type Advice struct {
	Sentence        string        `json:"sentence"`
	Data            string        `json:"data"`
	Nodes           int           `json:"nodes"`
	TrainPercent    int           `json:"train_percent"`
	ValidationNodes int           `json:"validation_nodes"`
	Comparisons     int           `json:"comparisons"` // in all questions; verdicts are corrected for this number
	Settled         bool          `json:"settled"`
	Left            time.Duration `json:"left_ns,omitempty"` // estimated time until Settled; 0: settled, or unknown
	Budget          time.Duration `json:"budget_ns"`
	Spent           time.Duration `json:"spent_ns"` // time spent by this run
	// Command, if not "", is a shell command that trains the recommended model.
	Command   string      `json:"command,omitempty"`
	Questions []*Question `json:"questions"`
}

// Question asks what each regulariser does to a model in a setting. The first of Arms is the plain model.
type Question struct {
	Model   string           `json:"model"`
	Setting datasets.Setting `json:"setting"`
	Shared  string           `json:"shared,omitempty"` // hyperparameters common to all arms
	Arms    []*Arm           `json:"arms"`

	seconds float64 // estimated seconds of a trial with default early-stopping patience; 0: unknown
}

// Arm is the result of a regulariser, or of training without one. F1 is macro F1 in percent.
type Arm struct {
	Name       string            `json:"name"`
	Words      string            `json:"chosen,omitempty"`     // "p = 0.7"
	Chosen     map[string]string `json:"parameters,omitempty"` // values by name in [record.Axes]; nil: not chosen yet
	Validation float64           `json:"validation_macro_f1,omitempty"`
	F1         []float64         `json:"macro_f1,omitempty"` // per fresh split on which the plain model ran too
	Collapsed  int               `json:"collapsed"`          // splits on which the arm learnt almost nothing
	Effect     *Effect           `json:"effect,omitempty"`   // nil: too few splits
	Verdict    judge.Verdict     `json:"verdict,omitempty"`
	Command    string            `json:"command,omitempty"`

	cell record.Cell
	rank int
}

// Effect is a regulariser's mean difference in macro F1 from the model without one, in percentage points, with its
// 90 % interval.
type Effect struct {
	Splits int     `json:"splits"`
	Mean   float64 `json:"mean"`
	StdDev float64 `json:"std_dev"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// Score summarises F1.
func (a *Arm) Score() stats.Summary { return stats.Summarize(a.F1) }

func (a *Arm) dropoutWords() string {
	switch rate := a.Chosen[dropoutArm]; rate {
	case "":
		return ""
	case "0":
		return "no dropout"
	default:
		return "dropout " + rate
	}
}

// name returns words such as "node masking with p = 0.7".
func (q *Question) name(a *Arm) string {
	if a.Words == "" {
		return a.Name
	}
	title, with := a.Name+" "+a.Words, " with "
	if a.Name == maskingArm {
		title, with = a.Name+" with "+a.Words, " and "
	}
	switch own := a.Chosen[dropoutArm]; {
	case a.Name == dropoutArm || own == q.Arms[0].Chosen[dropoutArm]:
		return title
	case own == "0":
		return title + " without dropout"
	default:
		return title + with + a.dropoutWords()
	}
}

func (q *Question) best() *Arm {
	best := q.Arms[0]
	for _, counts := range []func(*Arm) bool{(*Arm).helps, (*Arm).ahead} {
		for _, a := range q.Arms {
			if counts(a) && (best.Effect == nil || a.Effect.Mean > best.Effect.Mean) {
				best = a
			}
		}
		if best.Effect != nil {
			break
		}
	}
	if len(best.F1) == 0 {
		return nil
	}
	return best
}

func (a *Arm) helps() bool { return a.Verdict == judge.Helps }

func (a *Arm) ahead() bool {
	return a.Verdict == judge.Unclear && a.Effect != nil && a.Effect.Mean >= judge.Margin && a.Effect.Low > 0
}

func (q *Question) title() string { return hyper.Title(q.Model) + ", " + string(q.Setting) }

func (q *Question) compared() bool {
	return slices.ContainsFunc(q.Arms, func(a *Arm) bool { return a.Effect != nil })
}

func (q *Question) open() (n int) {
	for _, a := range q.Arms[1:] {
		if !a.settled() {
			n++
		}
	}
	return n
}

func (q *Question) usedUp() (n int) {
	for _, a := range q.Arms[1:] {
		if a.Verdict == judge.Unclear && len(a.F1) >= mostSplits() {
			n++
		}
	}
	return n
}

func (a *Advice) finish() {
	a.Settled = !slices.ContainsFunc(a.Questions, func(q *Question) bool { return q.open() > 0 })
	if _, arm := a.use(""); arm != nil {
		a.Command = arm.Command
	}
	a.Sentence = a.sentence()
}

func (a *Advice) use(setting datasets.Setting) (of *Question, best *Arm) {
	for _, q := range a.Questions {
		if arm := q.best(); arm != nil && (setting == "" || q.Setting == setting) &&
			(best == nil || arm.Score().Mean > best.Score().Mean) {
			of, best = q, arm
		}
	}
	return of, best
}

func (a *Advice) settings() (all []datasets.Setting) {
	for _, q := range a.Questions {
		if !slices.Contains(all, q.Setting) {
			all = append(all, q.Setting)
		}
	}
	return all
}

func (a *Advice) sentence() string {
	var parts, waiting []string
	for i, q := range a.Questions {
		switch {
		case i == 0:
			parts = append(parts, "On "+a.Data+", with "+q.title()+", "+q.finding()+".")
		case q.compared():
			parts = append(parts, "With "+q.title()+", "+q.finding()+".")
		default:
			waiting = append(waiting, q.title())
		}
	}
	if len(waiting) > 0 {
		parts = append(parts, "Not compared yet: "+strings.Join(waiting, "; ")+".")
	}
	for _, setting := range a.settings() {
		q, best := a.use(setting)
		if best == nil {
			continue
		}
		verb, what := "Use", hyper.Title(q.Model)+" with "+strings.Replace(q.name(best), " with ", ", ", 1)
		if best.Name == plain {
			what = strings.TrimSuffix(plain+" "+hyper.Title(q.Model)+", "+best.dropoutWords(), ", ")
		}
		if slices.ContainsFunc(a.Questions, func(q *Question) bool { return q.Setting == setting && q.open() > q.usedUp() }) {
			verb = "Until then, use"
		}
		parts = append(parts, fmt.Sprintf("%s %s (%s): %.1f.", verb, what, setting, best.Score().Mean))
	}
	return strings.Join(parts, " ")
}

func (q *Question) finding() string {
	if !q.compared() {
		return "nothing is compared yet"
	}
	best, text := q.best(), ""
	switch {
	case best.helps():
		text = q.says(best)
	case q.open() == 0:
		text = "nothing helps by a point"
	case q.open() == q.usedUp():
		text = fmt.Sprintf("all %d splits can't tell what helps", mostSplits())
	default:
		text = "the splits can't tell yet what helps"
	}
	for _, arm := range q.Arms[1:] {
		if arm.Effect != nil && !(arm == best && arm.helps()) && (arm == best || arm.Name == maskingArm) {
			text += "; " + q.says(arm)
		}
	}
	return text
}

func (q *Question) says(a *Arm) string {
	verb := map[judge.Verdict]string{judge.Helps: "helps", judge.Hurts: "hurts", judge.Under: "changes it by under a point",
		judge.Unclear: "can't be told from the plain model"}[a.Verdict]
	if a.ahead() {
		verb = "is ahead"
	}
	e := a.Effect
	return fmt.Sprintf("%s %s, by %s points (%s to %s) on %d splits", q.name(a), verb, plots.Signed(e.Mean, 1),
		plots.Signed(e.Low, 1), plots.Signed(e.High, 1), e.Splits)
}

// Rest describes how many comparisons are not settled and the time to settle them, or returns "" if all are settled.
func (a *Advice) Rest() string {
	if a.Settled {
		return ""
	}
	open, used := 0, 0
	for _, q := range a.Questions {
		open, used = open+q.open(), used+q.usedUp()
	}
	text := fmt.Sprintf("%d of %d comparisons are not settled", open, a.Comparisons)
	switch {
	case used == open:
		return fmt.Sprintf("%s: all %d splits are used, and more time won't tell.", text, mostSplits())
	case a.Left == 0:
		return fmt.Sprintf("%s. No trial ended in the budget of %v: expected a longer --budget, such as %v.", text, a.Budget,
			max(usualBudget, 4*a.Budget))
	}
	left := a.Left.Truncate(time.Second) + time.Second
	return fmt.Sprintf("%s: about %v more, by the same command with --budget %v, which goes on from here.", text, left,
		(left * 5 / 4).Round(time.Second))
}
