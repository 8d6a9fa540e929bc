package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"nodemask/datasets"
	"nodemask/paper/record"
)

// Entry is one number of a table.
type Entry struct {
	Cell      record.Cell
	Metric    record.Metric
	Published *float64     // the paper's number; nil if the paper has none
	Against   *record.Cell // experiment to compare Cell with, by a paired t-test
}

// Row is one row of a table.
type Row struct {
	Labels  []string
	Entries []Entry
}

// Point is one point of a curve.
type Point struct {
	X     float64
	Entry Entry
}

// Curve is a line of a chart: the results of several experiments, or the losses of one experiment by epoch.
type Curve struct {
	Panel      string // name of the chart that the curve is in; "" if there is only one chart
	Name       string
	Points     []Point
	Losses     *record.Cell // if set, the losses of this experiment are drawn instead of Points
	Validation bool         // draw validation losses, not train losses
	Of         string       // name of an earlier curve of the panel, whose colour this curve takes
}

// Artifact describes a table or a figure.
type Artifact struct {
	ID     string
	Number string // such as "Table 3a"; "" if not in the paper
	Title  string
	About  string

	Labels, Columns []string // headings of label columns, headings of number columns
	Blocks          []int    // indexes of Columns at which a narrow page may split the table and continue below
	Rows            []Row
	XLabel, YLabel  string // of a chart
	Curves          []Curve

	// Tuned is true for tables that compare models with tuned hyperparameters.
	Tuned bool

	Claims []Claim
	// Elsewhere marks artifacts that run only if asked for by name, because they need a download or long trials.
	Elsewhere bool
}

// Cells returns the artifact's experiments, each once.
func (a Artifact) Cells() []record.Cell {
	var all []record.Cell
	for _, row := range a.Rows {
		for _, e := range row.Entries {
			all = append(all, e.Cell)
			if e.Against != nil {
				all = append(all, *e.Against)
			}
		}
	}
	for _, c := range a.Curves {
		for _, p := range c.Points {
			all = append(all, p.Entry.Cell)
		}
		if c.Losses != nil {
			all = append(all, *c.Losses)
		}
	}
	return record.Merged(all)
}

// CellsOf returns the artifacts' experiments, each once.
func CellsOf(artifacts []Artifact) []record.Cell {
	var all []record.Cell
	for _, a := range artifacts {
		all = append(all, a.Cells()...)
	}
	return record.Merged(all)
}

// Sizes returns the paper's train set sizes, in percent.
func Sizes() []int { return []int{10, 20, 25, 33, 50, 75, 90} }

func fewSizes() []int { return []int{10, 50} }

var numbers = map[string]string{"table-gat": "Table 1", "table-mad": "Table 2", "table-gin-cora": "Table 3a",
	"table-gin-pubmed": "Table 3b", "table-gin-reddit": "Table 3c", "table-scale-cora": "Table 4a",
	"table-scale-pubmed": "Table 4b", "fig-keep-rate-gin": "Figure 8", "fig-keep-rate-gat": "Figure 9",
	"fig-depth": "Figure 10", "fig-loss-cora": "Figure 11", "fig-loss-pubmed": "Figure 12"}

// Artifacts returns all tables and figures, those of the paper first.
func Artifacts() []Artifact {
	both, inductive := datasets.Settings(), []datasets.Setting{datasets.Inductive}
	all := slices.Concat([]Artifact{
		tableGAT("table-gat", "cora"), tableMAD(),
		tableGIN("table-gin-cora", "cora", Sizes(), both), tableGIN("table-gin-pubmed", "pubmed", Sizes(), both),
		tableGIN("table-gin-reddit", "reddit", Sizes()[:5], inductive),
		tableScale("table-scale-cora", "cora"), tableScale("table-scale-pubmed", "pubmed"),
	}, figKeepRates(), []Artifact{figDepth(),
		figLoss("fig-loss-cora", "cora"), figLoss("fig-loss-pubmed", "pubmed"),
		tableGIN("table-gin-citeseer", "citeseer", sizesOf("citeseer"), both), tableGAT("table-gat-citeseer", "citeseer"),
		tableScores(), tableValidation(), tableRegularisers(), tableModels(), tableTuned(balancedID), tableTuned(tunedID),
	})
	for i := range all {
		all[i].Number = numbers[all[i].ID]
	}
	return all
}

// Find returns the artifacts with these ids, or all artifacts if ids is empty.
func Find(ids ...string) ([]Artifact, error) {
	all := Artifacts()
	if len(ids) == 0 {
		return all, nil
	}
	var known []string
	for _, a := range all {
		known = append(known, a.ID)
	}
	var found []Artifact
	for _, id := range ids {
		i := slices.Index(known, id)
		if i < 0 {
			return nil, fmt.Errorf("no artifact %q: known are %s", id, strings.Join(known, ", "))
		}
		found = append(found, all[i])
	}
	return found, nil
}

// DataTitle returns a data set's name as written in prose, such as "PubMed" for "pubmed"; unknown names are unchanged.
func DataTitle(data string) string {
	return cmp.Or(map[string]string{"cora": "Cora", "pubmed": "PubMed", "citeseer": "CiteSeer", "reddit": "Reddit"}[data],
		data)
}

// PagesFolder is the folder of trials that ran with the pure-Go backend. Web pages rerun these trials to check the
// results.
const PagesFolder = "go"

// PagesSeed is the seed of the trials in [PagesFolder].
const PagesSeed = 1

// Shown returns the experiments of all tables and figures, each once.
func Shown() []record.Cell { return shownCells() }

var shownCells = sync.OnceValue(func() []record.Cell {
	return record.Merged(slices.Concat(tableCells(), gainsCells()))
})

// PagesCells returns those experiments of artifacts and [Evidence.Gains] whose first trial a web page can rerun within
// minutes: all experiments on Cora, and those with GIN on PubMed.
func PagesCells(artifacts []Artifact) (cells []record.Cell) {
	for _, c := range slices.Concat(CellsOf(artifacts), gainsCells()) {
		c.Cached, c.History = false, false // neither changes scores
		if c.Data == "cora" || c.Data == "pubmed" && c.Parameters.Model == "gin" {
			cells = append(cells, c)
		}
	}
	return record.Merged(cells)
}
