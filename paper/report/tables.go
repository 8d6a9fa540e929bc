package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper"
	"nodemask/paper/judge"
	"nodemask/paper/record"
)

func percent(size int) string { return fmt.Sprintf("%d %%", size) }

func place(c record.Cell) string { return string(c.Setting) + " " + percent(c.TrainPercent) }

func plainCells(data, model string, settings []datasets.Setting, sizes []int) (all []record.Cell) {
	for _, setting := range settings {
		for _, size := range sizes {
			all = append(all, paper.Cell(data, model, setting, size))
		}
	}
	return all
}

func fewCells(model string) []record.Cell {
	return plainCells("cora", model, datasets.Settings(), fewSizes())
}

func fewColumns(model string) []record.Cell {
	all := fewCells(model)
	slices.SortStableFunc(all, func(a, b record.Cell) int { return cmp.Compare(a.TrainPercent, b.TrainPercent) })
	return all
}

func bothArms(plain record.Cell) []Entry {
	all := []Entry{{Cell: plain, Metric: record.MacroF1},
		{Cell: masked(plain), Metric: record.MacroF1, Against: &plain}}
	if plain.Resplit {
		return all // the paper publishes no scores over several splits
	}
	for i := range all {
		all[i].Published = Published(plain.Data, plain.Parameters.Model, plain.Setting, plain.TrainPercent, i == 1)
	}
	return all
}

func overSplits(plain record.Cell) []Entry { return bothArms(resplit(plain)) }

func tableGAT(id, data string) Artifact {
	a := Artifact{ID: id, Title: "Macro F1 of GAT and SGAT on " + DataTitle(data),
		About: "Node masking comes without attention dropout, so masking and dropping attention dropout are two changes at " +
			"once. The columns “no att. dropout” have the second change alone; what is significant is tested against the " +
			"plain model." +
			splitsAbout(data),
		Labels: []string{"setting", "train"}}
	for i, name := range []string{"GAT", "SGAT"} {
		if i > 0 {
			a.Blocks = []int{len(a.Columns)}
		}
		a.Columns = append(a.Columns, name, name+", no att. dropout", name+" + NM")
		if oneSplit(data) {
			a.Columns = append(a.Columns, name+", twenty splits", name+" + NM, twenty splits")
		}
	}
	for _, gat := range plainCells(data, "gat", datasets.Settings(), sizesOf(data)) {
		row := Row{Labels: []string{string(gat.Setting), percent(gat.TrainPercent)}}
		for _, model := range []string{"gat", "sgat"} {
			plain := paper.Cell(data, model, gat.Setting, gat.TrainPercent)
			over := overSplits(plain)
			if !oneSplit(data) {
				plain, over = resplit(plain), nil
			}
			arms := bothArms(plain)
			fair := Entry{Cell: plain.Fair(), Metric: record.MacroF1, Against: &plain}
			row.Entries = slices.Concat(row.Entries, []Entry{arms[0], fair, arms[1]}, over)
		}
		a.Rows = append(a.Rows, row)
	}
	a.Claims = claimsOfGAT(id, data)
	if data == "cora" {
		a.Claims = append(a.Claims, claimOfMoreInductively(id))
	}
	return a
}

func oneSplit(data string) bool { return data != "citeseer" }

func sizesOf(data string) []int {
	if oneSplit(data) {
		return Sizes()
	}
	return judge.Sizes()
}

func splitsAbout(data string) string {
	if oneSplit(data) {
		return " Up to ten trials on one split, as the paper has; beside them twenty trials on a split each."
	}
	return " Twenty trials on a split each; the paper has no table of it."
}

func tableMAD() Artifact {
	a := Artifact{ID: "table-mad", Title: "MAD of GAT and SGAT on Cora, 10 % to train on",
		About: "MAD is the mean cosine distance over all pairs of nodes: the lower, the smoother. The paper does not say " +
			"of which representation, and it matters: all three are here. The published values stand beside the class " +
			"probabilities', which come nearest.",
		Labels: []string{"model", "of"}, Columns: []string{"inductive", "transductive"}}
	for _, p := range smoothnessScores() {
		name := strings.ToUpper(p.model)
		switch {
		case p.masked:
			name += " + NM"
		case !p.dropout:
			name += ", no att. dropout"
		}
		for _, metric := range []record.Metric{record.MADHidden, record.MADLogits, record.MADSoftmax} {
			row := Row{Labels: []string{name, representation(metric)}}
			for i, setting := range datasets.Settings() {
				plain := paper.Cell("cora", p.model, setting, 10)
				e := Entry{Cell: plain, Metric: metric}
				switch {
				case p.masked:
					e.Cell, e.Against = masked(plain), &plain
				case !p.dropout:
					e.Cell = plain.Fair()
				}
				if metric == record.MADSoftmax {
					e.Published = &p.mad[i]
				}
				row.Entries = append(row.Entries, e)
			}
			a.Rows = append(a.Rows, row)
		}
	}
	a.Claims = claimsOfMAD(a.ID)
	return a
}

