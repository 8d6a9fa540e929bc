// Package report defines the tables, figures and claims of "Node Masking: Making Graph Neural Networks Generalize and
// Scale Better" (arXiv 2001.07524) as data, judges them by our trials, and writes reports. Published numbers never
// enter results.
package report

import (
	"slices"

	"nodemask/datasets"
	"nodemask/paper/record"
)

// column holds the paper's macro F1 without and with masking, in percent, by train set size ([Sizes]).
type column struct {
	data, model   string
	setting       datasets.Setting
	plain, masked []float64
}

// columns holds the paper's tables 3a to 3c (GIN on Cora, PubMed, Reddit) and table 1 (GAT and SGAT on Cora).
var columns = []column{
	{"cora", "gin", datasets.Inductive, []float64{52.91, 71.10, 74.71, 78.84, 83.07, 85.46, 85.13},
		[]float64{56.38, 74.38, 77.94, 80.98, 84.49, 86.88, 86.63}},
	{"cora", "gin", datasets.Transductive, []float64{77.95, 81.65, 82.72, 83.78, 85.63, 87.40, 86.67},
		[]float64{79.65, 82.66, 83.87, 84.61, 86.57, 87.91, 87.82}},
	{"pubmed", "gin", datasets.Inductive, []float64{77.51, 82.11, 82.95, 83.78, 85.25, 85.99, 86.42},
		[]float64{78.31, 82.86, 83.94, 84.46, 85.79, 86.53, 86.80}},
	{"pubmed", "gin", datasets.Transductive, []float64{83.65, 84.61, 85.03, 85.35, 85.89, 86.38, 86.43},
		[]float64{84.34, 85.20, 85.47, 85.84, 86.42, 86.55, 86.61}},
	{"reddit", "gin", datasets.Inductive, []float64{78.12, 83.38, 86.76, 87.57, 88.93},
		[]float64{87.09, 87.73, 88.74, 88.94, 90.97}},
	{"cora", "gat", datasets.Inductive, []float64{40.74, 68.40, 74.12, 80.44, 84.77, 87.00, 86.86},
		[]float64{51.25, 74.65, 78.71, 82.56, 85.52, 87.03, 86.72}},
	{"cora", "gat", datasets.Transductive, []float64{82.01, 84.20, 84.95, 85.87, 86.61, 87.93, 87.25},
		[]float64{82.77, 85.04, 85.38, 86.35, 87.35, 88.18, 87.36}},
	{"cora", "sgat", datasets.Inductive, []float64{40.57, 68.50, 74.34, 80.30, 85.04, 87.16, 86.46},
		[]float64{50.64, 74.82, 79.32, 82.74, 85.44, 87.29, 86.94}},
	{"cora", "sgat", datasets.Transductive, []float64{82.17, 84.35, 85.12, 85.86, 87.32, 88.43, 87.24},
		[]float64{83.46, 85.34, 85.88, 86.72, 87.61, 88.44, 87.22}},
}

// Published returns the paper's macro F1 in percent, or nil if the paper has none.
func Published(data, model string, setting datasets.Setting, trainPercent int, masked bool) *float64 {
	at := slices.Index(Sizes(), trainPercent)
	for _, c := range columns {
		switch {
		case c.data != data || c.model != model || c.setting != setting || at < 0 || at >= len(c.plain):
		case masked:
			return new(c.masked[at])
		default:
			return new(c.plain[at])
		}
	}
	return nil
}

// smoothnessScore is the paper's mean average distance on Cora with 10 % train nodes.
type smoothnessScore struct {
	model           string
	dropout, masked bool       // dropout: with attention dropout; masked: with node masking
	mad             [2]float64 // in the order of datasets.Settings
}

func smoothnessScores() []smoothnessScore {
	return []smoothnessScore{
		{"gat", false, false, [2]float64{0.20, 0.46}}, {"gat", true, false, [2]float64{0.23, 0.52}},
		{"gat", false, true, [2]float64{0.29, 0.57}}, {"sgat", false, false, [2]float64{0.20, 0.44}},
		{"sgat", true, false, [2]float64{0.24, 0.51}}, {"sgat", false, true, [2]float64{0.27, 0.56}},
	}
}

// caching holds the paper's macro F1 of inductive GIN with caching, in percent, by train set size ([Sizes]).
type caching struct {
	plain, masked []float64
	nodes         int
	cached        []int // number of nodes that prediction with caching needs, one per train set size
}

// publishedCaching returns the paper's table 4a (Cora) or 4b (PubMed).
func publishedCaching(data string) caching {
	if data == "cora" {
		return caching{[]float64{51.89, 69.59, 73.55, 77.60, 82.50, 84.90, 84.81},
			[]float64{55.82, 74.17, 77.32, 80.72, 83.95, 86.59, 85.85},
			2708, []int{2698, 2672, 2644, 2605, 2426, 1781, 919}}
	}
	return caching{[]float64{76.25, 81.47, 82.24, 82.83, 84.27, 85.46, 85.87},
		[]float64{78.33, 82.75, 83.77, 84.15, 85.34, 86.01, 86.61},
		19717, []int{19614, 19300, 19059, 18553, 16733, 11944, 6682}}
}

// PublishedF1 returns the paper's macro F1 of an experiment, in percent, and whether the paper has it.
func PublishedF1(c record.Cell) (percent float64, ok bool) {
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
