package main

import (
	"fmt"
	"io"
	"slices"

	"nodemask/nmgnn/train"
	"nodemask/plots"
)

// printTable writes a table for the terminal.
func printTable(w io.Writer, t plots.Table) error {
	text, err := t.Render(plots.FormatText)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, text)
	return err
}

// fields are texts as the fields of a table's row.
func fields(texts ...string) []plots.Field {
	row := make([]plots.Field, len(texts))
	for i, text := range texts {
		row[i].Text = text
	}
	return row
}

// trialTable lists the trials, and their mean and standard deviation.
func trialTable(results []*train.Result) plots.Table {
	columns := []struct {
		name  string
		score func(*train.Result) float64
	}{
		{"macro F1 %", func(r *train.Result) float64 { return r.Test.MacroF1 }},
		{"micro F1 %", func(r *train.Result) float64 { return r.Test.MicroF1 }},
		{"accuracy %", func(r *train.Result) float64 { return r.Test.Accuracy }},
	}
	if results[0].Cached != nil {
		columns = slices.Insert(columns, 1, columns[0], columns[0])
		columns[1].name, columns[1].score = "cached: macro F1 %", func(r *train.Result) float64 { return r.Cached.MacroF1 }
		columns[2].name, columns[2].score = "cached, apart: macro F1 %", func(r *train.Result) float64 { return r.Apart.MacroF1 }
	}
	t := plots.Table{ID: "trials", Header: []string{"seed"}, Footer: fields("mean ± std")}
	for _, c := range columns {
		t.Header = append(t.Header, c.name)
		t.Footer = append(t.Footer, plots.Field{Text: scores(results, c.score).Text(2)})
	}
	t.Header, t.Footer = append(t.Header, "best epoch", "epochs", "seconds"), append(t.Footer, plots.Field{}, plots.Field{}, plots.Field{})
	for _, r := range results {
		row := fields(fmt.Sprint(r.Seed))
		for _, c := range columns {
			row = append(row, plots.Field{Text: fmt.Sprintf("%.2f", 100*c.score(r))})
		}
		t.Rows = append(t.Rows, append(row, fields(fmt.Sprint(r.BestEpoch), fmt.Sprint(len(r.History)), fmt.Sprintf("%.1f", r.Seconds))...))
	}
	return t
}
