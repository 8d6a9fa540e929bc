package report

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/paper"
	"nodemask/paper/record"
	"nodemask/paper/recordtest"
)

func TestTablesShowMeansBesideThePaper(t *testing.T) {
	found := artifact(t, "table-gin-cora")
	plain := paper.Cell("cora", "gin", datasets.Inductive, 10)
	records := append(recordtest.Records(plain, 50, 51, 52), recordtest.Records(paper.Masked(plain, 0.5), 60, 61.5, 62)...)
	records = append(records, recordtest.Records(paper.Cell("cora", "gin", datasets.Transductive, 10), 70)...)
	table := found.Table(record.NewResults(records))
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
	lost := found.Table(record.NewResults(loss)).Rows[1][4]
	require.True(t, lost.Bold && lost.Down, "a loss is marked as a gain is")
	require.Equal(t, "70.00", row[9].Text, "one trial has no deviation")
	require.Equal(t, "–", row[12].Text)
	require.Contains(t, row[12].Note,
		"not run: nodemask train --data cora --model gin --setting transductive --train 10 --trials 10 --keep-rate 0.5 --set mask-over=train --set mlp-layers=2 ")
	mad := artifact(t, "table-mad").Table(record.NewResults(nil))
	require.Equal(t, Chosen(paper.Cell("cora", "gat", datasets.Inductive, 10).Fair()), mad.Rows[0][2].Cell,
		"a click opens its training")
}

func TestTheReportIsOnePageThatNeedsNothingElse(t *testing.T) {
	all, err := Find()
	require.NoError(t, err)
	plain := paper.Cell("cora", "gin", datasets.Inductive, 10)
	plain.History = true
	records := append(recordtest.Records(plain, 50, 51, 52), recordtest.Records(paper.Masked(plain, 0.1), 60, 61, 62)...)
	var page bytes.Buffer
	require.NoError(t, WriteReport(&page, all, newEvidence(t, records)))
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
	require.NoError(t, WriteReport(&again, all, newEvidence(t, records)))
	require.Equal(t, text, again.String(), "the same results, the same bytes")
	require.NoError(t, xml.Unmarshal([]byte(text[strings.Index(text, "<main>"):]), new(struct{})))
}

func TestAPointsNoteEndsInCodeThatMakesItsCell(t *testing.T) {
	gin := paper.Cell("cora", "gin", datasets.Inductive, 10)
	note := Described(record.NewResults(recordtest.Records(gin, 50)), record.NewCell("a \"b\"", "gcn", "inductive", 20),
		paper.Masked(gin, 0.5))
	_, note, _ = strings.Cut(note, "\n%%\n")
	require.Equal(t, `nb.Again(1,
	record.NewCell("a \"b\"", "gcn", "inductive", 20),
	nb.Must1(paper.Cell("cora", "gin", "inductive", 10).Choose(map[string]string{"keep":"0.5"})),
)`, note)
	for _, a := range Artifacts() {
		for _, c := range a.Cells() {
			like := paper.Cell(c.Data, c.Parameters.Model, c.Setting, c.TrainPercent)
			again, err := like.Choose(valuesOf(c.Differences(like)))
			require.NoError(t, err)
			require.Equal(t, c.Key(), again.Key())
		}
	}
}
