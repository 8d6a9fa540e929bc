package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"nodemask/datasets"
	"nodemask/paper"
	"nodemask/paper/record"
	"nodemask/stats"
)

// Answer is the effect of masking in one reading (interpretation) of the paper.
type Answer struct {
	Question
	Reading Reading
	Splits  int     // number of splits with no trial missing
	Effect  *Effect // nil if Splits < 2
	P       float64 // p-value of Effect; 1 if Effect is nil
	Verdict Verdict
}

// Choice resolves contradictions and gaps in the paper.
type Choice struct {
	AllEdges   bool // new nodes bring all their edges, not only those to train nodes
	SelfMasked bool // in GAT and SGAT, a masked node does not aggregate from itself (the paper's eqs. 7 and 9)
	Fair       bool // unmasked GAT and SGAT train without attention dropout, as the masked ones do
	// With StopF1, early stopping follows macro F1 instead of loss and accuracy. With RawFeatures, GIN does not
	// divide a node's features by their sum. The paper leaves both choices open.
	StopF1, RawFeatures bool
	Rescale             bool // divide terms that masking keeps by the keep rate p; not in the paper
}

// Choices returns all ways to resolve the paper's two contradictions. The first way is the main interpretation.
func Choices() []Choice {
	return []Choice{{}, {AllEdges: true}, {SelfMasked: true}, {AllEdges: true, SelfMasked: true}}
}

// ForGIN returns the exploratory variants of GIN's setup.
func ForGIN() []Choice { return []Choice{{Rescale: true}, {StopF1: true}, {RawFeatures: true}} }

type step struct {
	name, axis string
	option     int
	chosen     *bool
	words      string
}

func (c *Choice) steps() []step {
	return []step{{"all edges", axisArrivals, 1, &c.AllEdges, "all edges"},
		{"own term", axisSelf, 1, &c.SelfMasked, "own term masked"},
		{"fair", axisAttention, 1, &c.Fair, "no attention dropout"}, {"on F1", axisStop, 2, &c.StopF1, StoppedOnF1},
		{"raw", axisFeatures, 1, &c.RawFeatures, RawFeatures},
		{"rescaled", axisRescale, 1, &c.Rescale, "rescaling as in dropout"}}
}

// ChoiceOf parses a list of departures from the main interpretation of the paper, such as "fair, rescaled"; "" means
// no departure.
func ChoiceOf(words string) (c Choice, err error) {
	steps := c.steps()
	for word := range strings.SplitSeq(words, ", ") {
		i := slices.IndexFunc(steps, func(s step) bool { return s.name == word })
		if i >= 0 {
			*steps[i].chosen = true
		} else if word != "" {
			return c, fmt.Errorf("no choice %q", word)
		}
	}
	return c, nil
}

// String lists the fields that are set, or returns "the cited reading".
func (c Choice) String() string {
	var words []string
	for _, p := range c.steps() {
		if *p.chosen {
			words = append(words, p.words)
		}
	}
	return cmp.Or(strings.Join(words, ", "), "the cited reading")
}

func (c Choice) reading(axes []Axis, setting datasets.Setting) Reading {
	r := make(Reading, len(axes))
	for _, p := range c.steps() {
		if i := index(axes, p.axis); *p.chosen && i >= 0 && axes[i].Matters(setting) {
			r[i] = p.option
		}
	}
	return r
}

// On returns q with each interpretation in q.Readings changed to c's options.
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

// Levels returns three questions on what masking adds to GIN in part [Stated] of the protocol. In divided, each node's
// features are divided by their sum. onF1 is the same with early stopping on macro F1. In raw, features are unchanged.
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

// Ask returns the effect that contrast defines. It follows the main interpretation of the paper, the cited reading of
// PROTOCOL-2.md, except where choice departs from it. The answer has no verdict, and its p-value is not corrected for
// multiple tests.
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
	splits, effects, err := q.Effects(r)
	a.Splits = len(splits)
	if len(effects) > 0 {
		a.Effect, a.P = &effects[0], effects[0].Pooled.P
	}
	return a, err
}

// Complete reports whether the answer covers all splits.
func (a Answer) Complete() bool { return a.Effect != nil && a.Splits >= Splits }

