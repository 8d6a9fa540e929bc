// Package advice says which regulariser, if any, helps a graph, and for which model. It chooses configurations by
// validation on some splits, compares them on others until the answer is clear, and links no GoMLX: the caller
// brings the function that trains.
package advice

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/record"
)

// The rule. It is that of the report's tuned comparison, with splits until the answer is clear in place of twenty.
const (
	firstTry    = 200 // splits that configurations are chosen on
	tries       = 3
	impatient   = 25   // patience of trials that choose: their best epochs come early, and many of them are for nothing
	patientCost = 1.4  // how much longer others take, about
	firstFresh  = 300  // splits that the chosen ones are compared on
	alpha       = 0.05 // chance that any lower end of an interval at any time is above its true mean
	alphaAbove  = 0.2  // of an interval that says that an arm gains too little: each time alone, and half of it above
	// Margin is the difference in points of macro F1 that is worth having.
	Margin = 1.0
)

// looks lists after how many fresh splits an arm is looked at. As the test is valid at any time, they are a matter of
// cost alone: jobs wait for one another at each.
func looks() []int { return []int{8, 10, 12, 15, 18, 22, 27, 33, 40, 50, 65, 80, 105, 140, 180} }

// mostSplits is how many fresh splits there are to be.
func mostSplits() int { return looks()[len(looks())-1] }

// usualBudget is how long training may take by default.
const usualBudget = 5 * time.Minute

// Models lists the models that are asked about by default.
func Models() []string { return []string{"gin", "gcn", "sage", "gat"} }

// Options say what is asked.
type Options struct {
	Graph *datasets.Graph
	Data  string // how commands name the graph; "": its name
	// Models to ask about; nil: [Models].
	Models []string
	// Settings to ask about; nil: transductive if the graph comes with a split of its own, else both.
	Settings []datasets.Setting
	// TrainPercent of the nodes are train nodes; 0: as many as in the graph's own split, else 10.
	TrainPercent int
	// Budget is how long training may take; 0: five minutes. A few seconds more may pass.
	Budget time.Duration
	// Jobs is how many trials run side by side, for estimates; 0: 1.
	Jobs int

	id                string // names the graph in cells, by its content
	validationPercent int
	validationNodes   int
}

// Lab trains, and keeps what it has trained.
type Lab interface {
	// Trials returns the records of a cell that there are.
	Trials(c record.Cell) ([]record.Record, error)
	// Train runs the trials of cells, with these seeds, that are not there yet. An error of the context says that it was
	// cut off; what it had finished is kept.
	Train(ctx context.Context, what string, cells []record.Cell, seeds []uint64) error
}

// MisuseError is an error of what was asked, and not of the work.
type MisuseError struct{ error }

// Unwrap returns the error itself.
func (e *MisuseError) Unwrap() error { return e.error }

func misusef(format string, args ...any) error { return &MisuseError{fmt.Errorf(format, args...)} }

// Complete returns the options with defaults filled in. It returns a [*MisuseError] for a graph that nothing can be
// said about, and for options that cannot be.
func (o Options) Complete() (Options, error) {
	g := o.Graph
	own := g.OwnSplit
	if o.Data == "" {
		o.Data = g.Name
	}
	if o.Models == nil {
		o.Models = Models()
	}
	if o.Settings == nil {
		o.Settings = datasets.Settings()
		if own != nil {
			o.Settings = []datasets.Setting{datasets.Transductive}
		}
	}
	if o.TrainPercent == 0 {
		o.TrainPercent = 10
		if own != nil {
			o.TrainPercent = own.TrainPercent
		}
	}
	if o.Budget == 0 {
		o.Budget = usualBudget
	}
	o.Jobs = max(o.Jobs, 1)
	for i, model := range o.Models {
		if !slices.Contains(hyper.Models(), model) {
			return o, misusef("no model %q: expected some of %q", model, hyper.Models())
		}
		if slices.Contains(o.Models[:i], model) {
			return o, misusef("the model %q twice: expected each once", model)
		}
	}
	switch {
	case len(o.Models) == 0:
		return o, misusef("no model is named: expected --models with some of %s", strings.Join(hyper.Models(), ","))
	case len(o.Settings) == 0:
		return o, misusef("no setting is named: expected %s, %s or both", datasets.Inductive, datasets.Transductive)
	case o.Budget < 0:
		return o, misusef("a budget of %v: expected a time above 0", o.Budget)
	case g.CheckTrainable() != nil:
		return o, misusef("%s: %w", o.Data, g.CheckTrainable())
	case len(g.Edges.Indices) == 0:
		return o, misusef("%s has no edges: whatever regularises the sums over neighbours, there are none", o.Data)
	}
	return o.split()
}

