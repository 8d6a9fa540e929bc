package nb

import (
	"fmt"
	"path/filepath"

	"nodemask/internal/checkout"
	"nodemask/paper/record"
	"nodemask/paper/report"
	"nodemask/plots"
	"nodemask/stats"
)

// Compare shows each experiment's macro F1 as measured on this machine, as the project recorded it, and as published.
func Compare(cells ...record.Cell) {
	check(cells)
	Table(compareTable(trained(cells), Recorded(), cells...))
}

func compareTable(live, recorded *record.Results, cells ...record.Cell) plots.Table {
	t := plots.Table{ID: "compare", Title: "Macro F1 in percent, mean ± standard deviation (trials)",
		Header: []string{"cell", "setting", "train", "run here", "recorded", "paper"}, TextColumns: 2}
	var labels []string
	labels, t.Caption = described(cells)
	for i, c := range cells {
		t.Rows = append(t.Rows, plots.Fields(labels[i], string(c.Setting), fmt.Sprintf("%d %%", c.TrainPercent),
			meanOf(live, c), meanOf(recorded, c), publishedText(c)))
	}
	return t
}

func publishedText(c record.Cell) string {
	if value, ok := report.PublishedF1(c); ok {
		return fmt.Sprintf("%.2f", value)
	}
	return "–"
}

// OverSizes charts the cells' recorded and published macro F1 over train set size, with 95 % intervals. The cells
// must share a graph and setting; their train set sizes are ignored.
func OverSizes(cells ...record.Cell) {
	check(cells)
	c := overSizes(Recorded(), cells...)
	if len(c.Series) == 0 {
		Markdown("*No results of these cells are recorded yet.*")
		return
	}
	Chart(c)
}

func overSizes(recorded *record.Results, cells ...record.Cell) plots.Chart {
	c := plots.Chart{ID: "sizes", XLabel: "train set (% of the nodes)", YLabel: "macro F1 (%)",
		Caption: "Mean of the recorded trials, with a 95 % confidence interval. Dashed, with open markers: the paper's."}
	for _, cell := range cells {
		c.Title = fmt.Sprintf("%s, %s, over the size of the train set", report.DataTitle(cell.Data), cell.Setting)
		ours := seriesOf(recorded, cell)
		theirs := plots.Series{Name: Label(cell) + ", paper", Reference: true}
		for _, size := range report.Sizes() {
			cell.TrainPercent = size
			if published, ok := report.PublishedF1(cell); ok {
				theirs.X, theirs.Y = append(theirs.X, float64(size)), append(theirs.Y, published)
			}
		}
		if len(ours.X) == 0 {
			continue
		}
		c.Series = append(c.Series, ours)
		if len(theirs.X) > 0 {
			c.Series = append(c.Series, theirs)
		}
	}
	return c
}

func seriesOf(recorded *record.Results, cell record.Cell) plots.Series {
	curve := report.Curve{Name: Label(cell)}
	for _, size := range report.Sizes() {
		cell.TrainPercent = size
		curve.Points = append(curve.Points, report.Point{X: float64(size), Entry: report.Entry{Cell: cell,
			Metric: record.MacroF1}})
	}
	charts := report.Artifact{Curves: []report.Curve{curve}}.Charts(recorded)
	if len(charts) == 0 {
		return plots.Series{}
	}
	return charts[0].Series[0]
}

func meanOf(r *record.Results, c record.Cell) string {
	s := stats.Summarize(r.Values(c, record.MacroF1))
	if s.N == 0 {
		return s.Text(2)
	}
	return fmt.Sprintf("%s (%d)", s.Text(2), s.N)
}

// Artifact shows a table or figure of the paper, by ID, from recorded results.
func Artifact(id string) {
	a := artifact(id)
	if !a.IsChart() {
		Table(Must1(saved().Table(a)))
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

// Claims shows the paper's claims about a table or figure, by ID, with our verdicts.
func Claims(id string) {
	t := plots.Table{ID: id + "-claims", Title: "Claims", TextColumns: 5,
		Header: []string{"claim", "whose", "verdict", "p < 0.05", "pooled effect [95 %]"}}
	for _, j := range report.Judge([]report.Artifact{artifact(id)}, saved()) {
		whose := "the paper's"
		if j.Ours {
			whose = "ours"
		}
		row := plots.Fields(j.Text, whose, j.GradeText(), j.Strict(), j.EffectText())
		row[0].Note, row[2].Note = j.Says, j.Figures
		t.Rows = append(t.Rows, row)
	}
	Table(t)
}

func saved() *report.Evidence {
	e := report.Open(filepath.Join(Must1(checkout.Root()), "results"))
	e.OnError = Must
	return e
}

func artifact(id string) report.Artifact { return Must1(report.Find(id))[0] }

// Mean returns the mean as text with two decimals, or a dash if there are no values.
func Mean(values []float64) string {
	s := stats.Summarize(values)
	s.StdDev = 0
	return s.Text(2)
}
