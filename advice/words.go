package advice

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/record"
	"nodemask/stats"
)

// Verdict compares an arm with the plain model.
type Verdict string

// The verdicts, worded as on all pages; "under a point" bounds the gain alone.
const (
	Open     Verdict = "can't tell"         // interval contains 0 and [Margin], or is missing
	Helps    Verdict = "helps"              // interval above 0
	Hurts    Verdict = "hurts"              // interval below 0, with an upper end as strict as the lower
	NoMatter Verdict = "under a point"      // interval below [Margin]
	Same     Verdict = "is the plain model" // same configuration
)

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
	Spent           time.Duration `json:"spent_ns"`                   // by this run
	Stalled         bool          `json:"nothing_finished,omitempty"` // the budget ended before any trial
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
	// First is the plain model's validation macro F1 in one trial, in percent; 0: not run.
	First float64 `json:"first_validation_macro_f1,omitempty"`

	seconds float64 // per trial
}

// Arm is a regulariser's result. F1 is macro F1 in percent.
type Arm struct {
	Name       string            `json:"name"`
	Words      string            `json:"chosen,omitempty"`     // "p = 0.7"
	Chosen     map[string]string `json:"parameters,omitempty"` // values of record axes; nil: not chosen yet
	Validation float64           `json:"validation_macro_f1,omitempty"`
	F1         []float64         `json:"macro_f1,omitempty"` // by fresh split, if the plain model ran too
	Collapsed  int               `json:"collapsed"`          // splits on which it learnt almost nothing
	Effect     *Effect           `json:"effect,omitempty"`   // nil: too few splits
	Verdict    Verdict           `json:"verdict,omitempty"`
	Command    string            `json:"command,omitempty"`

	cell  record.Cell
	alpha float64
}

// Effect is the mean difference from the plain model, in points, with the interval of [Advise].
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

