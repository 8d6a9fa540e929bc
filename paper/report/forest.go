package report

import (
	"fmt"
	"slices"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper/judge"
	"nodemask/plots"
)

// PartForest returns the effects in each reading of [judge.Departures] or [judge.Scale] on Cora.
func (e *Evidence) PartForest(part judge.Part) (plots.Forest, error) {
	title := map[judge.Part]string{judge.Departures: "One step away from the cited reading",
		judge.Scale: "Normalisation and rescaling"}[part]
	f := plots.Forest{ID: string(part), Title: title + ": what node masking changes on Cora", Width: 1000,
		XLabel: "gain, mean over the four sizes (points of macro F1)",
		Caption: "The first reading of each is the cited one; the others say what differs. Points with 95 % intervals over " +
			"splits; at each share of nodes to train on, macro F1 without masking, and what masking adds."}
	for _, size := range judge.Sizes() {
		f.Columns = append(f.Columns, fmt.Sprintf("%d %%", size))
	}
	for _, model := range judge.Models() {
		for _, setting := range datasets.Settings() {
			answers, err := e.each(part, leadingData, model, setting)
			if err != nil {
				return f, err
			}
			group := plots.ForestGroup{Name: hyper.Title(model) + ", " + nodesOf(setting)}
			for _, a := range answers {
				row := plots.Effect{Label: judge.Departure(a.Axes, a.Reading), TextOnly: true,
					Fields: slices.Repeat([]string{"–"}, len(f.Columns))}
				gains, err := a.BySize()
				if err != nil {
					return f, err
				}
				if a.Effect != nil {
					pooled := a.Effect.Pooled
					row.TextOnly, row.Value, row.Low, row.High = false, pooled.MeanDifference, pooled.Low, pooled.High
				}
				for i := range gains {
					row.Fields[i] = fmt.Sprintf("%.1f, %s", gains[i].Plain, plots.Signed(gains[i].Mean, 1))
				}
				group.Rows = append(group.Rows, row)
			}
			f.Groups = append(f.Groups, group)
		}
	}
	return f, nil
}
