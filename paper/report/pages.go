package report

import (
	"slices"

	"nodemask/paper/record"
)

// PagesFolder holds the trials that pages rerun: one per cell, with [PagesSeed], by the pure-Go backend, which
// computes as browsers do. They only check pages.
const PagesFolder = "go"

// PagesSeed is the seed of those trials.
const PagesSeed = 1

// PagesCells returns the cells whose first trial pages rerun: macro F1 on Cora, and of GIN on PubMed, which take
// minutes at most.
func PagesCells(artifacts []Artifact) (cells []record.Cell) {
	seen := map[string]bool{}
	for _, c := range CellsOf(artifacts) {
		c.Cached, c.History = false, false // they change no score
		inPages := c.Data == "cora" || c.Data == "pubmed" && c.Parameters.Model == "gin"
		if key := c.Key(); inPages && Chosen(c) != "" && !seen[key] {
			seen[key] = true
			cells = append(cells, c)
		}
	}
	return slices.Clip(cells)
}