func tableGIN(id, data string, sizes []int, settings []datasets.Setting) Artifact {
	a := Artifact{ID: id, Title: "Macro F1 of GIN on " + DataTitle(data), Labels: []string{"train"},
		Elsewhere: data == "reddit",
		About: "GIN-0 as the paper and the works that it cites describe it: two linear layers and batch normalisation in " +
			"each MLP, predictions from all layers. Inductively, new nodes arrive with their edges to train nodes."}
	splits := oneSplit(data) && data != "reddit" // a split of Reddit takes hours
	if data != "reddit" {
		a.About += splitsAbout(data)
	}
	for i, setting := range settings {
		if i > 0 {
			a.Blocks = append(a.Blocks, len(a.Columns))
		}
		a.Columns = append(a.Columns, string(setting)+": GIN", string(setting)+": GIN + NM")
		if splits {
			a.Columns = append(a.Columns, string(setting)+", twenty splits: GIN", string(setting)+", twenty splits: GIN + NM")
		}
	}
	for _, size := range sizes {
		row := Row{Labels: []string{percent(size)}}
		for _, plain := range plainCells(data, "gin", settings, []int{size}) {
			if oneSplit(data) {
				row.Entries = append(row.Entries, bothArms(plain)...)
			}
			if splits || !oneSplit(data) {
				row.Entries = append(row.Entries, overSplits(plain)...)
			}
		}
		a.Rows = append(a.Rows, row)
	}
	a.Claims = claimsOfGIN(id, data)
	if data == "cora" {
		a.Claims = append(a.Claims, claimOfGINSmoothness(id))
	}
	return a
}

func tableScale(id, data string) Artifact {
	a := Artifact{ID: id, Title: "GIN on " + DataTitle(data) + " with and without caching",
		About: "Inductive. #nodes are those involved in predicting the test nodes: without caching the paper counts all " +
			"nodes, and “reached” are those within two hops; with caching they are the nodes outside the train set and " +
			"the train nodes next to one of them.",
		Labels:  []string{"train"},
		Columns: []string{"GIN", "#nodes", "reached", "cached: GIN", "cached: GIN + NM", "cached: #nodes"}, Blocks: []int{3}}
	p := publishedCaching(data)
	for i, size := range Sizes() {
		plain := paper.Cell(data, "gin", datasets.Inductive, size)
		plain.Cached = true
		a.Rows = append(a.Rows, Row{Labels: []string{percent(size)}, Entries: []Entry{
			{plain, record.MacroF1, Published(data, "gin", datasets.Inductive, size, false), nil},
			{plain, record.Nodes, new(float64(p.nodes)), nil},
			{plain, record.NodesReached, nil, nil},
			{plain, record.MacroF1Together, &p.plain[i], nil},
			{masked(plain), record.MacroF1Together, &p.masked[i], &plain},
			{plain, record.NodesCached, new(float64(p.cached[i])), nil}}})
	}
	a.Claims = claimsOfScale(id, data)
	return a
}

// overKeepRates returns a curve over the keep rates in the paper's appendix and the keep rate 1 (no masking). Even at
// 1, [paper.Masked] removes attention dropout, so the points differ only in masking.
func overKeepRates(name string, c record.Cell, masked func(record.Cell, float64) record.Cell) Curve {
	curve := Curve{Name: name}
	for _, p := range []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1} {
		curve.Points = append(curve.Points, Point{p, Entry{Cell: masked(c, p), Metric: record.MacroF1}})
	}
	return curve
}

func figKeepRate(id, title string) Artifact {
	return Artifact{ID: id, Title: title, XLabel: "keep rate p (probability that a node is kept)", YLabel: "macro F1 (%)",
		About: "Mean of the trials, with a 95 % confidence interval, cut at 0 and 100. At p = 1 nothing is masked; the " +
			"paper's figures end at 0.9."}
}

