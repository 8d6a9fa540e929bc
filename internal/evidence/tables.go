package evidence

import (
	"fmt"
	"strings"

	"nodemask/datasets"
	"nodemask/internal/multiverse"
	"nodemask/nmgnn/hyper"
	"nodemask/paper"
	"nodemask/record"
)

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
	for _, setting := range datasets.Settings() {
		for _, size := range sizesOf(data) {
			row := Row{Labels: []string{string(setting), fmt.Sprintf("%d %%", size)}}
			for _, model := range []string{"gat", "sgat"} {
				plain := paper.Cell(data, model, setting, size)
				over := overSplits(plain)
				if !oneSplit(data) {
					plain, over = resplit(plain), nil
				}
				entries := []Entry{{Cell: plain, Metric: record.MacroF1},
					{Cell: plain.Fair(), Metric: record.MacroF1, Against: &plain}, {Cell: masked(plain), Metric: record.MacroF1,
						Against: &plain}}
				entries[0].Published = Published(data, model, setting, size, false)
				entries[2].Published = Published(data, model, setting, size, true)
				row.Entries = append(append(row.Entries, entries...), over...)
			}
			a.Rows = append(a.Rows, row)
		}
	}
	return a
}

// oneSplit reports whether the paper has tables of a data set, with ten trials on one split; of CiteSeer it has words
// alone.
func oneSplit(data string) bool { return data != "citeseer" }

// sizesOf returns the sizes of a data set's tables, in percent.
func sizesOf(data string) []int {
	if oneSplit(data) {
		return Sizes()
	}
	return multiverse.Sizes()
}

// splitsAbout says which trials tables of a data set have: see [overSplits].
func splitsAbout(data string) string {
	if oneSplit(data) {
		return " Up to ten trials on one split, as the paper has; beside them twenty trials on a split each."
	}
	return " Twenty trials on a split each; the paper has no table of it."
}

// overSplits are the entries of a plain cell and the masked one with a split for each trial.
func overSplits(plain record.Cell) []Entry {
	plain = resplit(plain)
	return []Entry{{Cell: plain, Metric: record.MacroF1}, {Cell: masked(plain), Metric: record.MacroF1, Against: &plain}}
}

func tableMAD() Artifact {
	a := Artifact{ID: "table-mad", Title: "MAD of GAT and SGAT on Cora, 10 % to train on",
		About: "MAD is the mean cosine distance over all pairs of nodes: the lower, the smoother. The paper does not say " +
			"of which representation, and it matters: all three are here. The published values stand beside the class " +
			"probabilities', which come nearest.",
		Labels: []string{"model", "of"}, Columns: []string{"inductive", "transductive"}}
	for _, p := range SmoothnessScores() {
		name := strings.ToUpper(p.Model)
		switch {
		case p.Masked:
			name += " + NM"
		case !p.AttentionDropout:
			name += ", no att. dropout"
		}
		for _, metric := range []record.Metric{record.MADHidden, record.MADLogits, record.MADSoftmax} {
			row := Row{Labels: []string{name, strings.TrimPrefix(string(metric), "MAD of the ")}}
			for i, setting := range datasets.Settings() {
				plain := paper.Cell("cora", p.Model, setting, 10)
				e := Entry{Cell: plain, Metric: metric}
				switch {
				case p.Masked:
					e.Cell, e.Against = masked(plain), &plain
				case !p.AttentionDropout:
					e.Cell = plain.Fair()
				}
				if metric == record.MADSoftmax {
					e.Published = publish([]float64{p.Inductive, p.Transductive}[i])
				}
				row.Entries = append(row.Entries, e)
			}
			a.Rows = append(a.Rows, row)
		}
	}
	return a
}

