package main

import (
	"fmt"
	"io"

	"nodemask/datasets"
	"nodemask/paper/judge"
	"nodemask/plots"
)

// beforehand returns, per setting, the quantities from which masking's effect is predicted, computed on the split of
// seed 1.
func beforehand(g *datasets.Graph, settings []datasets.Setting, trainPercent int) (cases []judge.Case, err error) {
	split, err := datasets.Stratified(g, datasets.SplitOptions{TrainPercent: trainPercent, Seed: 1})
	if err != nil {
		return nil, err
	}
	for _, setting := range settings {
		arrivals := datasets.AllEdges
		if setting == datasets.Inductive {
			arrivals = datasets.TrainEdges
		}
		view, err := datasets.NewView(g, split, setting, arrivals)
		if err != nil {
			return nil, err
		}
		cases = append(cases, judge.Case{Data: g.Name, Setting: setting, TrainPercent: trainPercent,
			Quantities: judge.QuantitiesOf(g, view)})
	}
	return cases, nil
}

func predictMasking(w io.Writer, g *datasets.Graph, settings []datasets.Setting, trainPercent int) error {
	cases, err := beforehand(g, settings, trainPercent)
	if err != nil {
		return err
	}
	masked, rescaled := judge.Fit(judge.Cases(), false), judge.Fit(judge.Cases(), true)
	t := plots.Table{ID: "predicted", Header: []string{"setting", "masking", "rescaled", "train neighbours", "degree",
		"adjusted homophily", "train share", "shift of degrees"}, TextColumns: 3}
	for _, c := range cases {
		t.Rows = append(t.Rows, plots.Fields(string(c.Setting), masked.Expects(c), rescaled.Expects(c),
			number(c.TrainNeighbours), number(c.Degree), number(c.AdjustedHomophily), number(c.TrainShare),
			number(c.DegreeShift)))
	}
	fmt.Fprintf(w, "What masking does to GIN's macro F1 on %s, %d %% to train on, by rule and without training:\n", g.Name,
		trainPercent)
	if err := printTable(w, t); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "Masking. %s\nRescaled. %s\n", masked.Words(), rescaled.Words())
	return err
}

const usualTrainPercent = 10

func number(x float64) string { return fmt.Sprintf("%.3g", x) }

func outlook(g *datasets.Graph) (quantities, meaning string) {
	cases, err := beforehand(g, datasets.Settings(), usualTrainPercent)
	if err != nil {
		return "", "" // no labels to split by
	}
	fitted := judge.Fit(judge.Cases(), false)
	c := cases[0]
	quantities = fmt.Sprintf("adjusted homophily %s (0: random edges); at %d %% to train on a test node has %s train "+
		"neighbours; new nodes' degrees are 2^%s of those trained on", number(c.AdjustedHomophily), usualTrainPercent,
		number(c.TrainNeighbours), number(c.DegreeShift))
	meaning = fmt.Sprintf("GIN, new nodes: %s, known nodes: %s, by a rule that is right in %d of %d cases ('advise "+
		"--predict'; 'advise' measures it)", fitted.Expects(c), fitted.Expects(cases[1]), max(fitted.Right, fitted.Nothing),
		fitted.Cases)
	return quantities, meaning
}
