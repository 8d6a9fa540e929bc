package nb

import (
	"fmt"

	"gonum.org/v1/gonum/stat"

	"nodemask/paper"
	"nodemask/plots"
)

// Compare shows, for each cell, the macro F1 of the trials that were run here, of those recorded with the project, and
// what the paper says.
func Compare(cells ...paper.Cell) { Table(CompareTable(Live(), Recorded(), cells...)) }

// CompareTable is what [Compare] shows.
func CompareTable(live, recorded *paper.Results, cells ...paper.Cell) plots.Table {
	t := plots.Table{ID: "compare", Title: "Macro F1 in percent, mean ± standard deviation (trials)",
		Header: []string{"cell", "setting", "train", "run here", "recorded", "paper"}, TextColumns: 2}
	for _, c := range cells {
		published := "–"
		if value, found := paper.PublishedF1(c); found {
			published = fmt.Sprintf("%.2f", value)
		}
		t.Rows = append(t.Rows, []plots.Field{{Text: c.Data + ": " + Label(c)}, {Text: string(c.Setting)}, {Text: fmt.Sprintf("%d %%", c.TrainPercent)},
			{Text: meanOf(live, c)}, {Text: meanOf(recorded, c)}, {Text: published}})
	}
	return t
}

func meanOf(r *paper.Results, c paper.Cell) string {
	values := r.Values(c, paper.MacroF1)
	switch len(values) {
	case 0:
		return "–"
	case 1:
		return fmt.Sprintf("%.2f (1)", values[0])
	}
	mean, std := stat.MeanStdDev(values, nil)
	return fmt.Sprintf("%.2f ± %.2f (%d)", mean, std, len(values))
}

// Artifact shows a table or figure of the paper, by its ID, from the recorded results.
func Artifact(id string) {
	a := artifact(id)
	if !a.IsChart() {
		Table(a.Table(Recorded()))
		return
	}
	charts := a.Charts(Recorded())
	if len(charts) == 0 {
		Markdown(fmt.Sprintf("*No results of %s are recorded yet: `nodemask reproduce %s` computes them.*", a.Title, id))
	}
	for _, c := range charts {
		Chart(c)
	}
}

// Claims shows what the paper claims about an artifact, and what the recorded results say of it.
func Claims(id string) {
	t := plots.Table{ID: id + "-claims", Title: "Claims", Header: []string{"claim", "whose", "verdict", "figures"}, TextColumns: 4}
	r := Recorded()
	for _, c := range artifact(id).Claims {
		v := c.Judge(r)
		whose := "the paper's"
		if c.Ours {
			whose = "ours"
		}
		t.Rows = append(t.Rows, []plots.Field{{Text: c.Text}, {Text: whose}, {Text: string(v.Outcome)}, {Text: v.InBrief()}})
	}
	Table(t)
}

// Summary shows the verdict on every claim.
func Summary() {
	t := paper.Summary(Must1(paper.Find()), Recorded())
	Table(t)
}

func artifact(id string) paper.Artifact { return Must1(paper.Find(id))[0] }

// Mean is the mean of values as text with two decimals; a dash if there are none.
func Mean(values []float64) string {
	if len(values) == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", stat.Mean(values, nil))
}