func tableGIN(id, data string, sizes []int, settings []datasets.Setting) Artifact {
	a := Artifact{ID: id, Title: "Macro F1 of GIN on " + DataTitle(data), Labels: []string{"train"},
		Elsewhere: data == "reddit",
		About: "GIN-0 as the paper and the works that it cites describe it: two linear layers and batch normalisation in " +
			"each MLP, predictions from all layers. Inductively, new nodes arrive with their edges to train nodes."}
	splits := oneSplit(data) && data != "reddit" // one takes hours
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
		row := Row{Labels: []string{fmt.Sprintf("%d %%", size)}}
		for _, setting := range settings {
			plain := paper.Cell(data, "gin", setting, size)
			if !oneSplit(data) {
				row.Entries = append(row.Entries, overSplits(plain)...)
				continue
			}
			entries := []Entry{{Cell: plain, Metric: record.MacroF1},
				{Cell: masked(plain), Metric: record.MacroF1, Against: &plain}}
			for i := range entries {
				entries[i].Published = Published(data, "gin", setting, size, i == 1)
			}
			row.Entries = append(row.Entries, entries...)
			if splits {
				row.Entries = append(row.Entries, overSplits(plain)...)
			}
		}
		a.Rows = append(a.Rows, row)
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
	for _, size := range Sizes() {
		plain := paper.Cell(data, "gin", datasets.Inductive, size)
		plain.Cached = true
		masked := masked(plain)
		row := Row{Labels: []string{fmt.Sprintf("%d %%", size)}, Entries: []Entry{
			{Cell: plain, Metric: record.MacroF1}, {Cell: plain, Metric: record.Nodes}, {Cell: plain,
				Metric: record.NodesReached},
			{Cell: plain, Metric: record.MacroF1Together}, {Cell: masked, Metric: record.MacroF1Together,
				Against: &plain}, {Cell: plain, Metric: record.NodesCached}}}
		for _, p := range ScaleScores() {
			if p.Data == data && p.TrainPercent == size {
				row.Entries[1].Published, row.Entries[5].Published = publish(float64(p.Nodes)), publish(float64(p.NodesCached))
				row.Entries[3].Published, row.Entries[4].Published = publish(p.Cached), publish(p.Masked)
			}
		}
		row.Entries[0].Published = Published(data, "gin", datasets.Inductive, size, false)
		a.Rows = append(a.Rows, row)
	}
	return a
}

// keepRates are those of the appendix.
func keepRates() []float64 { return []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9} }

// overKeepRates is a curve of a cell over the keep rate, up to 1, where nothing is masked: there [Masked] leaves
// attention dropout out as well, so that nothing else changes.
func overKeepRates(name string, c record.Cell, masked func(record.Cell, hyper.KeepRate) record.Cell) Curve {
	curve := Curve{Name: name}
	for _, p := range append(keepRates(), 1) {
		curve.Points = append(curve.Points, Point{p, Entry{Cell: masked(c, hyper.KeepRate(p)), Metric: record.MacroF1}})
	}
	return curve
}

// keepRateAbout says how to read a curve over the keep rate.
const keepRateAbout = "Mean of the trials, with a 95 % confidence interval, cut at 0 and 100. At p = 1 nothing is " +
	"masked; the paper's figures end at 0.9."

const keepRateAxis, f1Axis = "keep rate p (probability that a node is kept)", "macro F1 (%)"

func figKeepRateGIN() Artifact {
	a := Artifact{ID: "fig-keep-rate-gin", Title: "GIN + NM on Cora over the keep rate, 10 % to train on",
		XLabel: keepRateAxis, YLabel: f1Axis,
		About: keepRateAbout}
	for _, setting := range datasets.Settings() {
		a.Curves = append(a.Curves, overKeepRates(string(setting), paper.Cell("cora", "gin", setting, 10), paper.Masked))
	}
	return a
}

func figKeepRateOthers() Artifact {
	a := Artifact{ID: "fig-keep-rate-others", Title: "GIN + NM on CiteSeer and PubMed over the keep rate, 10 % to train " +
		"on", XLabel: keepRateAxis, YLabel: f1Axis,
		Elsewhere: true, About: keepRateAbout + " The paper says that the trends of Cora hold, and shows nothing; it runs " +
			"only if asked for by name."}
	for _, data := range []string{"citeseer", "pubmed"} {
		for _, setting := range datasets.Settings() {
			a.Curves = append(a.Curves, overKeepRates(DataTitle(data)+", "+string(setting), paper.Cell(data, "gin", setting, 10),
				paper.Masked))
		}
	}
	return a
}

