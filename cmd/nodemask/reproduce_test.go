package main

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/nmgnn/hyper"
	"nodemask/paper"
	"nodemask/paper/judge"
	"nodemask/paper/record"
	"nodemask/paper/recordtest"
	"nodemask/paper/report"
)

// addTrial adds a trial of a cell with this F1 to a folder of results.
func addTrial(t *testing.T, folder string, c record.Cell, seed uint64, f1 float64) {
	t.Helper()
	require.NoError(t, record.Open(folder).Add(record.Record{Cell: c.Key(), Data: c.Data, Source: "embedded",
		Setting: c.Setting, TrainPercent: c.TrainPercent, Parameters: c.Parameters, Seed: seed, SplitSeed: 1,
		SplitHash: "5eed", MacroF1: f1, MicroF1: f1, Accuracy: f1, Backend: "go", Device: "d", Version: "v"}))
}

// someResults writes two trials of a cell and of its masked twin, and returns their folder.
func someResults(t *testing.T) (folder string, cell record.Cell) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "results")
	cell = paper.Cell("cora", "gin", datasets.Transductive, 10)
	for _, c := range []record.Cell{cell, paper.Masked(cell, 0.5)} {
		for seed := range uint64(2) {
			addTrial(t, folder, c, seed+1, 78.5+float64(seed)+10*(1-c.Parameters.KeepRate.Probability()))
		}
	}
	return folder, cell
}

func TestReportShowsWhatResultsThereAreInEveryFormat(t *testing.T) {
	folder, _ := someResults(t)
	out, _ := succeeds(t, "report", "table-gin-cora", "--results", folder)
	require.Contains(t, out, "79.00 ± 0.71")
	require.Contains(t, out, "77.95", "as published")
	out, _ = succeeds(t, "report", "table-gin-cora", "fig-depth", "--results", folder, "--format", "csv")
	require.Contains(t, out, "84.00 ± 0.71")
	for _, part := range strings.Split(strings.TrimSpace(out), "\n\n") {
		_, err := csv.NewReader(strings.NewReader(part)).ReadAll()
		require.NoError(t, err)
	}
	page := filepath.Join(t.TempDir(), "r.html")
	succeeds(t, "report", "--results", folder, "-o", page)
	require.Contains(t, fileText(t, page), `79.00<small style="opacity:.8"> ± 0.71</small>`)
	left, err := filepath.Glob(filepath.Join(filepath.Dir(page), ".*"))
	require.NoError(t, err)
	require.Empty(t, left, "no temporary file stays")

	refuses(t, nil, map[string][]string{
		`no artifact "table-9"`:         {"report", "table-9"},
		"--format pdf: expected one of": {"report", "--format", "pdf", "--results", folder},
		"no folder of results there":    {"report", "--results", filepath.Join(folder, "nowhere")},
		"--shard 3/2: expected i/n":     {"reproduce", "--shard", "3/2"},
		"--shard 1/2x: expected i/n":    {"reproduce", "--shard", "1/2x"},
		"--trials 0: expected":          {"reproduce", "--trials", "0"},
		"--jobs 0: expected at least 1": {"reproduce", "--jobs", "0"},
	})
}

func TestResultsAreChecked(t *testing.T) {
	folder, cell := someResults(t)
	verify := []string{"reproduce", "verify", "--results", folder}
	out, _ := succeeds(t, verify...)
	require.Equal(t, "4 trials in order\n", out)
	put(t, folder, "torn.jsonl", "{")
	put(t, folder, "broken.jsonl", "{}\n")
	diagnostics := fails(t, 1, "torn.jsonl: byte 0: the last line is cut short", verify...)
	require.Contains(t, diagnostics, "broken.jsonl: line 1: ")
	fails(t, 2, "nowhere: no records there", "reproduce", "verify", "--results", filepath.Join(folder, "nowhere"))

	other := filepath.Join(t.TempDir(), "other")
	addTrial(t, other, cell, 1, 99)
	path := filepath.Join(folder, "cora-gin.jsonl")
	put(t, folder, "cora-gin.jsonl", fileText(t, path)+fileText(t, filepath.Join(other, "cora-gin.jsonl")))
	fails(t, 1, "contradicts "+path+", line 1", verify...)

	folder = filepath.Join(t.TempDir(), "results")
	readings := filepath.Join(folder, report.FirstFolder)
	training := recordtest.Read(cell, 1, func(hyper.StopOn, datasets.Arrivals) (float64, float64) { return 80, 79 })
	training.Protocol = judge.FirstProtocol()
	require.NoError(t, record.Open(readings).Add(training))
	out, _ = succeeds(t, "reproduce", "verify", "--results", folder)
	require.Equal(t, "1 trials in order\n", out)
	require.NoError(t, os.Rename(readings, filepath.Join(folder, report.SecondFolder)))
	fails(t, 1, "line 1: a training under protocol \""+judge.FirstProtocol()+"\": expected "+judge.SecondProtocol(),
		"reproduce", "verify", "--results", folder)
	for _, what := range [][]string{{"report", "cited"}, {"reproduce", "cited", "--backend", "go"}} {
		fails(t, 1, "line 1: a training under protocol", append(what, "--results", folder)...)
	}
}

