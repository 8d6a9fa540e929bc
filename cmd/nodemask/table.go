package main

import (
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"nodemask/nmgnn"
)

// newScoreTable is a table of scores: numbers to the right from the second column on.
func newScoreTable(header ...any) table.Writer {
	t := table.NewWriter()
	style := table.StyleRounded
	style.Format.Header = text.FormatDefault
	style.Format.Footer = text.FormatDefault
	t.SetStyle(style)
	t.AppendHeader(table.Row(header))
	columns := make([]table.ColumnConfig, 0, len(header))
	for i := 2; i <= len(header); i++ {
		columns = append(columns, table.ColumnConfig{Number: i, Align: text.AlignRight, AlignHeader: text.AlignRight, AlignFooter: text.AlignRight})
	}
	t.SetColumnConfigs(columns)
	return t
}

// trialTable lists the trials, and their mean and standard deviation.
func trialTable(results []*nmgnn.Result) string {
	t := newScoreTable("seed", "macro F1 %", "micro F1 %", "accuracy %", "best epoch", "epochs", "seconds")
	for _, r := range results {
		t.AppendRow(table.Row{r.Seed, percent(r.Test.MacroF1), percent(r.Test.MicroF1), percent(r.Test.Accuracy),
			r.BestEpoch, len(r.History), fmt.Sprintf("%.1f", r.Seconds)})
	}
	spread := func(score func(nmgnn.Metrics) float64) string {
		mean, std := meanStd(results, score)
		return fmt.Sprintf("%.2f ± %.2f", mean, std)
	}
	t.AppendFooter(table.Row{"mean ± std",
		spread(func(m nmgnn.Metrics) float64 { return m.MacroF1 }),
		spread(func(m nmgnn.Metrics) float64 { return m.MicroF1 }),
		spread(func(m nmgnn.Metrics) float64 { return m.Accuracy })})
	return t.Render()
}

func percent(share float64) string { return fmt.Sprintf("%.2f", 100*share) }