func figKeepRateGAT() Artifact {
	a := Artifact{ID: "fig-keep-rate-gat", Title: "GAT + NM and SGAT + NM on Cora over the keep rate, 10 % to train on, " +
		"inductive", XLabel: keepRateAxis, YLabel: f1Axis,
		About: keepRateAbout}
	for _, model := range []string{"gat", "sgat"} {
		a.Curves = append(a.Curves, overKeepRates(strings.ToUpper(model)+" + NM",
			paper.Cell("cora", model, datasets.Inductive, 10),
			paper.Masked))
	}
	return a
}

func figDepth() Artifact {
	a := Artifact{ID: "fig-depth", Title: "GIN + NM on Cora over the keep rate, by depth, 10 % to train on",
		XLabel: keepRateAxis, YLabel: f1Axis,
		About: keepRateAbout + " A split for each trial. The body and the readout (two linear layers with batch " +
			"normalisation inside, predictions from all layers) are those that do best at 16 layers without masking, by " +
			"validation F1; stopping follows macro F1."}
	for _, setting := range datasets.Settings() {
		for _, layers := range multiverse.Depths() {
			curve := overKeepRates(fmt.Sprintf("%d layers", layers), multiverse.DepthCell("cora", setting, layers), record.Cell.Masked)
			curve.Panel = string(setting)
			a.Curves = append(a.Curves, curve)
		}
	}
	return a
}

