package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"nodemask/datasets"
	"nodemask/paper/record"
	"nodemask/stats"
)

// Answer is what masking does in one reading of a model on a data set in a setting.
type Answer struct {
	Question // of that reading alone
	Reading  Reading
	Splits   int     // that there are, of [Splits]
	Effect   *Effect // nil: there are fewer than two splits
	P        float64 // of the pooled effect, corrected by Holm's method; 1 without an effect
	Verdict  Verdict
}

// Choice is a value of what the paper's sentences disagree on.
type Choice struct {
	AllEdges   bool // new nodes arrive with all their edges, not with those to train nodes alone
	SelfMasked bool // a masked node's own term is masked in GAT and SGAT, as eqs. 7 and 9 have it
	Fair       bool // GAT and SGAT have no attention dropout in the plain arm either
	// StopF1 stops GIN on macro F1, not on loss and accuracy, and RawFeatures leaves its features as they are, not divided
	// by their sum. Both are departures, of which the text says nothing.
	StopF1, RawFeatures bool
	Rescale             bool // what is kept is divided by p, as dropout does; silent, too
}

// Choices lists those that the protocol gives side by side, the cited reading's first.
func Choices() []Choice {
	return []Choice{{}, {AllEdges: true}, {SelfMasked: true}, {AllEdges: true, SelfMasked: true}}
}

// ForGIN lists the departures that stand beside the cited reading of GIN.
func ForGIN() []Choice { return []Choice{{Rescale: true}, {StopF1: true}, {RawFeatures: true}} }

// step is one away from the cited reading: an option of an axis.
type step struct {
	axis   string
	option int
	chosen bool
	words  string
}

func (c Choice) parts() []step {
	return []step{{axisArrivals, 1, c.AllEdges, "all edges"}, {axisSelf, 1, c.SelfMasked, "own term masked"},
		{axisAttention, 1, c.Fair, "no attention dropout"}, {axisStop, 2, c.StopF1, StoppedOnF1},
		{axisFeatures, 1, c.RawFeatures, RawFeatures}, {axisRescale, 1, c.Rescale, "rescaling as in dropout"}}
}

// String says what differs from the cited reading: "all edges"; "the cited reading" if nothing does.
func (c Choice) String() string {
	var words []string
	for _, p := range c.parts() {
		if p.chosen {
			words = append(words, p.words)
		}
	}
	return cmp.Or(strings.Join(words, ", "), "the cited reading")
}

// reading is the choice as a reading; what has no place in a model or setting changes nothing.
func (c Choice) reading(axes []Axis, setting datasets.Setting) Reading {
	r := make(Reading, len(axes))
	for _, p := range c.parts() {
		if i := index(axes, p.axis); p.chosen && i >= 0 && axes[i].Matters(setting) {
			r[i] = p.option
		}
	}
	return r
}

// On returns a question with a choice taken in each of its readings.
func (c Choice) On(q Question) Question {
	taken := c.reading(q.Axes, q.Setting)
	var only []Reading
	for _, r := range q.Readings {
		r = slices.Clone(r)
		for i, option := range taken {
			if option > 0 {
				r[i] = option
			}
		}
		only = append(only, r)
	}
	q.Readings = only
	return q
}

// Levels returns the stated readings of GIN in three parts: with features divided by their sum, the same stopped on
// macro F1, and with raw features, among which is that departure.
func Levels(data string, setting datasets.Setting) (divided, onF1, raw Question, err error) {
	divided, err = QuestionOf(Stated, data, "gin", setting)
	if err != nil {
		return divided, onF1, raw, err
	}
	raw = divided
	features := index(raw.Axes, axisFeatures)
	isRaw := func(r Reading) bool { return r[features] > 0 }
	departure := Choice{RawFeatures: true}.reading(raw.Axes, setting)
	raw.Readings = []Reading{departure}
	for _, r := range divided.Readings {
		if isRaw(r) && !slices.Equal(r, departure) {
			raw.Readings = append(raw.Readings, r)
		}
	}
	divided.Readings = slices.DeleteFunc(slices.Clone(divided.Readings), isRaw)
	return divided, Choice{StopF1: true}.On(divided), raw, nil
}

