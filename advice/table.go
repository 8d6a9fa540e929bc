package advice

import (
	"fmt"

	"nodemask/nmgnn/hyper"
	"nodemask/plots"
	"nodemask/stats"
)

// Table returns the scores as a table, regularisers × models.
func (a *Advice) Table() plots.Table {
	t := plots.Table{ID: "advice", Title: "What each regulariser does",
		Caption: fmt.Sprintf("Macro F1 on fresh splits, in percent, that of the plain model on the same splits, and the "+
			"difference, in points, with its 90 %% interval, which holds at all %d looks; \"helps\" and \"hurts\" are corrected for "+
			"them and for all %d comparisons.", len(looks()), a.Comparisons),
		Header: []string{"model", "regulariser", "macro F1 %", "plain there", "difference", "interval", "splits", "collapsed",
			""},
		TextColumns: 2, Sections: true}
	for _, q := range a.Questions {
		if len(q.Arms[0].F1) == 0 {
			continue
		}
		name := hyper.Title(q.Model)
		if len(a.settings()) > 1 {
			name += ", " + string(q.Setting)
		}
		if q.Shared != "" {
			t.Caption += fmt.Sprintf(" All of %s: %s; %s, unless a row says otherwise.", name, q.Shared,
				q.Arms[0].dropoutWords())
		}
		best := q.best()
		if len(t.Rows) > 0 {
			t.Groups = append(t.Groups, len(t.Rows))
		}
		for k, arm := range q.Arms {
			row := plots.Fields(name, q.name(arm), arm.Score().Text(1), "", "", "", "", "", "")
			if e := arm.Effect; e != nil {
				row[3].Text = fmt.Sprintf("%.1f", stats.Summarize(q.Arms[0].F1[:e.Splits]).Mean)
				row[4].Text, row[5].Text = plots.Signed(e.Mean, 1), plots.Signed(e.Low, 1)+" to "+plots.Signed(e.High, 1)
			}
			if n := len(arm.F1); n > 0 {
				row[6].Text, row[7].Text = fmt.Sprint(n), fmt.Sprint(arm.Collapsed)
			}
			if k == 0 && q.Shared != "" {
				row[1].Text += ", " + arm.dropoutWords()
			}
			if k > 0 {
				row[8].Text = string(arm.Verdict)
			}
			for f := 1; f < len(row); f++ {
				row[f].Bold = arm == best && row[f].Text != ""
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// Forest returns a figure of the effects, and false if there are none.
func (a *Advice) Forest() (plots.Forest, bool) {
	f := plots.Forest{ID: "effects", Title: "What each regulariser adds to the plain model",
		Caption: "Differences in macro F1 on the same splits, with 90 % intervals that hold at all looks.",
		XLabel:  "difference in macro F1 (points)"}
	for _, q := range a.Questions {
		g := plots.ForestGroup{Name: q.title()}
		for _, arm := range q.Arms[1:] {
			if e := arm.Effect; e != nil {
				g.Rows = append(g.Rows, plots.Effect{Label: q.name(arm), Value: e.Mean, Low: e.Low, High: e.High})
			}
		}
		if len(g.Rows) > 0 {
			f.Groups = append(f.Groups, g)
		}
	}
	return f, len(f.Groups) > 0
}
