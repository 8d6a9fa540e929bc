package report

import (
	"slices"

	"nodemask/paper/record"
)

// PagesFolder has, in a folder of results, the trials that pages run again: one of each cell, with [PagesSeed], by the
// pure-Go backend, which computes as browsers do. They are compared with what a page gets, and never a part of tables.
const PagesFolder = "go"

// PagesSeed is the seed of those trials.
const PagesSeed = 1

// PagesCells lists the cells of artifacts whose first trial pages run again, each once: those of macro F1 on data that
// come with pages, where all of Cora and GIN on PubMed take minutes at most.
func PagesCells(artifacts []Artifact) (cells []record.Cell) {
	seen := map[string]bool{}
	for _, c := range CellsOf(artifacts) {
		c.Cached, c.History = false, false // which change no score
		inPages := c.Data == "cora" || c.Data == "pubmed" && c.Parameters.Model == "gin"
		if key := c.Key(); inPages && Chosen(c) != "" && !seen[key] {
			seen[key] = true
			cells = append(cells, c)
		}
	}
	return slices.Clip(cells)
}