func figKeepRates() []Artifact {
	gin := figKeepRate("fig-keep-rate-gin", "GIN + NM on Cora over the keep rate, 10 % to train on")
	others := figKeepRate("fig-keep-rate-others", "GIN + NM on CiteSeer and PubMed over the keep rate, 10 % to train on")
	gat := figKeepRate("fig-keep-rate-gat", "GAT + NM and SGAT + NM on Cora over the keep rate, 10 % to train on, inductive")
	others.Elsewhere = true
	others.About += " The paper says that the trends of Cora hold, and shows nothing; it runs only if asked for by name."
	for _, data := range judge.Data() {
		for _, plain := range plainCells(data, "gin", datasets.Settings(), []int{10}) {
			if name := string(plain.Setting); data == "cora" {
				gin.Curves = append(gin.Curves, overKeepRates(name, plain, paper.Masked))
			} else {
				others.Curves = append(others.Curves, overKeepRates(DataTitle(data)+", "+name, plain, paper.Masked))
			}
		}
	}
	for _, model := range []string{"gat", "sgat"} {
		gat.Curves = append(gat.Curves, overKeepRates(strings.ToUpper(model)+" + NM",
			paper.Cell("cora", model, datasets.Inductive, 10), paper.Masked))
	}
	all := []Artifact{gin, others, gat}
	for i, a := range all {
		all[i].Claims = claimsOfKeepRates(a)
	}
	return all
}

func figDepth() Artifact {
	a := figKeepRate("fig-depth", "GIN + NM on Cora over the keep rate, by depth, 10 % to train on")
	a.About += " A split for each trial. The body and the readout (two linear layers with batch normalisation inside, " +
		"predictions from all layers) are those that do best at 16 layers without masking, by validation F1; stopping " +
		"follows macro F1."
	for _, setting := range datasets.Settings() {
		for _, layers := range judge.Depths() {
			curve := overKeepRates(fmt.Sprintf("%d layers", layers), judge.DepthCell("cora", setting, layers), record.Cell.Masked)
			curve.Panel = string(setting)
			a.Curves = append(a.Curves, curve)
		}
	}
	a.Claims = claimsOfDepth(a)
	return a
}

func figLoss(id, data string) Artifact {
	a := Artifact{ID: id, Title: "Losses of GIN on " + DataTitle(data) + ", 10 % to train on", XLabel: "epoch",
		YLabel: crossEntropy,
		About:  "Mean over the trials that have not stopped yet, for as long as half of them have not."}
	for _, setting := range datasets.Settings() {
		for _, keep := range []float64{1, paper.MaskedKeepRate} {
			c := paper.Masked(paper.Cell(data, "gin", setting, 10), keep)
			c.History = true
			name := "GIN"
			if keep != 1 {
				name += " + NM"
			}
			train := Curve{Panel: string(setting), Name: name + ", train", Losses: &c}
			a.Curves = append(a.Curves, train, Curve{Panel: string(setting), Name: name + ", validation", Losses: &c,
				Validation: true, Of: train.Name})
		}
	}
	a.Claims = claimsOfLoss(id, data)
	return a
}

func tableScores() Artifact {
	a := Artifact{ID: "table-scores", Title: "Macro F1, micro F1 and accuracy on Cora",
		About:  "The paper says that they agree. With one class for each node, micro F1 and accuracy are the same number.",
		Labels: []string{"model", "setting", "train"}, Columns: []string{"macro F1", "micro F1", "accuracy", "+ NM: macro F1",
			"+ NM: micro F1", "+ NM: accuracy"}, Blocks: []int{3}}
	for _, model := range judge.Models() {
		for _, plain := range fewCells(model) {
			row := Row{Labels: []string{strings.ToUpper(model), string(plain.Setting), percent(plain.TrainPercent)}}
			for _, e := range []Entry{{Cell: plain}, {Cell: masked(plain), Against: &plain}} {
				for _, metric := range []record.Metric{record.MacroF1, record.MicroF1, record.Accuracy} {
					e.Metric = metric
					row.Entries = append(row.Entries, e)
				}
			}
			a.Rows = append(a.Rows, row)
		}
	}
	a.Claims = claimsOfScores(a.ID)
	return a
}

