// Package evidence has the tables, figures and claims of the paper as data, judges them by what was measured, and
// reports that. It holds what "Node Masking: Making Graph Neural Networks Generalize and Scale Better" (arXiv
// 2001.07524) published, to compare with what is measured. Nothing here ever becomes a result.
package evidence

import (
	"nodemask/datasets"
	"nodemask/record"
)

// Score is one published macro F1 score, in percent.
type Score struct {
	Data         string
	Setting      datasets.Setting
	TrainPercent int
	GIN, Masked  float64 // without and with node masking
}

// GINScores returns the paper's tables of GIN on Cora, PubMed and Reddit (tables 3a to 3c), in the paper's order.
func GINScores() []Score {
	const inductive, transductive = datasets.Inductive, datasets.Transductive
	return []Score{
		{"cora", inductive, 10, 52.91, 56.38}, {"cora", transductive, 10, 77.95, 79.65},
		{"cora", inductive, 20, 71.10, 74.38}, {"cora", transductive, 20, 81.65, 82.66},
		{"cora", inductive, 25, 74.71, 77.94}, {"cora", transductive, 25, 82.72, 83.87},
		{"cora", inductive, 33, 78.84, 80.98}, {"cora", transductive, 33, 83.78, 84.61},
		{"cora", inductive, 50, 83.07, 84.49}, {"cora", transductive, 50, 85.63, 86.57},
		{"cora", inductive, 75, 85.46, 86.88}, {"cora", transductive, 75, 87.40, 87.91},
		{"cora", inductive, 90, 85.13, 86.63}, {"cora", transductive, 90, 86.67, 87.82},

		{"pubmed", inductive, 10, 77.51, 78.31}, {"pubmed", transductive, 10, 83.65, 84.34},
		{"pubmed", inductive, 20, 82.11, 82.86}, {"pubmed", transductive, 20, 84.61, 85.20},
		{"pubmed", inductive, 25, 82.95, 83.94}, {"pubmed", transductive, 25, 85.03, 85.47},
		{"pubmed", inductive, 33, 83.78, 84.46}, {"pubmed", transductive, 33, 85.35, 85.84},
		{"pubmed", inductive, 50, 85.25, 85.79}, {"pubmed", transductive, 50, 85.89, 86.42},
		{"pubmed", inductive, 75, 85.99, 86.53}, {"pubmed", transductive, 75, 86.38, 86.55},
		{"pubmed", inductive, 90, 86.42, 86.80}, {"pubmed", transductive, 90, 86.43, 86.61},

		{"reddit", inductive, 10, 78.12, 87.09},
		{"reddit", inductive, 20, 83.38, 87.73},
		{"reddit", inductive, 25, 86.76, 88.74},
		{"reddit", inductive, 33, 87.57, 88.94},
		{"reddit", inductive, 50, 88.93, 90.97},
	}
}

// Published returns the macro F1 that the paper prints of a model, with node masking or without, in percent; nil: it
// has none.
func Published(data, model string, setting datasets.Setting, trainPercent int, masked bool) *float64 {
	either := func(plain, with float64) *float64 {
		if masked {
			return &with
		}
		return &plain
	}
	for _, s := range GINScores() {
		if model == "gin" && s.Data == data && s.Setting == setting && s.TrainPercent == trainPercent {
			return either(s.GIN, s.Masked)
		}
	}
	for _, s := range AttentionScores() {
		switch {
		case data != "cora" || s.Setting != setting || s.TrainPercent != trainPercent:
		case model == "gat":
			return either(s.GAT, s.GATMasked)
		case model == "sgat":
			return either(s.SGAT, s.SGATMasked)
		}
	}
	return nil
}

// AttentionScore is the published macro F1 of GAT and SGAT on Cora, without and with node masking (table 1), in
// percent.
type AttentionScore struct {
	Setting                          datasets.Setting
	TrainPercent                     int
	GAT, GATMasked, SGAT, SGATMasked float64
}