// title returns "node masking with p = 0.7"; if its dropout is not the plain model's, "DropEdge 0.3 with dropout 0.5".
func (q *Question) title(a *Arm) string {
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
	for _, counts := range []func(*Arm) bool{func(a *Arm) bool { return a.Verdict == Helps }, (*Arm).ahead} {
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

// ahead reports whether an open arm leads by a point or more, its lower end nearer to 0 than its mean.
func (a *Arm) ahead() bool {
	return a.Verdict == Open && a.Effect != nil && a.Effect.Mean >= Margin && a.Effect.Low > -a.Effect.Mean
}

func (q *Question) compared() bool {
	return slices.ContainsFunc(q.Arms[1:], func(a *Arm) bool { return a.Effect != nil || a.Verdict == Same })
}

func (q *Question) largestOpen() (largest *Arm) {
	for _, a := range q.Arms[1:] {
		if a.Effect != nil && !a.settled() && (largest == nil || a.Effect.Mean > largest.Effect.Mean) {
			largest = a
		}
	}
	return largest
}

func (q *Question) open() (n int) {
	for _, a := range q.Arms[1:] {
		if !a.settled() || a.Verdict == "" {
			n++
		}
	}
	return n
}

func (q *Question) usedUp() (n int) {
	for _, a := range q.Arms[1:] {
		if a.Verdict == Open && len(a.F1) >= mostSplits() {
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
	// going: more splits may settle them; waiting: not compared yet
	var gains, none, open, going, used, ahead, measured, unstable, masking, waiting []string
	var leads *Question // the waiting one that validates best
	for _, q := range a.Questions {
		if q.Setting != setting {
			continue
		}
		model, best := hyper.Title(q.Model), q.best()
		if !q.compared() {
			waiting = append(waiting, model)
			if q.First > 0 && (leads == nil || q.First > leads.First) {
				leads = q
			}
			continue
		}
		helps := best != nil && best.Verdict == Helps
		if best != nil && best.Verdict == Open {
			ahead = append(ahead, fmt.Sprintf("%s is ahead for %s, by %s", q.title(best), model, best.Effect.words()))
		} else if largest := q.largestOpen(); largest != nil && !helps {
			measured = append(measured, fmt.Sprintf("%s makes a difference of %s to %s on %d splits", q.title(largest),
				largest.Effect.words(), model, largest.Effect.Splits))
		}
		switch stays := q.usedUp(); {
		case stays > 0 && stays == q.open():
			used = append(used, model)
		case q.open() > 0:
			going = append(going, model)
		}
		switch {
		case helps:
			gains = append(gains, fmt.Sprintf("%s helps %s by %s", q.title(best), model, best.Effect.words()))
		case q.open() > 0:
			open = append(open, model)
		default:
			none = append(none, model)
		}
		for _, arm := range q.Arms[1:] {
			if helps && arm.Name == maskingArm && best.Name != maskingArm && arm.Effect != nil {
				masking = append(masking, fmt.Sprintf("node masking %s", arm.verdictFor(model)))
			}
		}
		if text := q.stability(); text != "" {
			unstable = append(unstable, text)
		}
	}
	use, best := a.use(setting)
	yet, leading := " yet", "So far "
	if len(going)+len(waiting) == 0 {
		yet, leading = "", "On these splits "
	}
	switch {
	case len(gains)+len(none)+len(open) == 0 && leads == nil:
		return append(sentences, begin+" nothing is known of "+orList(waiting)+" yet.")
	case len(gains)+len(none)+len(open) == 0:
		return append(sentences, fmt.Sprintf("%s no comparison has ended yet: plain %s validates best in a first trial, "+
			"with %.1f.", begin, hyper.Title(leads.Model), leads.First))
	case len(gains) > 0 && len(none)+len(open) == 0:
		sentences = append(sentences, begin+" "+list(gains)+".")
	case len(gains) > 0 && len(open) == 0:
		sentences = append(sentences, begin+" "+list(gains)+"; nothing helps "+orList(none)+" by a point.")
	case len(gains) > 0:
		sentences = append(sentences, begin+" "+list(gains)+"; the splits can't tell"+yet+" for "+list(open)+".")
	case len(open) == 0:
		sentences = append(sentences, begin+" nothing helps "+orList(none)+" by a point: neither node masking nor another "+
			"regulariser is worth its trouble.")
	case len(none) == 0:
		sentences = append(sentences, begin+" the splits can't tell"+yet+" what helps "+orList(open)+".")
	default:
		sentences = append(sentences, begin+" nothing helps "+orList(none)+" by a point, and the splits can't tell"+yet+" for "+
			list(open)+".")
	}
	if len(used) > 0 {
		sentences = append(sentences, fmt.Sprintf("All %d splits are used for %s: more time won't tell.",
			mostSplits(), list(used)))
	}
	if len(masking) > 0 {
		text := list(masking)
		sentences = append(sentences, strings.ToUpper(text[:1])+text[1:]+".")
	}
	if len(ahead) > 0 {
		sentences = append(sentences, leading+list(ahead)+".")
	}
	if len(measured) > 0 {
		text := list(measured)
		sentences = append(sentences, strings.ToUpper(text[:1])+text[1:]+".")
	}
	if len(waiting) > 0 {
		sentences = append(sentences, "Not compared yet: "+list(waiting)+".")
	}
	sentences = append(sentences, unstable...)
	if best != nil {
		what := use.plainTitle()
		if best.Name != plain {
			what = hyper.Title(use.Model) + " with " + strings.Replace(use.title(best), " with ", ", ", 1)
		}
		verb := "Use"
		if len(going)+len(waiting) > 0 {
			verb = "Until then, use"
		}
		sentences = append(sentences, fmt.Sprintf("%s %s: %.1f.", verb, what, best.Score().Mean))
	}
	return sentences
}

func (e *Effect) words() string {
	return strings.ReplaceAll(fmt.Sprintf("%.1f points (%.1f to %.1f)", e.Mean, e.Low, e.High), "-", "−")
}

func (a *Arm) verdictFor(model string) string {
	switch a.Verdict {
	case Helps:
		return "helps " + model + " by " + a.Effect.words()
	case Hurts:
		return fmt.Sprintf("hurts %s by %.1f points (%.1f to %.1f)", model, -a.Effect.Mean, -a.Effect.High, -a.Effect.Low)
	case NoMatter:
		return "helps " + model + " by under a point"
	}
	return "may help " + model + " or not, the splits can't tell"
}

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
		hyper.Title(q.Model), base.Collapsed, len(base.F1), base.Score().Text(1), q.title(best), best.Collapsed, len(best.F1),
		best.Score().Text(1))
}

func share(a *Arm) float64 { return float64(a.Collapsed) / float64(max(len(a.F1), 1)) }

func list(all []string) string { return joined(all, "and") }

func orList(all []string) string { return joined(all, "or") }

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
	text += "."
	switch {
	case a.Stalled && a.Left > 0:
		text += fmt.Sprintf(" No trial ended in the budget of %v: the same budget again would be too short for one, too.",
			a.Budget)
	case a.Stalled:
		text += fmt.Sprintf(" No trial ended in the budget of %v, so it is not known how long an answer takes: expected a "+
			"longer --budget, such as %s.", a.Budget, spoken(max(usualBudget, 4*a.Budget)))
	}
	return text
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