// Row is a row of the table of verdicts.
type Row struct {
	Model string
	Choice
	Exploratory bool // added after the protocol's results were seen
}

// Rows returns the rows of the table of verdicts.
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

// WithChoice returns one row per model, all with this choice.
func WithChoice(choice Choice) (rows []Row) {
	for _, model := range Models() {
		rows = append(rows, Row{Model: model, Choice: choice})
	}
	return rows
}

// Answers returns in grid[i] the answers to rows[i], one per data set and setting. P-values are Holm-corrected
// together, except where the options set in a row's Choice change nothing in the setting. An incomplete answer counts
// with p-value 1.
func Answers(r *record.Results, rows []Row) (grid [][]Answer, err error) {
	var p []float64
	var of []*float64
	for _, row := range rows {
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
				answers = append(answers, a)
			}
		}
		for i, a := range answers {
			if row.Choice == (Choice{}) || slices.Max(a.Reading) > 0 {
				of, p = append(of, &answers[i].P), append(p, a.P)
			}
		}
		grid = append(grid, answers)
	}
	corrected, err := stats.Holm(p)
	if err != nil {
		return nil, fmt.Errorf("judge: %w", err)
	}
	for i, into := range of {
		*into = corrected[i]
	}
	for _, answers := range grid {
		for i, a := range answers {
			if a.Complete() {
				answers[i].Verdict = VerdictOf(a.Effect.Pooled, a.P)
			}
		}
	}
	return grid, nil
}

// Gain is masking's effect at a train set size.
type Gain struct {
	TrainPercent    int
	Mean, Low, High float64 // mean effect in points of macro F1; Low and High end its 95 % interval
	Plain           float64 // mean macro F1 without masking, in percent
}

// BySize returns masking's gain at each train set size, or nil if a.Effect is nil.
func (a Answer) BySize() ([]Gain, error) {
	if a.Effect == nil {
		return nil, nil
	}
	var all []Gain
	for i, size := range a.Sizes {
		mean, low, high, err := stats.ConfidenceInterval(a.Effect.Differences[i], 0.05)
		if err != nil {
			return nil, fmt.Errorf("judge: %w", err)
		}
		all = append(all, Gain{TrainPercent: size, Mean: mean, Low: low, High: high, Plain: a.Effect.Plain[i]})
	}
	return all, nil
}

// Robust counts distinct interpretations of the paper, from part [Stated] of the protocol and [Choices]. It returns
// how many have all trials, and in how many of these the effect is significantly above, or significantly below,
// -contrast.Margin.
func Robust(r *record.Results, data, model string, setting datasets.Setting,
	contrast Contrast) (readings, above, below int, err error) {
	q, err := QuestionOf(Stated, data, model, setting)
	if err != nil {
		return 0, 0, 0, err
	}
	q.Contrast = contrast
	for _, choice := range Choices() {
		reading := choice.reading(q.Axes, setting)
		if !slices.ContainsFunc(q.Readings, func(other Reading) bool { return slices.Equal(other, reading) }) {
			q.Readings = append(q.Readings, reading)
		}
	}
	answers, err := Each(r, q)
	var effects []float64
	for _, a := range answers {
		// A PlainOnly contrast reads only unmasked scores, so interpretations that differ only in masking have the
		// same effect and count once.
		if !a.Complete() || contrast.PlainOnly && slices.Contains(effects, a.Effect.Pooled.MeanDifference) {
			continue
		}
		effects = append(effects, a.Effect.Pooled.MeanDifference)
		switch zero := -contrast.Margin; {
		case a.Effect.Pooled.Low > zero:
			above++
		case a.Effect.Pooled.High < zero:
			below++
		}
	}
	return len(effects), above, below, err
}

// Each returns one answer for each interpretation of the paper in q.Readings. An answer covers the splits on which
// all trials of its interpretation ran. P-values are uncorrected and verdicts unset.
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

// Arms returns the unmasked and masked experiments of the main interpretation of the paper.
func Arms(data, model string, setting datasets.Setting, trainPercent int) (plain, masked record.Cell, err error) {
	if _, err = Axes(model); err != nil {
		return plain, masked, err
	}
	plain = paper.Cell(data, model, setting, trainPercent)
	plain.Resplit = true
	return plain, paper.Masked(plain, paper.MaskedKeepRate), nil
}