func tableValidation() Artifact {
	a := Artifact{ID: "table-validation", Title: "Macro F1 on Cora by the share of validation nodes",
		About: "The paper does not say how many of the nodes left after the train set are for validation; everywhere else " +
			"here it is 10 %. Ten trials on a split each; what is significant is tested against the same share without masking.",
		Labels: []string{"model", "validation"}}
	for _, c := range fewColumns("gin") {
		if len(a.Columns) > 0 {
			a.Blocks = append(a.Blocks, len(a.Columns))
		}
		a.Columns = append(a.Columns, place(c)+": plain", place(c)+": + NM")
	}
	for _, model := range judge.Models() {
		for _, share := range []int{0, 5} { // percentages of validation nodes; 0 means the default, 10
			row := Row{Labels: []string{hyper.Title(model), percent(cmp.Or(share, 10))}}
			for _, plain := range fewColumns(model) {
				plain.ValidationPercent = share
				row.Entries = append(row.Entries, overSplits(plain)...)
			}
			a.Rows = append(a.Rows, row)
		}
	}
	return a
}

type variant struct {
	name string
	of   func(record.Cell) record.Cell
}

func sideBySide(a Artifact, models []string, variants ...variant) Artifact {
	a.Labels, a.Blocks = []string{"model", "trained with"}, []int{len(datasets.Settings())}
	for _, c := range fewColumns("gin") {
		a.Columns = append(a.Columns, place(c))
	}
	for _, model := range models {
		for i, v := range variants {
			row := Row{Labels: []string{hyper.Title(model), v.name}}
			for _, plain := range fewColumns(model) {
				e := Entry{Cell: v.of(plain), Metric: record.MacroF1}
				if i > 0 {
					e.Against = new(variants[0].of(plain))
				}
				row.Entries = append(row.Entries, e)
			}
			a.Rows = append(a.Rows, row)
		}
	}
	return a
}

func withoutDropout(c record.Cell) record.Cell {
	return c.With(func(p *hyper.Parameters) { p.Dropout = 0 })
}

func regularisers() (all []variant) {
	for _, v := range []struct {
		name string
		is   hyper.RegulariserName
	}{{"DropEdge", hyper.DropEdgeRegulariser}, {"DropNode", hyper.DropNodeRegulariser},
		{"dropout", hyper.DropoutRegulariser}} {
		all = append(all, variant{v.name, func(c record.Cell) record.Cell {
			return withoutDropout(c.Fair()).With(func(p *hyper.Parameters) { p.Regulariser, p.RegulariserRate = v.is, 0.5 })
		}})
	}
	return all
}

func tableRegularisers() Artifact {
	const id = "table-regularisers"
	return sideBySide(Artifact{ID: id, Title: "Node masking beside DropEdge, DropNode and dropout on Cora",
		Claims: claimsOfRegularisers(id),
		About:  "Each is alone, at a rate of 0.5, without any other dropout; compared with the unregularised model."},
		[]string{"gin", "sgat"}, append([]variant{
			{"nothing", func(c record.Cell) record.Cell { return withoutDropout(c.Fair()) }},
			{"node masking", func(c record.Cell) record.Cell { return withoutDropout(masked(c)) }},
		}, regularisers()...)...)
}

func tableModels() Artifact {
	const id = "table-models"
	return sideBySide(Artifact{ID: id, Claims: claimsOfModels(id),
		Title: "Node masking on GCN, GraphSAGE and GATv2, on Cora",
		About: "The paper expects its technique to help other models that aggregate. GATv2 is without attention dropout in " +
			"both rows."},
		[]string{"gcn", "sage", "gatv2"}, variant{"plain", record.Cell.Fair}, variant{"node masking", masked})
}

// Unmasked returns the masked experiment c without masking, and with the attention dropout of the model's preset.
func Unmasked(c record.Cell) record.Cell {
	preset := record.NewCell(c.Data, c.Parameters.Model, c.Setting, c.TrainPercent).Parameters
	return c.Masked(1).With(func(p *hyper.Parameters) {
		p.AttentionDropout, p.MaskOver, p.SelfTerm, p.Rescale = preset.AttentionDropout, preset.MaskOver, preset.SelfTerm,
			false
	})
}

// Label names an experiment by its model and the settings in which it differs from the paper's usual ones
// ([paper.Cell]).
func Label(c record.Cell) string {
	return c.Label(usual(c), paper.MaskedKeepRate)
}

func usual(c record.Cell) record.Cell {
	like := paper.Cell(c.Data, c.Parameters.Model, c.Setting, c.TrainPercent)
	if c.Parameters.KeepRate.Active() {
		return paper.Masked(like, paper.MaskedKeepRate)
	}
	return like
}

func masked(c record.Cell) record.Cell { return paper.Masked(c, paper.MaskedKeepRate) }

func resplit(c record.Cell) record.Cell {
	c.Resplit, c.Cached, c.History = true, false, false
	return c
}