// fewNodes is how many nodes validation needs for its F1 to tell configurations apart, somewhat.
const fewNodes = 50

// split decides how many validation nodes there are, and looks whether the graph can be divided so.
func (o Options) split() (Options, error) {
	for _, percent := range []int{0, 30} {
		s, err := datasets.Stratified(o.Graph, datasets.SplitOptions{TrainPercent: o.TrainPercent, Seed: firstTry,
			ValidationShare: float64(percent) / 100})
		if err != nil {
			return o, misusef("%s: %w", o.Data, err)
		}
		o.validationPercent, o.validationNodes = percent, len(s.Validation)
		seen := make([]int, o.Graph.NumClasses())
		for _, v := range s.Train {
			seen[o.Graph.Labels[v]]++
		}
		if missing := slices.Index(seen, 0); missing >= 0 && len(s.Train) < 2*len(seen) {
			return o, misusef("%s: %d train nodes for %d classes, and none of class %q: give --train a larger share than "+
				"%d %%, or take a larger graph", o.Data, len(s.Train), len(seen), o.Graph.Classes[missing], o.TrainPercent)
		}
		if len(s.Validation) >= fewNodes {
			break
		}
	}
	o.id = o.Graph.ContentHash()[:16]
	return o, nil
}

// comparisons is how many intervals are to hold together.
func (o *Options) comparisons() int { return len(arms()) * len(o.Models) * len(o.Settings) }

// Advise asks until the answer is clear, the budget is spent or the context ends, and returns what is known then: the
// advice comes with the context's error too. What the lab has counts, so asking again goes on from there.
//
// The choice of configurations sees validation scores on splits 200 to 202 alone, and the comparison test scores on
// splits 300 and on. Ends of intervals are those of [stats.AnytimeTTest]: lower ones at 0.05 divided by the number of
// comparisons (Bonferroni), so that all of them are below their true means, at all times, with a probability of 95 %.
// An upper end is to say only that more splits are not worth their time, and holds with 90 %, each by itself. An arm is
// settled when its interval is above 0, or below [Margin].
//
// It goes deep before it goes wide: the model and setting whose plain model validates best in a first trial get the
// budget until they are settled or have used some splits; masking and DropGNN are compared first.
func Advise(ctx context.Context, o Options, lab Lab) (*Advice, error) {
	o, err := o.Complete()
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	within, cancel := context.WithDeadline(ctx, begin.Add(o.Budget))
	defer cancel()
	finished, before, last := false, 0, batch{}
	for stage := -1; ; {
		s := study{Options: &o, lab: lab, seen: map[string]map[uint64]record.Record{}}
		a, err := s.assess()
		if err != nil {
			return nil, err
		}
		a.Spent = time.Since(begin)
		there, err := s.there(last)
		if err != nil {
			return nil, err
		}
		finished = finished || there > before
		if len(s.next.cells) == 0 || within.Err() != nil {
			a.Stalled = !finished && len(s.next.cells) > 0 && ctx.Err() == nil
			return a, ctx.Err()
		}
		if s.next.stage <= stage {
			return nil, fmt.Errorf("%s: not all of its trials were trained, and no error was given", s.next.what)
		}
		stage, last = s.next.stage, s.next
		if before, err = s.there(last); err != nil {
			return nil, err
		}
		a.longestFirst(s.next.cells)
		err = lab.Train(within, s.next.what, record.Merged(s.next.cells), s.next.seeds)
		if err != nil && within.Err() == nil {
			return nil, err
		}
	}
}

// Floor returns a [*MisuseError] if an answer is out of the question in the budget where an epoch takes so long, and
// says how long one would take: every trial has patience for at least 50 epochs.
func (o *Options) Floor(epoch time.Duration) error {
	questions := len(o.Models) * len(o.Settings)
	// Of all models a first trial; of the one that leads, masking and its kin at the first look.
	trials := questions - 1 + choosing(plainTried) + kin*choosing(fewTried) + (kin+1)*looks()[0]
	least := time.Duration(trials) * 51 * epoch / time.Duration(o.Jobs)
	if least <= 4*o.Budget { // it may come to less, and what is known in the end is worth having
		return nil
	}
	return misusef("%s: an epoch takes %v, and an answer at least %d trials of 51 epochs: about %s: expected --budget "+
		"%s or more, fewer --models, one --setting, or a smaller graph", o.Data, rounded(epoch), trials, spoken(least),
		spoken(least+least/4))
}
