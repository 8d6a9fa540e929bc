package nb

import (
	"fmt"
	"slices"

	"nodemask/datasets"
	"nodemask/plots"
)

// Describe shows a graph before training: how its file was read, warnings, degrees, class sizes and homophily.
func Describe(g *datasets.Graph) {
	d := datasets.Describe(g)
	t := plots.Table{ID: "description", Header: []string{"name", d.Name}, TextColumns: 2}
	for _, fact := range d.Facts() {
		t.Rows = append(t.Rows, plots.Fields(fact[0], fact[1]))
	}
	Table(t)
	for _, t := range []plots.Table{degreesOf(d), classesOf(d), homophilyOf(d)} {
		if len(t.Rows) > 0 {
			Table(t)
		}
	}
}

func percent(x float64) string { return fmt.Sprintf("%.1f", 100*x) }

func degreesOf(d datasets.Description) plots.Table {
	t := plots.Table{ID: "degrees", Header: []string{"", "nodes (%)"},
		Title: fmt.Sprintf("Half of the nodes have at most %d neighbours", d.MedianDegree)}
	for _, step := range d.Degrees {
		label := fmt.Sprint(step.From)
		switch {
		case step.From < step.To:
			label = fmt.Sprintf("%d–%d neighbours", step.From, step.To)
		case step.From == 1:
			label += " neighbour"
		default:
			label += " neighbours"
		}
		t.Rows = append(t.Rows, plots.Fields(label, percent(float64(step.Nodes)/float64(d.Nodes))))
	}
	return t
}

const mostClasses = 20

func largest(d datasets.Description) (classes []datasets.ClassCount, rest string) {
	classes = slices.Clone(d.Classes)
	slices.SortStableFunc(classes, func(a, b datasets.ClassCount) int { return b.Nodes - a.Nodes })
	if n := len(classes); n > mostClasses {
		return classes[:mostClasses], fmt.Sprintf("The largest %d of %d classes.", mostClasses, n)
	}
	return classes, ""
}

func classesOf(d datasets.Description) plots.Table {
	classes, rest := largest(d)
	t := plots.Table{ID: "classes", Header: []string{"", "labelled nodes (%)"}, Caption: rest}
	for _, class := range classes {
		share := float64(class.Nodes) / float64(max(d.Nodes-d.Unlabelled, 1))
		t.Rows = append(t.Rows, plots.Fields(class.Name, percent(share)))
	}
	if len(t.Rows) > 0 {
		t.Title = fmt.Sprintf("The largest class has %s %% of the labelled nodes", t.Rows[0][1].Text)
	}
	return t
}

func homophilyOf(d datasets.Description) plots.Table {
	classes, rest := largest(d)
	t := plots.Table{ID: "homophily", Header: []string{"", "neighbours of the same class (%)", "by chance"}, Caption: rest}
	for _, class := range classes {
		if class.Homophily != nil {
			t.Rows = append(t.Rows, plots.Fields(class.Name, percent(*class.Homophily), percent(class.Chance)))
		}
	}
	if d.EdgeHomophily != nil {
		t.Title = fmt.Sprintf("%.0f %% of the edges join two of one class", 100**d.EdgeHomophily)
	}
	return t
}
