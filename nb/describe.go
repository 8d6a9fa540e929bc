package nb

import (
	"fmt"
	"slices"
	"strings"

	"nodemask/datasets"
	"nodemask/nb/internal/notebook"
	"nodemask/plots"
)

// Describe describes a graph before training on it: what its file was understood as, what was
// dropped or left out, and warnings; then degrees, the sizes of the classes and their homophily as bars.
func Describe(g *datasets.Graph) {
	d := datasets.Describe(g)
	t := plots.Table{ID: "description", Header: []string{"name", d.Name}, TextColumns: 2}
	for _, fact := range d.Facts() {
		t.Rows = append(t.Rows, plots.Fields(fact[0], fact[1]))
	}
	Table(t)
	var pictures, text strings.Builder
	for _, b := range []plots.Bars{degreesOf(d), classesOf(d), homophilyOf(d)} {
		if len(b.Rows) > 0 {
			pictures.WriteString(notebook.Image(Must1(b.SVG()), altOf(b.Title, b.Caption)) + "\n")
			text.WriteString(Must1(b.Table().Render(plots.FormatText)) + "\n")
		}
	}
	if pictures.Len() > 0 {
		sideBySide(pictures.String(), text.String())
	}
}

// degreesOf draws the share of the nodes by degree, in steps of powers of 2.
func degreesOf(d datasets.Description) plots.Bars {
	b := plots.Bars{ID: "degrees", XLabel: "nodes (%)",
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
		b.Rows = append(b.Rows, plots.Bar{Label: label, Value: 100 * float64(step.Nodes) / float64(d.Nodes)})
	}
	return b
}

// mostBars are the most classes that are drawn, the largest ones.
const mostBars = 20

// largest returns the classes, the largest first, as many as are drawn, and what to say of the rest.
func largest(d datasets.Description) (classes []datasets.ClassCount, rest string) {
	classes = slices.Clone(d.Classes)
	slices.SortStableFunc(classes, func(a, b datasets.ClassCount) int { return b.Nodes - a.Nodes })
	if n := len(classes); n > mostBars {
		return classes[:mostBars], fmt.Sprintf("The largest %d of %d classes.", mostBars, n)
	}
	return classes, ""
}

// classesOf draws the classes' shares of the labelled nodes, the largest first.
func classesOf(d datasets.Description) plots.Bars {
	classes, rest := largest(d)
	b := plots.Bars{ID: "classes", XLabel: "labelled nodes (%)", Caption: rest}
	for _, class := range classes {
		share := 100 * float64(class.Nodes) / float64(max(d.Nodes-d.Unlabelled, 1))
		b.Rows = append(b.Rows, plots.Bar{Label: class.Name, Value: share})
	}
	if len(b.Rows) > 0 {
		b.Title = fmt.Sprintf("The largest class has %.1f %% of the labelled nodes", b.Rows[0].Value)
	}
	return b
}

// homophilyOf draws which share of a class's neighbours is of the class, beside what chance would give.
func homophilyOf(d datasets.Description) plots.Bars {
	b := plots.Bars{ID: "homophily", XLabel: "neighbours of the same class (%)", MarkLabel: "by chance"}
	classes, rest := largest(d)
	b.Caption = rest
	for _, class := range classes {
		if class.Homophily != nil {
			chance := 100 * class.Chance
			b.Rows = append(b.Rows, plots.Bar{Label: class.Name, Value: 100 * *class.Homophily, Mark: &chance})
		}
	}
	if d.EdgeHomophily != nil {
		b.Title = fmt.Sprintf("%.0f %% of the edges join two of one class", 100**d.EdgeHomophily)
	}
	return b
}
