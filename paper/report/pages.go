package report

import (
	"slices"
	"sync"

	"nodemask/paper/record"
)

// PagesFolder holds the trials that pages rerun as checks: one per cell, by the pure-Go backend, which computes as
// browsers do.
const PagesFolder = "go"

// PagesSeed is the seed of the trials in [PagesFolder].
const PagesSeed = 1

// Shown returns the cells of all tables and figures, each once.
func Shown() []record.Cell { return shownCells() }

var shownCells = sync.OnceValue(func() []record.Cell {
	return record.Merged(slices.Concat(tableCells(), gainsCells()))
})

// PagesCells returns the cells whose first trial pages can rerun in minutes: those on Cora, and of GIN on PubMed,
// from some artifacts and the leading figure.
func PagesCells(artifacts []Artifact) (cells []record.Cell) {
	seen := map[string]bool{}
	for _, c := range slices.Concat(CellsOf(artifacts), gainsCells()) {
		c.Cached, c.History = false, false // neither changes scores
		inPages := c.Data == "cora" || c.Data == "pubmed" && c.Parameters.Model == "gin"
		if key := c.Key(); inPages && Chosen(c) != "" && !seen[key] {
			seen[key] = true
			cells = append(cells, c)
		}
	}
	return slices.Clip(cells)
}
