package page

import (
	"context"
	"fmt"
	"math"
	"strings"

	"nodemask/advice"
	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/measure"
	"nodemask/paper/record"
	"nodemask/stats"
)

// Advised says whether node masking helps, as far as splits tell.
type Advised struct {
	Sentence string         `json:"sentence"`
	Open     string         `json:"open"`    // what was not settled
	Command  string         `json:"command"` // that asks for more
	Verdict  advice.Verdict `json:"verdict"`
	Splits   int            `json:"splits"`
}

// mostSplits is how many splits a page compares on, and firstSplit the first of them, as in 'nodemask advise'.
const (
	mostSplits = 30
	firstSplit = 300
)

// advise compares a cell with the same without masking, on one split after the other, until the answer is clear, the
// reader stops it or there were enough. Each split that ends is told by an epoch event.
func (s *Session) advise(ctx context.Context, r Request, send func(Event)) (Event, error) {
	masked, g, err := s.trainable(ctx, r)
	if err != nil {
		return Event{}, err
	}
	if !masked.Parameters.KeepRate.Active() {
		return Event{}, fmt.Errorf("keep rate %v masks nothing: expected one below 1", masked.Parameters.KeepRate)
	}
	masked.Resplit = true
	plain := masked
	plain.Parameters.KeepRate = 1 // and all else the same, attention's dropout too
	s.training.Lock()
	defer s.training.Unlock()
	f1 := func(c record.Cell, seed uint64) (float64, error) {
		x := measure.Experiment(c, g)
		x.Smoothness, x.CacheInference = false, false
		result, err := s.runner.Trial(ctx, x, seed, nil)
		if err != nil {
			return 0, err
		}
		return 100 * result.Test.MacroF1, nil
	}
	var differences []float64
	for seed := uint64(firstSplit); ; seed++ {
		a := advised(masked, r.Cell.Data, differences)
		if a.Verdict != advice.Open || len(differences) == mostSplits {
			return Event{Kind: "advised", Advised: a}, nil
		}
		send(Event{ID: r.ID, Kind: "epoch", Advised: a})
		without, err := f1(plain, seed)
		with := 0.0
		if err == nil {
			with, err = f1(masked, seed)
		}
		if err != nil {
			if ctx.Err() != nil && len(differences) > 1 { // the reader has seen enough, and may: the test allows it
				return Event{Kind: "advised", Advised: a}, nil
			}
			return Event{}, err
		}
		differences = append(differences, with-without)
	}
}

// trainable returns the cell that a request asks to train, and its graph.
func (s *Session) trainable(ctx context.Context, r Request) (record.Cell, *datasets.Graph, error) {
	c, err := r.Cell.Cell()
	if err != nil {
		return c, nil, err
	}
	g, err := s.graph(ctx, c.Data)
	if err != nil {
		return c, nil, err
	}
	if err := g.CheckTrainable(); err != nil {
		return c, nil, fmt.Errorf("%s can be looked at, but not trained on: %w", g.Name, err)
	}
	return c, g, nil
}

// advised judges a masked cell by differences of macro F1, in points.
func advised(c record.Cell, data string, differences []float64) *Advised {
	p := c.Parameters
	model, n := hyper.Title(p.Model), len(differences)
	a := &Advised{Verdict: advice.Open, Splits: n}
	of := "my-graph"
	if inPages(data) {
		of = data
	}
	a.Command = fmt.Sprintf("nodemask advise --data %s --models %s --setting %s --train %d", of, p.Model, c.Setting,
		c.TrainPercent)
	a.Open = fmt.Sprintf("Compared was %s as chosen here, with p = %v, with the same without masking. Other rates, models and "+
		"regularisers were not tried, and nothing was tuned for this graph: the command does that.", model,
		p.KeepRate.Probability())
	t, err := stats.AnytimeTTest(differences, 0.05)
	if err != nil || math.IsInf(t.High, 1) {
		a.Sentence = fmt.Sprintf("%d of at most %d splits: too few to tell.", n, mostSplits)
		return a
	}
	found := fmt.Sprintf("%+.1f points of macro F1 (%.1f to %.1f) over %d splits", t.Mean, t.Low, t.High, n)
	switch {
	case t.Low > 0:
		a.Verdict, a.Sentence = advice.Helps, fmt.Sprintf("Yes: masking helps %s here, %s.", model, found)
	case t.High < 0:
		a.Verdict, a.Sentence = advice.Hurts, fmt.Sprintf("No: masking harms %s here, %s.", model, found)
	case t.High < advice.Margin:
		a.Verdict, a.Sentence = advice.NoMatter, fmt.Sprintf("No: masking gains %s less than a point here, %s.", model, found)
	default:
		a.Sentence = fmt.Sprintf("Not settled: %s so far.", found)
	}
	a.Sentence = strings.ReplaceAll(a.Sentence, "-", "−")
	return a
}
