package paper

import (
	"fmt"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/plots"
	"nodemask/record"
)

// EffectsID is the ID of the figure of all effects.
const EffectsID = "effects"

// Effects returns what node masking changes, pooled over the sizes of the train set: for each model, data set and setting the
// mean difference in macro F1 and its 95 % interval. Trials pair by seed and split; each seed's differences are averaged
// over the sizes first, so that the interval is over seeds. What has fewer than two seeds is left out.
func Effects(r *record.Results) plots.Forest {
	f := plots.Forest{ID: EffectsID, Title: "What node masking changes, on the tables' split", XLabel: "difference in macro F1 (points)",
		Caption: "In the reading of the tables, on one split as in the paper. Mean over the sizes of the train set, with a 95 % interval over seeds (their number behind it). Filled: the interval leaves 0 out."}
	for _, group := range []struct {
		name    string
		models  []string
		data    []string
		against func(record.Cell) record.Cell
		sizes   []int
	}{
		{"GIN + NM against GIN", []string{"gin"}, []string{"cora", "citeseer", "pubmed"}, asIs, Sizes()},
		{"GAT and SGAT + NM against the model with attention dropout", []string{"gat", "sgat"}, []string{"cora", "citeseer"}, asIs, Sizes()},
		{"… against the model without attention dropout", []string{"gat", "sgat"}, []string{"cora", "citeseer"}, record.Cell.Fair, Sizes()},
		{"Other models + NM, without attention dropout", []string{"gcn", "sage", "gatv2"}, []string{"cora"}, record.Cell.Fair, fewSizes()},
	} {
		g := plots.ForestGroup{Name: group.name}
		for _, model := range group.models {
			for _, data := range group.data {
				for _, setting := range datasets.Settings() {
					pairs := gains(data, model, []datasets.Setting{setting}, group.sizes, group.against)
					if e, found := pooled(r, pairs); found {
						e.Label = effectLabel(model, data, setting)
						g.Rows = append(g.Rows, e)
					}
				}
			}
		}
		if len(g.Rows) > 0 {
			f.Groups = append(f.Groups, g)
		}
	}
	return f
}

func effectLabel(model, data string, setting datasets.Setting) string {
	return fmt.Sprintf("%s, %s, %s", hyper.Title(model), DataTitle(data), setting)
}

// pooled is the mean difference of comparisons, over the seeds that all of them have.
func pooled(r *record.Results, comparisons []comparison) (plots.Effect, bool) {
	t, ok := test(r, points, comparisons)
	if !ok {
		return plots.Effect{}, false
	}
	return plots.Effect{Value: t.Effect.MeanDifference, Low: t.Effect.Low, High: t.Effect.High, Note: fmt.Sprintf("(%d)", t.Effect.N)}, true
}
