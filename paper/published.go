// Package paper holds what "Node Masking: Making Graph Neural Networks Generalize and Scale Better" (arXiv 2001.07524)
// published, to be set beside what is measured. Nothing here ever becomes a result.
package paper

import "nodemask/datasets"

// MaskedKeepRate is the keep rate p of all of the paper's tables.
const MaskedKeepRate = 0.5

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

// GINScore finds the published score of GIN, with node masking or without, and says whether there is one.
func GINScore(data string, setting datasets.Setting, trainPercent int, masked bool) (percent float64, found bool) {
	for _, s := range GINScores() {
		if s.Data == data && s.Setting == setting && s.TrainPercent == trainPercent {
			if masked {
				return s.Masked, true
			}
			return s.GIN, true
		}
	}
	return 0, false
}