// Answers returns what masking does to all models (by a choice of [ForGIN]: to GIN) on all data sets in both settings,
// in the order of Models, Data and settings. Its p-values are corrected over all of them that the choice changes; those
// that lack splits count as 1.
func Answers(r *record.Results, choice Choice) ([]Answer, error) {
	var all []Answer
	var p []float64
	var of []int // what the choice changes, of all
	models := Models()
	if slices.Contains(ForGIN(), choice) {
		models = []string{"gin"}
	}
	for _, model := range models {
		for _, data := range Data() {
			for _, setting := range datasets.Settings() {
				a, err := Ask(r, data, model, setting, choice, Contrast{})
				if err != nil {
					return nil, err
				}
				if a.Splits < Splits {
					a.P = 1
				}
				if choice == (Choice{}) || slices.Max(a.Reading) > 0 {
					of, p = append(of, len(all)), append(p, a.P)
				}
				all = append(all, a)
			}
		}
	}
	corrected, err := stats.Holm(p)
	if err != nil {
		return nil, fmt.Errorf("judge: %w", err)
	}
	for k, i := range of {
		all[i].P = corrected[k]
	}
	for i := range all {
		all[i].Verdict = all[i].verdict()
	}
	return all, nil
}

// Ask returns what masking does to one model on one data set in a setting, or what another contrast is there, with a
// p-value that nothing corrects, and no verdict. Errors are those of [Question.Effects], and of a model that
// the paper does not have.
func Ask(r *record.Results, data, model string, setting datasets.Setting, choice Choice,
	contrast Contrast) (Answer, error) {
	q, err := QuestionOf(Cited, data, model, setting)
	if err != nil {
		return Answer{}, err
	}
	q.Contrast = contrast
	return ask(r, q, choice.reading(q.Axes, setting))
}

func ask(r *record.Results, q Question, reading Reading) (Answer, error) {
	q.Readings = []Reading{reading}
	a := Answer{Question: q, Reading: reading, P: 1, Verdict: Unmeasured}
	effects, err := q.Effects(r)
	if err != nil {
		return a, err
	}
	a.Splits = len(effects.Splits)
	if len(effects.Effects) > 0 {
		a.Effect = &effects.Effects[0]
		a.P = a.Effect.Pooled.P
	}
	return a, nil
}

// Complete reports whether the answer has an effect on all splits.
func (a Answer) Complete() bool { return a.Effect != nil && a.Splits >= Splits }

// verdict is the word for the answer, which takes all splits.
func (a Answer) verdict() Verdict {
	if !a.Complete() {
		return Unmeasured
	}
	return VerdictOf(a.Effect.Pooled, a.P)
}

// Row is a comparison that stands in the grid: a model with a choice.
type Row struct {
	Model string
	Choice
	Exploratory bool // added after the protocol's results were seen
}

// Rows lists the rows of the grid, in its order.
func Rows() (rows []Row) {
	for _, model := range Models() {
		rows = append(rows, Row{Model: model})
		if model != "gin" {
			rows = append(rows, Row{Model: model, Choice: Choice{Fair: true}})
			continue
		}
		for _, choice := range ForGIN() {
			rows = append(rows, Row{Model: model, Choice: choice, Exploratory: true})
		}
	}
	return rows
}

// AllAnswers returns what masking does in each of [Rows] on all data sets in both settings, in the order of Data and
// settings. Its p-values are corrected over all of them, and its verdicts rest on these.
func AllAnswers(r *record.Results) ([][]Answer, error) {
	var grid [][]Answer
	var p []float64
	for _, row := range Rows() {
		var answers []Answer
		for _, data := range Data() {
			for _, setting := range datasets.Settings() {
				a, err := Ask(r, data, row.Model, setting, row.Choice, Contrast{})
				if err != nil {
					return nil, err
				}
				if !a.Complete() {
					a.P = 1
				}
				answers, p = append(answers, a), append(p, a.P)
			}
		}
		grid = append(grid, answers)
	}
	corrected, err := stats.Holm(p)
	if err != nil {
		return nil, fmt.Errorf("cited: %w", err)
	}
	for i := range grid {
		for k := range grid[i] {
			grid[i][k].P = corrected[i*len(grid[i])+k]
			grid[i][k].Verdict = grid[i][k].verdict()
		}
	}
	return grid, nil
}

// Gain is what masking adds at one size of the train set.
type Gain struct {
	TrainPercent    int
	Mean, Low, High float64 // points of macro F1, with a 95 % interval over splits
	Plain           float64 // mean macro F1 without masking, in percent
}