func figLoss(id, data string) Artifact {
	a := Artifact{ID: id, Title: "Losses of GIN on " + DataTitle(data) + ", 10 % to train on", XLabel: "epoch",
		YLabel: crossEntropy,
		About:  "Mean over the trials that have not stopped yet, for as long as half of them have not."}
	for _, setting := range datasets.Settings() {
		for _, keep := range []hyper.KeepRate{1, paper.MaskedKeepRate} {
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
	return a
}

func tableScores() Artifact {
	a := Artifact{ID: "table-scores", Title: "Macro F1, micro F1 and accuracy on Cora",
		About:  "The paper says that they agree. With one class for each node, micro F1 and accuracy are the same number.",
		Labels: []string{"model", "setting", "train"}, Columns: []string{"macro F1", "micro F1", "accuracy", "+ NM: macro F1",
			"+ NM: micro F1", "+ NM: accuracy"}, Blocks: []int{3}}
	for _, model := range []string{"gin", "gat", "sgat"} {
		for _, s := range datasets.Settings() {
			for _, size := range fewSizes() {
				plain := paper.Cell("cora", model, s, size)
				row := Row{Labels: []string{strings.ToUpper(model), string(s), fmt.Sprintf("%d %%", size)}}
				for _, m := range []record.Metric{record.MacroF1, record.MicroF1, record.Accuracy} {
					row.Entries = append(row.Entries, Entry{Cell: plain, Metric: m})
				}
				for _, m := range []record.Metric{record.MacroF1, record.MicroF1, record.Accuracy} {
					row.Entries = append(row.Entries, Entry{Cell: masked(plain), Metric: m, Against: &plain})
				}
				a.Rows = append(a.Rows, row)
			}
		}
	}
	return a
}

func tableValidation() Artifact {
	a := Artifact{ID: "table-validation", Title: "Macro F1 on Cora by the share of validation nodes",
		About: "The paper does not say how many of the nodes left after the train set are for validation; everywhere else " +
			"here it is 10 %. Ten trials on a split each; what is significant is tested against the same share without masking.",
		Labels: []string{"model", "validation"}}
	for _, size := range fewSizes() {
		for _, s := range datasets.Settings() {
			if len(a.Columns) > 0 {
				a.Blocks = append(a.Blocks, len(a.Columns))
			}
			a.Columns = append(a.Columns, fmt.Sprintf("%s %d %%: plain", s, size), fmt.Sprintf("%s %d %%: + NM", s, size))
		}
	}
	for _, model := range []string{"gin", "gat", "sgat"} {
		for _, share := range []int{10, 5} {
			row := Row{Labels: []string{hyper.Title(model), fmt.Sprintf("%d %%", share)}}
			for _, size := range fewSizes() {
				for _, s := range datasets.Settings() {
					plain := paper.Cell("cora", model, s, size)
					if share != 10 {
						plain.ValidationPercent = share
					}
					row.Entries = append(row.Entries, overSplits(plain)...)
				}
			}
			a.Rows = append(a.Rows, row)
		}
	}
	return a
}

// sideBySide makes a table with a row for each variant and columns for Cora, 10 and 50 %, in both settings.
func sideBySide(a Artifact, variants []struct {
	name string
	of   func(record.Cell) record.Cell
}, models []string) Artifact {
	a.Labels, a.Blocks = []string{"model", "trained with"}, []int{len(datasets.Settings())}
	for _, size := range fewSizes() {
		for _, s := range datasets.Settings() {
			a.Columns = append(a.Columns, fmt.Sprintf("%s %d %%", s, size))
		}
	}
	for _, model := range models {
		for i, v := range variants {
			row := Row{Labels: []string{hyper.Title(model), v.name}}
			for _, size := range fewSizes() {
				for _, s := range datasets.Settings() {
					plain := paper.Cell("cora", model, s, size)
					e := Entry{Cell: v.of(plain), Metric: record.MacroF1}
					if i > 0 {
						first := variants[0].of(plain)
						e.Against = &first
					}
					row.Entries = append(row.Entries, e)
				}
			}
			a.Rows = append(a.Rows, row)
		}
	}
	return a
}

func tableRegularisers() Artifact {
	regularised := func(name hyper.RegulariserName) func(record.Cell) record.Cell {
		return func(c record.Cell) record.Cell {
			return c.Fair().With(func(s *hyper.Parameters) { s.Dropout, s.Regulariser, s.RegulariserRate = 0, name, 0.5 })
		}
	}
	return sideBySide(Artifact{ID: "table-regularisers", Title: "Node masking beside DropEdge, DropNode and dropout on " +
		"Cora",
		About: "Each is alone, at a rate of 0.5, without any other dropout; compared with the unregularised model."},
		[]struct {
			name string
			of   func(record.Cell) record.Cell
		}{
			{"nothing", func(c record.Cell) record.Cell { return c.Fair().With(func(s *hyper.Parameters) { s.Dropout = 0 }) }},
			{"node masking", func(c record.Cell) record.Cell {
				return masked(c).With(func(s *hyper.Parameters) { s.Dropout = 0 })
			}},
			{"DropEdge", regularised(hyper.DropEdgeRegulariser)},
			{"DropNode", regularised(hyper.DropNodeRegulariser)},
			{"dropout", regularised(hyper.DropoutRegulariser)},
		}, []string{"gin", "sgat"})
}

func tableModels() Artifact {
	return sideBySide(Artifact{ID: "table-models", Title: "Node masking on GCN, GraphSAGE and GATv2, on Cora",
		About: "The paper expects its technique to help other models that aggregate. GATv2 is without attention dropout in " +
			"both rows."},
		[]struct {
			name string
			of   func(record.Cell) record.Cell
		}{
			{"plain", record.Cell.Fair},
			{"node masking", masked},
		}, []string{"gcn", "sage", "gatv2"})
}

func tableReddit() Artifact {
	a := tableGIN("table-gin-reddit-like", "reddit-like", Sizes()[:5], []datasets.Setting{datasets.Inductive})
	a.Elsewhere = true
	a.About = "A generated graph of Reddit's shape, at a hundredth of its size, for where Reddit itself cannot be had. " +
		"Its scores say nothing about Reddit's."
	return a
}

// masked is a cell with the paper's node masking.
func masked(c record.Cell) record.Cell { return paper.Masked(c, paper.MaskedKeepRate) }

// resplit is a cell with a split of its own for each trial.
func resplit(c record.Cell) record.Cell {
	c.Resplit, c.Cached, c.History = true, false, false
	return c
}
