package report

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"

	"nodemask/csr"
	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper"
	"nodemask/paper/judge"
	"nodemask/plots"
)

// Aggregates plots a point per model (GIN, SGAT), setting and train set size. y is masking's gain in points of macro
// F1. x is the mean norm of test nodes' aggregates, divided by the mean norm of train nodes' masked aggregates.
// Aggregates are the first layer's before training: GIN's sum over a node and its neighbours (eq. 8 with ε = 0),
// SGAT's mean (eq. 9). PROTOCOL-2.md predicts that rank, Kendall's correlation of x and y, is above 0.
func (e *Evidence) Aggregates(g *datasets.Graph) (c plots.Chart, rank float64, err error) {
	c = plots.Chart{ID: "aggregates", Title: "What masking adds, over how much larger aggregates are in testing on " +
		DataTitle(g.Name),
		XLabel: "norm of aggregates, testing to masked training", YLabel: "points gained"}
	features := g.Features.RowNormalized().Matrix()
	var ratios, effects []float64
	for _, model := range []string{"gin", "sgat"} {
		for _, setting := range datasets.Settings() {
			answers, err := e.each(judge.Scale, g.Name, model, setting)
			if err != nil {
				return c, 0, err
			}
			gains, err := answers[0].BySize()
			if err != nil {
				return c, 0, err
			}
			s := plots.Series{Name: hyper.Title(model) + ", " + nodesOf(setting)}
			for _, gain := range gains {
				ratio, err := aggregateRatio(g, features, model == "sgat", setting, gain.TrainPercent)
				if err != nil {
					return c, 0, err
				}
				s.X, s.Y = append(s.X, ratio), append(s.Y, gain.Mean)
				s.Low, s.High = append(s.Low, gain.Low), append(s.High, gain.High)
				ratios, effects = append(ratios, ratio), append(effects, gain.Mean)
			}
			if len(s.X) > 0 {
				c.Series = append(c.Series, s)
			}
		}
	}
	if len(ratios) > 1 {
		rank = stat.Kendall(ratios, effects, nil)
		c.Caption = fmt.Sprintf("A point for each size of the train set; splits: %d. Kendall's rank correlation over all "+
			"points: %s.",
			len(judge.Scale.Seeds()), plots.Signed(rank, 2))
	}
	return c, rank, nil
}

func aggregateRatio(g *datasets.Graph, x csr.Matrix, mean bool, setting datasets.Setting, trainPercent int) (float64,
	error) {
	var tested, trained float64
	sum := make([]float64, x.Columns)
	for _, seed := range judge.Scale.Seeds() {
		s, err := datasets.Stratified(g, datasets.SplitOptions{TrainPercent: trainPercent, Seed: seed})
		if err != nil {
			return 0, err
		}
		inTrain := make([]bool, g.NumNodes())
		for _, v := range s.Train {
			inTrain[v] = true
		}
		r := rand.New(rand.NewPCG(seed, 0))
		kept := make([]bool, g.NumNodes())
		for v := range kept {
			kept[v] = !inTrain[v] || r.Float64() < paper.MaskedKeepRate
		}
		norm := func(nodes []int32, training bool) (total float64) {
			for _, v := range nodes {
				clear(sum)
				addRow(sum, x, v)
				terms := 1.0
				for _, u := range g.Edges.Neighbours(v) {
					if setting == datasets.Inductive && !inTrain[u] {
						continue
					}
					terms++ // the mean counts masked neighbours too
					if !training || kept[u] {
						addRow(sum, x, u)
					}
				}
				square := 0.0
				for _, y := range sum {
					square += y * y
				}
				if mean {
					square /= terms * terms
				}
				total += math.Sqrt(square) / float64(len(nodes))
			}
			return total
		}
		tested += norm(s.Test, false)
		trained += norm(s.Train, true)
	}
	return tested / trained, nil
}

func addRow(sum []float64, x csr.Matrix, row int32) {
	for i := x.Offsets[row]; i < x.Offsets[row+1]; i++ {
		value := float32(1)
		if x.Values != nil {
			value = x.Values[i]
		}
		sum[x.Indices[i]] += float64(value)
	}
}