// AttentionScores returns table 1, in the paper's order.
func AttentionScores() []AttentionScore {
	const inductive, transductive = datasets.Inductive, datasets.Transductive
	return []AttentionScore{
		{inductive, 10, 40.74, 51.25, 40.57, 50.64},
		{inductive, 20, 68.40, 74.65, 68.50, 74.82},
		{inductive, 25, 74.12, 78.71, 74.34, 79.32},
		{inductive, 33, 80.44, 82.56, 80.30, 82.74},
		{inductive, 50, 84.77, 85.52, 85.04, 85.44},
		{inductive, 75, 87.00, 87.03, 87.16, 87.29},
		{inductive, 90, 86.86, 86.72, 86.46, 86.94},
		{transductive, 10, 82.01, 82.77, 82.17, 83.46},
		{transductive, 20, 84.20, 85.04, 84.35, 85.34},
		{transductive, 25, 84.95, 85.38, 85.12, 85.88},
		{transductive, 33, 85.87, 86.35, 85.86, 86.72},
		{transductive, 50, 86.61, 87.35, 87.32, 87.61},
		{transductive, 75, 87.93, 88.18, 88.43, 88.44},
		{transductive, 90, 87.25, 87.36, 87.24, 87.22},
	}
}

// SmoothnessScore is a published MAD value on Cora, 10 % to train on (table 2).
type SmoothnessScore struct {
	Model                   string
	AttentionDropout        bool
	Masked                  bool
	Inductive, Transductive float64
}

// SmoothnessScores returns table 2, in the paper's order.
func SmoothnessScores() []SmoothnessScore {
	return []SmoothnessScore{
		{"gat", false, false, 0.20, 0.46}, {"gat", true, false, 0.23, 0.52}, {"gat", false, true, 0.29, 0.57},
		{"sgat", false, false, 0.20, 0.44}, {"sgat", true, false, 0.24, 0.51}, {"sgat", false, true, 0.27, 0.56},
	}
}

// ScaleScore is a published result of GIN with caching, inductive (tables 4a and 4b): macro F1 in percent without and
// with node masking, and the number of nodes involved without and with caching.
type ScaleScore struct {
	Data               string
	TrainPercent       int
	Cached, Masked     float64
	Nodes, NodesCached int
}

// ScaleScores returns tables 4a and 4b, in the paper's order.
func ScaleScores() []ScaleScore {
	return []ScaleScore{
		{"cora", 10, 51.89, 55.82, 2708, 2698}, {"cora", 20, 69.59, 74.17, 2708, 2672}, {"cora", 25, 73.55, 77.32, 2708,
			2644},
		{"cora", 33, 77.60, 80.72, 2708, 2605}, {"cora", 50, 82.50, 83.95, 2708, 2426}, {"cora", 75, 84.90, 86.59, 2708,
			1781},
		{"cora", 90, 84.81, 85.85, 2708, 919},
		{"pubmed", 10, 76.25, 78.33, 19717, 19614}, {"pubmed", 20, 81.47, 82.75, 19717, 19300}, {"pubmed", 25, 82.24, 83.77,
			19717, 19059},
		{"pubmed", 33, 82.83, 84.15, 19717, 18553}, {"pubmed", 50, 84.27, 85.34, 19717, 16733}, {"pubmed", 75, 85.46, 86.01,
			19717, 11944},
		{"pubmed", 90, 85.87, 86.61, 19717, 6682},
	}
}

// PublishedF1 returns the macro F1 that the paper has for a cell, in percent, and whether it has one.
func PublishedF1(c record.Cell) (percent float64, found bool) {
	for _, a := range Artifacts() {
		for _, row := range a.Rows {
			for _, e := range row.Entries {
				if e.Published != nil && e.Metric == record.MacroF1 && e.Cell.Key() == c.Key() {
					return *e.Published, true
				}
			}
		}
	}
	return 0, false
}
