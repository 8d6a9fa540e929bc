package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/internal/svg/svgtest"
	"nodemask/paper"
	"nodemask/paper/record"
	"nodemask/paper/recordtest"
	"nodemask/plots"
)

func TestTablesShowMeansBesideThePaper(t *testing.T) {
	found := artifact(t, "table-gin-cora")
	plain := paper.Cell("cora", "gin", datasets.Inductive, 10)
	records := append(recordtest.Records(plain, 50, 51, 52), recordtest.Records(paper.Masked(plain, 0.5), 60, 61.5, 62)...)
	records = append(records, recordtest.Records(paper.Cell("cora", "gin", datasets.Transductive, 10), 70)...)
	table := found.Table(record.NewResults(records), TableOptions{})
	require.NoError(t, table.Check())
	row := table.Rows[0]
	require.Equal(t, "10 %", row[0].Text)
	require.Equal(t, "51.00 ± 1.00", row[1].Text)
	require.Equal(t, "52.91", row[2].Text)
	require.Equal(t, "−1.91", row[3].Text)
	require.Equal(t, "61.17 ± 1.04", row[4].Text)
	require.True(t, row[4].Bold && !row[4].Down)
	require.Contains(t, table.Caption, boldText)
	require.Contains(t, row[4].Note, "3 trials; +10.17 against "+plain.Key()+", p < 0.001 (3 pairs)")
	plain.TrainPercent = 20
	loss := append(recordtest.Records(plain, 60, 61.5, 62), recordtest.Records(paper.Masked(plain, 0.5), 50, 51, 52)...)
	lost := found.Table(record.NewResults(loss), TableOptions{}).Rows[1][4]
	require.True(t, lost.Bold && lost.Down, "a loss is marked as a gain is")
	require.Equal(t, "70.00", row[9].Text, "one trial has no deviation")
	require.Equal(t, "–", row[12].Text)
	require.Contains(t, row[12].Note,
		"not run: nodemask train --data cora --model gin --setting transductive --train 10 --trials 10 --keep-rate 0.5 --mask-over train --mlp-layers 2 ")
}

func TestTheReportIsOnePageThatNeedsNothingElse(t *testing.T) {
	all, err := Find()
	require.NoError(t, err)
	plain := paper.Cell("cora", "gin", datasets.Inductive, 10)
	plain.History = true
	records := append(recordtest.Records(plain, 50, 51, 52), recordtest.Records(paper.Masked(plain, 0.1), 60, 61, 62)...)
	var page bytes.Buffer
	require.NoError(t, WriteReport(&page, all, newEvidence(t, records), TableOptions{}))
	text := page.String()
	require.Less(t, len(text), 3<<20)
	require.Contains(t, text, `51.00<small style="opacity:.8"> ± 1.00</small>`)
	require.Equal(t, 1, strings.Count(text, "http://")+strings.Count(text, "https://")-strings.Count(text,
		`xmlns="http://`)-strings.Count(text, `xmlns:xlink="http://`),
		"the only address is the paper's")
	require.NotRegexp(t, `<(script|img|iframe)[^>]*\ssrc="?[^d"]`, text)
	require.NotContains(t, text, "<link")
	for _, a := range all {
		require.Equal(t, 1, strings.Count(text, `<section id="`+a.ID+`">`), a.ID)
		require.Contains(t, text, "nodemask reproduce "+a.ID)
	}
	var again bytes.Buffer
	require.NoError(t, WriteReport(&again, all, newEvidence(t, records), TableOptions{}))
	require.Equal(t, text, again.String(), "the same results, the same bytes")
	svgtest.WellFormed(t, text[strings.Index(text, "<main>"):strings.Index(text, "</main>")+len("</main>")])
}

func TestHolmsCorrectionCountsTheComparisonsOfTheTable(t *testing.T) {
	found := artifact(t, "table-gin-cora")
	var records []record.Record
	for _, size := range []int{10, 20} {
		plain := paper.Cell("cora", "gin", datasets.Inductive, size)
		// t = 1.5·√3 / 0.5 = 5.196: p = 0.0351
		records = slices.Concat(records, recordtest.Records(plain, 50, 50, 50),
			recordtest.Records(paper.Masked(plain, 0.5), 52, 51, 51.5))
	}
	r := record.NewResults(records)
	for row := range 2 {
		plain := found.Table(r, TableOptions{}).Rows[row][4]
		require.True(t, plain.Bold)
		require.Contains(t, plain.Note, "p 0.035 (3 pairs)")
		corrected := found.Table(r, TableOptions{Holm: true}).Rows[row][4]
		require.False(t, corrected.Bold)
		require.Contains(t, corrected.Note, "p 0.070 (3 pairs, corrected)")
	}
}

func TestHolmsCorrectionTellsComparisonsOfOneCellApart(t *testing.T) {
	plain := record.NewCell("cora", "gat", datasets.Inductive, 10)
	masked, fair := paper.Masked(plain, 0.5), plain.Fair()
	table := Artifact{Labels: []string{""}, Columns: []string{"against GAT", "against GAT without attention dropout",
		"again"},
		Rows: []Row{{Labels: []string{""}, Entries: []Entry{{Cell: masked, Metric: record.MacroF1, Against: &plain},
			{Cell: masked, Metric: record.MacroF1, Against: &fair}, {Cell: masked, Metric: record.MacroF1, Against: &plain}}}}}
	// The masked cell beats plain GAT, p = 0.035, but not GAT without attention dropout.
	records := append(recordtest.Records(plain, 50, 50, 50), recordtest.Records(masked, 52, 51, 51.5)...)
	records = append(records, recordtest.Records(fair, 51, 52, 51.5)...)
	text := noteOf(t, table.Table(record.NewResults(records), TableOptions{Holm: true}), " against "+plain.Key()+",")
	require.Contains(t, text, "p 0.070 (3 pairs, corrected)", "of two comparisons, however often they stand in the table")
}

func noteOf(t *testing.T, table plots.Table, text string) string {
	t.Helper()
	for _, row := range table.Rows {
		for _, field := range row {
			if strings.Contains(field.Note, text) {
				return field.Note
			}
		}
	}
	t.Fatalf("no note contains %q", text)
	return ""
}
