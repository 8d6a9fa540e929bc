package advice

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/judge"
	"nodemask/paper/record"
	"nodemask/stats"
)

// Same is the verdict of an arm with the plain model's configuration. Others are judge's; "": not compared yet.
const Same judge.Verdict = "is the plain model"

// Advice is the result for a graph so far.
type Advice struct {
	Sentence        string        `json:"sentence"`
	Data            string        `json:"data"`
	Nodes           int           `json:"nodes"`
	TrainPercent    int           `json:"train_percent"`
	ValidationNodes int           `json:"validation_nodes"`
	Comparisons     int           `json:"comparisons"` // number that intervals are corrected for
	Settled         bool          `json:"settled"`
	Left            time.Duration `json:"left_ns,omitempty"` // estimated; 0: settled, or unknown
	Budget          time.Duration `json:"budget_ns"`
	Spent           time.Duration `json:"spent_ns"` // by this run
	// Command trains the recommended model; "": not known yet.
	Command   string      `json:"command,omitempty"`
	Questions []*Question `json:"questions"`
}

// Question is a model in a setting, with its arms, the plain model first.
type Question struct {
	Model   string           `json:"model"`
	Setting datasets.Setting `json:"setting"`
	Shared  string           `json:"shared,omitempty"` // common to all arms
	Arms    []*Arm           `json:"arms"`

	seconds float64 // of the first trial, with full patience; 0: not run
}

// Arm is a regulariser's result. F1 is macro F1 in percent.
type Arm struct {
	Name       string            `json:"name"`
	Words      string            `json:"chosen,omitempty"`     // "p = 0.7"
	Chosen     map[string]string `json:"parameters,omitempty"` // values of record axes; nil: not chosen yet
	Validation float64           `json:"validation_macro_f1,omitempty"`
	F1         []float64         `json:"macro_f1,omitempty"` // by fresh split, if the plain model ran too
	AUC        []float64         `json:"auc,omitempty"`      // on the same splits, of two classes
	Collapsed  int               `json:"collapsed"`          // splits on which it learnt almost nothing
	Effect     *Effect           `json:"effect,omitempty"`   // nil: too few splits
	Verdict    judge.Verdict     `json:"verdict,omitempty"`
	Command    string            `json:"command,omitempty"`

	cell record.Cell
	rank int
}

// Effect is the mean difference from the plain model, in points, with its 90 % interval.
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

// name returns "node masking with p = 0.7"; if its dropout is not the plain model's, "DropEdge 0.3 with dropout 0.5".
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

func (q *Question) plainTitle() string {
	title := plain + " " + hyper.Title(q.Model)
	if words := q.Arms[0].dropoutWords(); words != "" {
		title += " (" + words + ")"
	}
	return title
}

// best returns the most helpful arm, else the furthest ahead, else plain; nil without scores.
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

// ahead reports whether an open arm leads by a point or more, with an interval above 0.
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

// use returns the best recommended arm in a setting ("": any), or nil.
func (a *Advice) use(setting datasets.Setting) (of *Question, best *Arm) {
	for _, q := range a.Questions {
		if arm := q.best(); arm != nil && (setting == "" || q.Setting == setting) &&
			(best == nil || arm.Score().Mean > best.Score().Mean) {
			of, best = q, arm
		}
	}
	return of, best
}

func where(setting datasets.Setting) string {
	if setting == datasets.Inductive {
		return "where nodes arrive after training"
	}
	return "where all nodes are known in training"
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
	var parts []string
	settings := a.settings()
	for i, setting := range settings {
		begin := "On " + a.Data
		if len(settings) > 1 {
			begin = "On " + a.Data + ", " + where(setting)
			if i > 0 {
				begin = strings.ToUpper(where(setting)[:1]) + where(setting)[1:]
			}
			begin += ","
		}
		parts = append(parts, a.of(begin, setting)...)
	}
	return strings.Join(parts, " ")
}

