package main

import (
	"fmt"
	"slices"

	"nodemask/nmgnn/train"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
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
func trialTable(results []*train.Result) string {
	columns := []struct {
		name  string
		score func(*train.Result) float64
	}{
		{"macro F1 %", func(r *train.Result) float64 { return r.Test.MacroF1 }},
		{"micro F1 %", func(r *train.Result) float64 { return r.Test.MicroF1 }},
		{"accuracy %", func(r *train.Result) float64 { return r.Test.Accuracy }},
	}
	if results[0].Cached != nil {
		columns = slices.Insert(columns, 1, columns[0])
		columns[1].name, columns[1].score = "cached: macro F1 %", func(r *train.Result) float64 { return r.Cached.MacroF1 }
	}
	header, footer := []any{"seed"}, table.Row{"mean ± std"}
	for _, c := range columns {
		header, footer = append(header, c.name), append(footer, scores(results, c.score).Text(2))
	}
	t := newScoreTable(append(header, "best epoch", "epochs", "seconds")...)
	for _, r := range results {
		row := table.Row{r.Seed}
		for _, c := range columns {
			row = append(row, percent(c.score(r)))
		}
		t.AppendRow(append(row, r.BestEpoch, len(r.History), fmt.Sprintf("%.1f", r.Seconds)))
	}
	t.AppendFooter(footer)
	return t.Render()
}

func percent(share float64) string { return fmt.Sprintf("%.2f", 100*share) }