// BySize returns the gains at each size; none if nothing has been run.
func (a Answer) BySize() ([]Gain, error) {
	if a.Effect == nil {
		return nil, nil
	}
	var all []Gain
	for i, size := range a.Sizes {
		mean, low, high, err := stats.ConfidenceInterval95(a.Effect.Differences[i])
		if err != nil {
			return nil, fmt.Errorf("judge: %w", err)
		}
		all = append(all, Gain{TrainPercent: size, Mean: mean, Low: low, High: high, Plain: a.Effect.Plain[i]})
	}
	return all, nil
}

// Published returns a published gain in points; nil: there is none.
type Published func(data, model string, setting datasets.Setting, trainPercent int) *float64

// Agreement is how near gains are to the published ones, over all cells that have both.
type Agreement struct {
	RMS           float64 // root mean square of the differences, in points
	Correlation   float64
	Within, Cells int // of how many cells the interval has the published gain in it, and how many there are
}

// Agree compares the gains of answers with the published ones; answers that lack splits do not count.
func Agree(answers []Answer, published Published) (a Agreement, err error) {
	var ours, theirs []float64
	for _, answer := range answers {
		if answer.Splits < Splits {
			continue
		}
		gains, err := answer.BySize()
		if err != nil {
			return a, err
		}
		for _, g := range gains {
			if want := published(answer.Data, answer.Model, answer.Setting, g.TrainPercent); want != nil {
				a.RMS += (g.Mean - *want) * (g.Mean - *want)
				ours, theirs = append(ours, g.Mean), append(theirs, *want)
				if g.Low <= *want && *want <= g.High {
					a.Within++
				}
			}
		}
	}
	if a.Cells = len(ours); a.Cells > 0 {
		a.RMS = math.Sqrt(a.RMS / float64(a.Cells))
		a.Correlation = stat.Correlation(ours, theirs, nil)
	}
	return a, nil
}

// Robustness says what masking does in several readings.
type Robustness struct {
	Readings, Above, Below int // those with a pooled effect, and those significantly above and below zero, p < 0.05
	Of                     int // readings that the protocol has
	Median                 float64
}

// Robust returns what masking does, or what another contrast is, in all stated readings of a model on a data set in a
// setting, and in the other choices that the protocol gives side by side. Readings that lack splits do not count.
func Robust(r *record.Results, data, model string, setting datasets.Setting,
	contrast Contrast) (Robustness, error) {
	var all Robustness
	q, err := QuestionOf(Stated, data, model, setting)
	if err != nil {
		return all, err
	}
	q.Contrast = contrast
	for _, choice := range Choices() {
		reading := choice.reading(q.Axes, setting)
		if !slices.ContainsFunc(q.Readings, func(other Reading) bool { return slices.Equal(other, reading) }) {
			q.Readings = append(q.Readings, reading)
		}
	}
	answers, err := Each(r, q)
	if err != nil {
		return all, err
	}
	// What varies in masking alone changes nothing of a contrast of plain arms.
	scores := slices.Concat(contrast.Plus, contrast.Minus)
	plainAlone := len(scores) > 0 && !slices.ContainsFunc(scores, func(s Score) bool {
		return s.Arm == Masked
	})
	var effects []float64
	for _, a := range answers {
		if !a.Complete() {
			all.Of++
			continue
		}
		if plainAlone && slices.Contains(effects, a.Effect.Pooled.MeanDifference) {
			continue // the same reading, as far as it can be told
		}
		all.Of++
		all.Readings++
		effects = append(effects, a.Effect.Pooled.MeanDifference)
		switch zero := -contrast.Margin; {
		case a.Effect.Pooled.Low > zero:
			all.Above++
		case a.Effect.Pooled.High < zero:
			all.Below++
		}
	}
	if len(effects) > 0 {
		all.Median = stats.Median(effects)
	}
	return all, nil
}

// Each returns what masking does in each reading of a question, in its order, on those of its splits that the reading
// has; corrected by nothing, and without verdicts.
func Each(r *record.Results, q Question) ([]Answer, error) {
	var all []Answer
	for _, reading := range q.Readings {
		a, err := ask(r, q, reading)
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// Arms returns the cells of the cited reading, without masking and with it, as they are trained and read.
func Arms(data, model string, setting datasets.Setting, trainPercent int) (plain, masked record.Cell, err error) {
	axes, err := Axes(model)
	if err != nil {
		return plain, masked, err
	}
	r := make(Reading, len(axes))
	if plain, err = r.Cell(axes, Plain, data, model, setting, trainPercent); err != nil {
		return plain, masked, err
	}
	masked, err = r.Cell(axes, Masked, data, model, setting, trainPercent)
	return plain, masked, err
}
