package nb

import (
	"fmt"
	"path/filepath"

	"nodemask/paper"
	"nodemask/plots"
	"nodemask/record"
	"nodemask/stats"
)

// Compare shows each cell's macro F1: of the trials run here, of those recorded with the project, and as published.
func Compare(cells ...record.Cell) { Table(CompareTable(Live(), Recorded(), cells...)) }

// CompareTable returns the table that [Compare] shows.
func CompareTable(live, recorded *record.Results, cells ...record.Cell) plots.Table {
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

func meanOf(r *record.Results, c record.Cell) string {
	s := stats.Summarize(r.Values(c, record.MacroF1))
	if s.N == 0 {
		return s.Text(2)
	}
	return fmt.Sprintf("%s (%d)", s.Text(2), s.N)
}

// Artifact shows a table or figure of the paper, by its ID, from the recorded results.
func Artifact(id string) {
	a := artifact(id)
	if !a.IsChart() {
		Table(Must1(evidence().Table(a, paper.TableOptions{})))
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
	t := plots.Table{ID: id + "-claims", Title: "Claims", Header: []string{"claim", "whose", "verdict", "p < 0.05", "pooled effect [95 %]"}, TextColumns: 5}
	for _, j := range paper.Judge([]paper.Artifact{artifact(id)}, evidence()) {
		whose := "the paper's"
		if j.Ours {
			whose = "ours"
		}
		t.Rows = append(t.Rows, []plots.Field{{Text: j.Text, Note: j.Says}, {Text: whose}, {Text: j.GradeText(), Note: j.Figures}, {Text: j.Strict()}, {Text: j.EffectText()}})
	}
	Table(t)
}

// Summary shows the verdict on every claim.
func Summary() {
	Table(paper.Summary(Must1(paper.Reported()), evidence()))
}

// evidence is what the project's results say, of the tables and of every reading.
func evidence() *paper.Evidence {
	return Must1(paper.OpenEvidence(filepath.Join(Must1(Project()), "results")))
}

func artifact(id string) paper.Artifact { return Must1(paper.Find(id))[0] }

// Mean returns the mean of values as text with two decimals, or a dash if there are none.
func Mean(values []float64) string {
	s := stats.Summarize(values)
	s.StdDev = 0
	return s.Text(2)
}
