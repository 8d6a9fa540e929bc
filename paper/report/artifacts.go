package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"nodemask/datasets"
	"nodemask/paper/record"
)

// Entry is one number of a table: a metric of a cell, beside what the paper has there.
type Entry struct {
	Cell      record.Cell
	Metric    record.Metric
	Published *float64     // nil: the paper does not have it
	Against   *record.Cell // what a paired t-test compares it with; nil: nothing
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

// Curve is one line of a chart: points that are cells, or the losses of one cell by epoch.
type Curve struct {
	Panel      string // curves of one name are drawn in a chart of their own; "": there is but one
	Name       string
	Points     []Point
	Losses     *record.Cell // instead of points
	Validation bool         // of Losses: the validation loss, else the one trained on
	Of         string       // the curve before it in its panel that it has the colour of
}

// Artifact is a table or figure of the paper, or one beyond it, as data.
type Artifact struct {
	ID     string
	Number string // the paper's: "Table 3a"; "": it has none
	Title  string
	About  string // what it shows, and what to know to read it

	Labels, Columns []string // of a table
	Blocks          []int    // ascending: columns, from 0, at which a page may break the table
	Rows            []Row
	XLabel, YLabel  string // of a chart
	Curves          []Curve

	// Tuned is one of the protocols' tuned comparisons: rows come with the evidence, since what is compared is chosen
	// there.
	Tuned bool

	Claims []Claim
	// Elsewhere is set if the artifact runs only if asked for by name: its data take a download, or its trials long.
	Elsewhere bool
}

// Cells lists an artifact's cells, each once, those of one program after another.
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

// CellsOf lists the cells of several artifacts, each once.
func CellsOf(artifacts []Artifact) []record.Cell {
	var all []record.Cell
	for _, a := range artifacts {
		all = append(all, a.Cells()...)
	}
	return record.Merged(all)
}

// Sizes returns the paper's sizes of the train set, in percent.
func Sizes() []int { return []int{10, 20, 25, 33, 50, 75, 90} }

// command returns what computes an artifact; shown returns what shows it.
func (a Artifact) command() string { return "nodemask reproduce " + a.ID }
func (a Artifact) shown() string   { return "nodemask report " + a.ID }

// fewSizes returns the sizes that go beyond the paper: a small train set and a large one.
func fewSizes() []int { return []int{10, 50} }

// numbers are the paper's own, of its tables and figures by ID.
var numbers = map[string]string{"table-gat": "Table 1", "table-mad": "Table 2", "table-gin-cora": "Table 3a",
	"table-gin-pubmed": "Table 3b", "table-gin-reddit": "Table 3c", "table-scale-cora": "Table 4a",
	"table-scale-pubmed": "Table 4b", "fig-keep-rate-gin": "Figure 8", "fig-keep-rate-gat": "Figure 9",
	"fig-depth": "Figure 10", "fig-loss-cora": "Figure 11", "fig-loss-pubmed": "Figure 12"}

// Artifacts lists every table and figure, in the paper's order, and then what goes beyond it.
func Artifacts() []Artifact {
	both, inductive := datasets.Settings(), []datasets.Setting{datasets.Inductive}
	redditLike := tableGIN("table-gin-reddit-like", "reddit-like", Sizes()[:5], inductive)
	redditLike.Elsewhere, redditLike.Claims = true, nil
	redditLike.About = "A generated graph of Reddit's shape, at a hundredth of its size, for where Reddit itself cannot " +
		"be had. Its scores say nothing about Reddit's."
	all := []Artifact{
		tableGAT("table-gat", "cora"), tableMAD(),
		tableGIN("table-gin-cora", "cora", Sizes(), both), tableGIN("table-gin-pubmed", "pubmed", Sizes(), both),
		tableGIN("table-gin-reddit", "reddit", Sizes()[:5], inductive),
		tableScale("table-scale-cora", "cora"), tableScale("table-scale-pubmed", "pubmed"),
		figKeepRateGIN(), figKeepRateOthers(), figKeepRateGAT(), figDepth(),
		figLoss("fig-loss-cora", "cora"), figLoss("fig-loss-pubmed", "pubmed"),
		tableGIN("table-gin-citeseer", "citeseer", sizesOf("citeseer"), both), tableGAT("table-gat-citeseer", "citeseer"),
		tableScores(), tableValidation(), tableRegularisers(), tableModels(), tableTuned(balancedID), tableTuned(tunedID),
		redditLike,
	}
	for i := range all {
		all[i].Number = numbers[all[i].ID]
	}
	return all
}

// Reported returns the artifacts of these ids, in order, as [Find] does; without ids, those too that run only by name
// if the paper claims something of them: what was not run is shown as such.
func Reported(ids ...string) ([]Artifact, error) {
	if len(ids) > 0 {
		return Find(ids...)
	}
	return slices.DeleteFunc(Artifacts(), func(a Artifact) bool { return a.Elsewhere && len(a.Claims) == 0 }), nil
}

// Find returns the artifacts of these ids, in order; without ids, all but those that run only by name.
func Find(ids ...string) ([]Artifact, error) {
	all := Artifacts()
	if len(ids) == 0 {
		return slices.DeleteFunc(all, func(a Artifact) bool { return a.Elsewhere }), nil
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

// DataTitle returns a data set's name as people write it: "PubMed" for "pubmed". What is not of the paper keeps its
// name.
func DataTitle(data string) string {
	return cmp.Or(map[string]string{"cora": "Cora", "pubmed": "PubMed", "citeseer": "CiteSeer", "reddit": "Reddit"}[data],
		data)
}