func (a *Advice) of(begin string, setting datasets.Setting) (sentences []string) {
	var gains, none, open, waiting, others, used, unstable []string
	for _, q := range a.Questions {
		if q.Setting != setting {
			continue
		}
		model, best := hyper.Title(q.Model), q.best()
		switch {
		case !q.compared():
			waiting = append(waiting, model)
			continue
		case best.helps():
			gains = append(gains, q.says(best))
		case q.open() > 0:
			open = append(open, model)
		default:
			none = append(none, model)
		}
		for _, arm := range q.Arms[1:] {
			if arm.Effect != nil && !(arm == best && arm.helps()) && (arm == best || arm.Name == maskingArm) {
				others = append(others, q.says(arm))
			}
		}
		if q.open() > 0 && q.open() == q.usedUp() {
			used = append(used, model)
		}
		if text := q.stability(); text != "" {
			unstable = append(unstable, text)
		}
	}
	yet := " yet"
	if len(waiting) == 0 && len(used) == len(open) {
		yet = ""
	}
	var parts []string
	for _, part := range []struct {
		text string
		of   []string
	}{{"", gains}, {"nothing helps %s by a point", none}, {"the splits can't tell" + yet + " what helps %s", open}} {
		switch {
		case len(part.of) == 0:
		case part.text == "":
			parts = append(parts, joined(part.of, "and"))
		default:
			parts = append(parts, fmt.Sprintf(part.text, joined(part.of, "or")))
		}
	}
	if len(parts) == 0 {
		return []string{begin + " nothing is known of " + joined(waiting, "or") + " yet."}
	}
	sentences = append(sentences, begin+" "+strings.Join(parts, "; ")+".")
	if len(others) > 0 {
		text := joined(others, "and")
		sentences = append(sentences, strings.ToUpper(text[:1])+text[1:]+".")
	}
	if len(used) > 0 {
		sentences = append(sentences, fmt.Sprintf("All %d splits are used for %s: more time won't tell.",
			mostSplits(), joined(used, "and")))
	}
	if len(waiting) > 0 {
		sentences = append(sentences, "Not compared yet: "+joined(waiting, "and")+".")
	}
	sentences = append(sentences, unstable...)
	if q, best := a.use(setting); best != nil {
		what := q.plainTitle()
		if best.Name != plain {
			what = hyper.Title(q.Model) + " with " + strings.Replace(q.name(best), " with ", ", ", 1)
		}
		verb := "Use"
		if yet != "" && len(open)+len(waiting) > 0 {
			verb = "Until then, use"
		}
		sentences = append(sentences, fmt.Sprintf("%s %s: %.1f.", verb, what, best.Score().Mean))
	}
	return sentences
}

// says puts an arm's effect in words.
func (q *Question) says(a *Arm) string {
	name, model, e := q.name(a), hyper.Title(q.Model), a.Effect
	between := func(mean, low, high float64) string {
		text := fmt.Sprintf("%.1f points (%.1f to %.1f)", rounded1(mean), rounded1(low), rounded1(high))
		return strings.ReplaceAll(text, "-", "−")
	}
	points := between(e.Mean, e.Low, e.High)
	switch {
	case a.helps():
		return fmt.Sprintf("%s helps %s by %s", name, model, points)
	case a.Verdict == judge.Hurts:
		return fmt.Sprintf("%s hurts %s by %s", name, model, between(-e.Mean, -e.High, -e.Low))
	case a.Verdict == judge.Under:
		return fmt.Sprintf("%s changes %s by under a point: %s", name, model, points)
	case a.ahead():
		return fmt.Sprintf("%s is ahead for %s, by %s on %d splits", name, model, points, e.Splits)
	}
	return fmt.Sprintf("%s changes %s by %s on %d splits, which can't tell", name, model, points, e.Splits)
}

func rounded1(x float64) float64 { return math.Round(10*x)/10 + 0 } // no −0

func (q *Question) stability() string {
	base := q.Arms[0]
	var best *Arm
	for _, a := range q.Arms[1:] {
		n := min(len(a.F1), len(base.F1))
		if n > 0 && (best == nil || share(a) < share(best)) {
			best = a
		}
	}
	if best == nil || base.Collapsed < 2 || share(base) < 2*share(best) || share(base)-share(best) < 0.05 {
		return ""
	}
	return fmt.Sprintf("What it buys is stability: plain %s collapsed on %d of %d splits (%s), with %s on %d of %d (%s).",
		hyper.Title(q.Model), base.Collapsed, len(base.F1), base.Score().Text(1), q.name(best), best.Collapsed, len(best.F1),
		best.Score().Text(1))
}

func share(a *Arm) float64 { return float64(a.Collapsed) / float64(max(len(a.F1), 1)) }

func joined(all []string, word string) string {
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + " " + word + " " + all[len(all)-1]
}

// Rest lists open arms and the time to settle them; "" if all are settled.
func (a *Advice) Rest() string {
	if a.Settled {
		return ""
	}
	open, of, stays := 0, 0, 0
	for _, q := range a.Questions {
		open, of, stays = open+q.open(), of+len(q.Arms)-1, stays+q.usedUp()
	}
	text := fmt.Sprintf("%d of %d comparisons are not settled", open, of)
	switch {
	case stays == open:
		return fmt.Sprintf("%s: all %d splits are used, and more time won't tell.", text, mostSplits())
	case stays > 0:
		text += fmt.Sprintf(", %d of them with all %d splits used", stays, mostSplits())
	}
	if a.Left > 0 {
		text += fmt.Sprintf(": about %s more, by the same command with --budget %s, which goes on from here",
			spoken(a.Left), spoken(a.Left+a.Left/4))
	}
	if a.Left == 0 {
		text += fmt.Sprintf(". No trial ended in the budget of %v: expected a longer --budget, such as %s", a.Budget,
			spoken(max(usualBudget, 4*a.Budget)))
	}
	return text + "."
}

func spoken(d time.Duration) string {
	text := rounded(d).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = strings.TrimSuffix(text, zero[1:])
		}
	}
	return text
}

func rounded(d time.Duration) time.Duration {
	switch {
	case d < 10*time.Millisecond:
		return d.Round(time.Millisecond / 10)
	case d < time.Second:
		return d.Round(10 * time.Millisecond)
	case d < 2*time.Minute:
		return d.Round(time.Second)
	case d < 3*time.Hour:
		return d.Round(time.Minute)
	}
	return d.Round(time.Hour)
}
