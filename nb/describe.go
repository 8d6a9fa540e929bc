package nb

import (
	"fmt"
	"slices"
	"strings"

	"nodemask/datasets"
	"nodemask/plots"
)

// Describe shows what there is to know of a graph before training on it: what its file was understood as, what was dropped or left
// out, degrees, classes, homophily, and warnings; then the distribution of degrees and the sizes of the classes as charts.
func Describe(g *datasets.Graph) {
	d := datasets.Describe(g)
	Table(factsOf(d))
	if c := degreesOf(d); len(c.Series) > 0 {
		Chart(c)
	}
	if c := classesOf(d); len(c.Series) > 0 {
		Chart(c)
	}
}

// factsOf is the table that [Describe] shows.
func factsOf(d datasets.Description) plots.Table {
	t := plots.Table{ID: "description", Header: []string{"name", d.Name}, TextColumns: 2}
	add := func(name, format string, args ...any) {
		t.Rows = append(t.Rows, []plots.Field{{Text: name}, {Text: fmt.Sprintf(format, args...)}})
	}
	if d.Format != "" {
		add("format", "%s", d.Format)
	}
	add("nodes", "%d (%d isolated, %d unlabelled)", d.Nodes, d.Isolated, d.Unlabelled)
	add("edges", "%d (%d pairs listed, %d self-loops and %d duplicates dropped)", d.Edges, d.Listed, d.SelfLoops, d.Duplicates)
	add("degree", "mean %.2f, median %d, most %d", d.MeanDegree, d.MedianDegree, d.MaxDegree)
	add("features", "%d (%d nonzeros; %d the same on all nodes)", d.Features, d.NonZeros, d.Constant)
	add("classes", "%d", len(d.Classes))
	if d.EdgeHomophily != nil {
		add("homophily", "%.3f of the edges between labelled nodes join two of one class", *d.EdgeHomophily)
	}
	if s := d.OwnSplit; s != nil {
		add("own split", "%d train, %d validation and %d test nodes", s.Train, s.Validation, s.Test)
	}
	for _, note := range d.Notes {
		add("note", "%s", note)
	}
	for _, warning := range d.Warnings {
		add("warning", "%s", warning)
	}
	return t
}

// degreesOf charts the share of the nodes by degree, in steps of powers of 2.
func degreesOf(d datasets.Description) plots.Chart {
	c := plots.Chart{ID: "degrees", Title: fmt.Sprintf("Half of the nodes of %s have at most %d neighbours", d.Name, d.MedianDegree), XLabel: "degree, up to 2^x − 1", YLabel: "nodes (%)",
		Caption: "Each point is the share of nodes with a degree from 2^(x−1) to 2^x − 1; at 0, those without edges."}
	line := plots.Series{Name: "nodes"}
	for i, step := range d.Degrees {
		line.X, line.Y = append(line.X, float64(i)), append(line.Y, 100*float64(step.Nodes)/float64(d.Nodes))
	}
	if len(line.X) > 0 {
		c.Series = []plots.Series{line}
	}
	return c
}

// classesOf charts the classes' shares of the labelled nodes, the largest first.
func classesOf(d datasets.Description) plots.Chart {
	classes := slices.Clone(d.Classes)
	slices.SortStableFunc(classes, func(a, b datasets.ClassCount) int { return b.Nodes - a.Nodes })
	c := plots.Chart{ID: "classes", XLabel: "class, by size", YLabel: "labelled nodes (%)"}
	line := plots.Series{Name: "classes"}
	var names []string
	for i, class := range classes {
		line.X, line.Y = append(line.X, float64(i+1)), append(line.Y, 100*float64(class.Nodes)/float64(max(d.Nodes-d.Unlabelled, 1)))
		if i < 10 {
			names = append(names, fmt.Sprintf("%d: %.40s", i+1, class.Name))
		}
	}
	if len(line.X) == 0 {
		return c
	}
	c.Title = fmt.Sprintf("The largest class has %.1f %% of the labelled nodes, the smallest %.1f %%", line.Y[0], line.Y[len(line.Y)-1])
	c.Caption = strings.Join(names, ", ") + "."
	c.Series = []plots.Series{line}
	return c
}
