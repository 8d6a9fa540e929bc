package main

import (
	"encoding/csv"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFoldersOfResultsAreMergedButForContradictions(t *testing.T) {
	folder, cell := someResults(t)
	other := filepath.Join(t.TempDir(), "other")
	out, _ := succeeds(t, "reproduce", "merge", folder, "--results", other)
	require.Equal(t, "4 records added\n", out)
	out, _ = succeeds(t, "reproduce", "merge", folder, "--results", other)
	require.Equal(t, "0 records added\n", out)
	out, _ = succeeds(t, "reproduce", "verify", "--results", other)
	require.Equal(t, "4 trials in order\n", out)

	wrong := filepath.Join(t.TempDir(), "wrong")
	addTrial(t, wrong, cell, 1, 99)
	addTrial(t, wrong, cell, 3, 80)
	code, out, errs := nodemask(t, "reproduce", "merge", wrong, "--results", folder)
	require.Equal(t, 1, code)
	require.Equal(t, "1 records added\n", out)
	require.Contains(t, errs, cell.Key()+", seed 1, go, contradicts the one in "+folder+": macro F1: 78.5, now 99")
	fails(t, 2, "no folder nowhere", "reproduce", "merge", "nowhere", "--results", folder)
}

func TestTrialsOfAPartAreCounted(t *testing.T) {
	out, _ := succeeds(t, "reproduce", "status", "cited", "--results", "../../results", "--data", "cora", "--model", "gat")
	require.Equal(t, "cited: 960 of 960 trials; 48 of 48 cells have all 20 splits\n", out)
	out, _ = succeeds(t, "reproduce", "status", "cited", "--results", t.TempDir(), "--data", "cora", "--model", "gat")
	require.Equal(t, "cited: 0 of 960 trials; 0 of 48 cells have all 20 splits\n", out)
	fails(t, 2, `no part "width" with cells of its own: expected one of [cited`, "reproduce", "status", "width")
}

func TestTheTableOfTrialsHasARowARecordAndAColumnAField(t *testing.T) {
	folder, cell := someResults(t)
	out, _ := succeeds(t, "reproduce", "export", "--results", folder)
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 5)
	first := map[string]string{}
	for i, name := range rows[0] {
		first[name] = rows[1][i]
	}
	require.Equal(t, cell.Key(), first["cell"])
	require.Equal(t, "78.5", first["macro_f1"])
	require.Equal(t, "1", first["seed"])

	out, _ = succeeds(t, "reproduce", "export", "--results", "../../results")
	header, _, _ := strings.Cut(out, "\n")
	require.Contains(t, header, "mad.hidden")
	require.Contains(t, header, "readings.f1/all-edges.f1")
	fails(t, 2, "--output a.txt: expected a name that ends in .csv", "reproduce", "export", "--output", "a.txt", "--results", folder)
}
