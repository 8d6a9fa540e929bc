// Package advice finds which regulariser, if any, improves a model on a graph. It chooses configurations by validation
// scores on some splits, and compares the chosen ones by test scores on other splits. It does not train: the caller
// passes a [Lab] that does.
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

const (
	firstTry      = 200 // seed of the first split used to choose configurations
	tries         = 3
	shortPatience = 25  // patience, in epochs, of trials used to choose configurations
	patientCost   = 1.4 // a trial's time with the default patience, divided by its time with shortPatience
	firstFresh    = 300 // seed of the first split used to compare regularisers
)

const usualBudget = 5 * time.Minute

// Models returns the default models.
func Models() []string { return []string{"gin", "gcn", "sage", "gat"} }

// Options configure [Advise].
type Options struct {
	Graph *datasets.Graph
	Data  string // data set's name in printed commands; "" means Graph.Name
	// Models to try; nil means [Models].
	Models []string
	// Settings to try; nil means only transductive if the graph has its own split, else transductive and inductive.
	Settings []datasets.Setting
	// TrainPercent is the percentage of train nodes; 0 means that of the graph's own split, or 10 without such a split.
	TrainPercent int
	// Budget is the training time; 0 means five minutes. A run may exceed the budget by a few seconds.
	Budget time.Duration
	// Jobs is the number of trials that the [Lab] runs in parallel; 0 means 1. Estimates of time assume this number.
	Jobs int

	id                string // the graph's content hash
	validationPercent int
	validationNodes   int
}

// Lab trains and stores trials.
type Lab interface {
	// Trials returns the stored records of experiment c.
	Trials(c record.Cell) ([]record.Record, error)
	// Train runs every experiment in cells with every seed, except trials already stored. The parameter title describes
	// the trials in messages. If ctx ends, Train keeps the finished trials and returns ctx's error.
	Train(ctx context.Context, title string, cells []record.Cell, seeds []uint64) error
}

// Complete returns the options with defaults, or an error for invalid options or an unsuitable graph.
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
			return o, fmt.Errorf("no model %q: expected some of %q", model, hyper.Models())
		}
		if slices.Contains(o.Models[:i], model) {
			return o, fmt.Errorf("the model %q twice: expected each once", model)
		}
	}
	switch {
	case len(o.Models) == 0:
		return o, fmt.Errorf("no model is named: expected --models with some of %s", strings.Join(hyper.Models(), ","))
	case o.Budget < 0:
		return o, fmt.Errorf("a budget of %v: expected a time above 0", o.Budget)
	case g.CheckTrainable() != nil:
		return o, fmt.Errorf("%s: %w", o.Data, g.CheckTrainable())
	case len(g.Edges.Indices) == 0:
		return o, fmt.Errorf("%s has no edges: whatever regularises the sums over neighbours, there are none", o.Data)
	}
	return o.split()
}

// fewNodes is the smallest validation set that can rank configurations.
const fewNodes = 50

func (o Options) split() (Options, error) {
	for _, percent := range []int{0, 30} {
		s, err := datasets.Stratified(o.Graph, datasets.SplitOptions{TrainPercent: o.TrainPercent, Seed: firstTry,
			ValidationShare: float64(percent) / 100})
		if err != nil {
			return o, fmt.Errorf("%s: %w", o.Data, err)
		}
		o.validationPercent, o.validationNodes = percent, len(s.Validation)
		seen := make([]int, o.Graph.NumClasses())
		for _, v := range s.Train {
			seen[o.Graph.Labels[v]]++
		}
		if missing := slices.Index(seen, 0); missing >= 0 && len(s.Train) < 2*len(seen) {
			return o, fmt.Errorf("%s: %d train nodes for %d classes, and none of class %q: give --train a larger share than "+
				"%d %%, or take a larger graph", o.Data, len(s.Train), len(seen), o.Graph.Classes[missing], o.TrainPercent)
		}
		if len(s.Validation) >= fewNodes {
			break
		}
	}
	o.id = o.Graph.ContentHash()[:16]
	return o, nil
}

func (o *Options) comparisons() int { return len(arms()) * len(o.Models) * len(o.Settings) }

// Advise trains until the answer is clear, the budget is spent or the context ends, and returns the result so far, even
// if it also returns the context's error. A second call continues.
//
// Validation scores on splits 200 to 202 choose configurations; test scores on splits from 300 on compare them. Each
// comparison is tested up to ten times, as splits accumulate, until [judge.VerdictOf] gives a verdict. The probability
// that any "helps" or "hurts" is wrong is at most 5 %. A comparison's intervals contain the true effect at all ten
// tests with probability 90 %.
func Advise(ctx context.Context, o Options, lab Lab) (*Advice, error) {
	o, err := o.Complete()
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	within, cancel := context.WithDeadline(ctx, begin.Add(o.Budget))
	defer cancel()
	for {
		s := study{Options: &o, lab: lab, seen: map[string]map[uint64]record.Record{}}
		a, err := s.assess()
		if err != nil {
			return nil, err
		}
		a.Spent = time.Since(begin)
		if len(s.next.cells) == 0 || within.Err() != nil {
			return a, ctx.Err()
		}
		err = lab.Train(within, s.next.what, record.Merged(s.next.cells), s.next.seeds)
		if err != nil && within.Err() == nil {
			return nil, err
		}
	}
}
