package nb

import (
	"fmt"
	"slices"
	"strings"

	"nodemask/datasets"
	"nodemask/nb/internal/notebook"
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

const mostBars = 20

func largest(d datasets.Description) (classes []datasets.ClassCount, rest string) {
	classes = slices.Clone(d.Classes)
	slices.SortStableFunc(classes, func(a, b datasets.ClassCount) int { return b.Nodes - a.Nodes })
	if n := len(classes); n > mostBars {
		return classes[:mostBars], fmt.Sprintf("The largest %d of %d classes.", mostBars, n)
	}
	return classes, ""
}

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