// aTrial trains for an instant on a generated graph, and returns the record.
func aTrial(t *testing.T) record.Record {
	t.Helper()
	const data = "sbm:nodes=100,classes=2"
	out, _ := succeeds(t, "train", "--data", data, "--backend", "go", "--train", "30", "--trials", "1", "--max-epochs",
		"3", "--hidden", "4", "--json")
	var trial record.Record
	require.NoError(t, json.Unmarshal([]byte(out), &trial))
	trial.Data = data
	return trial
}

func TestReproduceSaysWhatRunsTheTrialsThatItDoesNot(t *testing.T) {
	refuses(t, []string{"reproduce", "--trials", "1", "--results", t.TempDir(), "--backend", "go"}, map[string][]string{
		"table-gin-citeseer: all cells have a split for each trial: the parts cited, tables, depth,": {"table-gin-citeseer"},
		"table-balanced: all cells have a split for each trial: ":                                    {"table-balanced"},
	})
}

func TestReproduceListsItsArtifactsAndRepeatsARecord(t *testing.T) {
	out, _ := succeeds(t, "reproduce", "--list")
	require.Contains(t, out, "table-mad")
	require.Contains(t, out, "12 cells")
	require.Contains(t, out, "table-gin-reddit ")

	trial, folder := aTrial(t), t.TempDir()
	again := func(records string) []string {
		return []string{"reproduce", "again", put(t, folder, "record.jsonl", records)}
	}
	out, _ = succeeds(t, again(lineOf(t, trial))...)
	require.Contains(t, out, "seed 1: the same to the last digit")
	diagnostics := fails(t, 1, "record.jsonl: line 1: 2 layers of width 4 on 100 nodes take about ",
		append(again(lineOf(t, trial)), "--memory", "1MB")...)
	require.Contains(t, diagnostics, "more memory than is allowed: expected at most 1 MB: --memory allows more")
	large := trial
	large.Data = "sbm:nodes=50000000"
	fails(t, 1, "line 1: sbm:nodes=50000000 takes about ", again(lineOf(t, large))...)
	trial.MacroF1 /= 2
	code, out, _ := nodemask(t, again(lineOf(t, trial))...)
	require.Equal(t, 1, code)
	require.Contains(t, out, "DIFFERS: macro F1: ")
	fails(t, 2, "", again("")...)
}

func TestRepeatingRecordsLeavesOutThoseWhoseDataIsMissing(t *testing.T) {
	here := aTrial(t)
	missing := here
	missing.Data = "citeseer"
	file := put(t, t.TempDir(), "records.jsonl", lineOf(t, missing)+lineOf(t, here)+lineOf(t, missing))
	code, out, diagnostics := nodemask(t, "reproduce", "again", file)
	require.Equal(t, 1, code, diagnostics)
	require.Contains(t, out, "seed 1: the same to the last digit")
	require.Equal(t, 2, strings.Count(out, "cannot be run: citeseer: ind.citeseer.tx is not there"), out)
	require.Contains(t, diagnostics, "of 3 trials, 0 came out otherwise and 2 could not be run")
}

func TestAReportIsThereFromAnyFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	out, _ := succeeds(t, "report", "table-mad", "--format", "csv")
	require.Contains(t, out, "GAT + NM,logits,")
	// What is named is not looked for elsewhere.
	fails(t, 2, "no folder of results there", "report", "--results", "results")
}
