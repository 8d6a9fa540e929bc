package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
	"nodemask/internal/cited"
	"nodemask/internal/evidence"
	"nodemask/internal/multiverse"
	"nodemask/internal/recordstore"
	"nodemask/paper"
	"nodemask/record"
)

// someResults writes two trials of a cell and of its masked twin, and returns their folder.
func someResults(t *testing.T) (folder string, cell record.Cell) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "results")
	cell = paper.Cell("cora", "gin", datasets.Transductive, 10)
	for _, c := range []record.Cell{cell, paper.Masked(cell, 0.5)} {
		for seed := range uint64(2) {
			f1 := 78.5 + float64(seed) + 10*(1-c.Parameters.KeepRate.Probability())
			require.NoError(t, recordstore.Open(folder).Add(record.Record{Cell: c.Key(), Data: c.Data, Source: "embedded",
				Setting: c.Setting, TrainPercent: c.TrainPercent,
				Parameters: c.Parameters, Seed: seed + 1, SplitSeed: 1, SplitHash: "5eed", MacroF1: f1, MicroF1: f1, Accuracy: f1,
				Backend: "go", Device: "d", Version: "v"}))
		}
	}
	return folder, cell
}

func TestReportShowsWhatResultsThereAreInEveryFormat(t *testing.T) {
	folder, _ := someResults(t)
	code, out, diagnostics := nodemask(t, "report", "table-gin-cora", "--results", folder)
	require.Zero(t, code, diagnostics)
	require.Contains(t, out, "79.00 ± 0.71")
	require.Contains(t, out, "77.95", "as published")
	code, out, _ = nodemask(t, "report", "table-gin-cora", "fig-depth", "--results", folder, "--format", "csv")
	require.Zero(t, code)
	require.Contains(t, out, "84.00 ± 0.71")
	for _, part := range strings.Split(strings.TrimSpace(out), "\n\n") {
		_, err := csv.NewReader(strings.NewReader(part)).ReadAll()
		require.NoError(t, err)
	}
	page := filepath.Join(t.TempDir(), "r.html")
	code, _, diagnostics = nodemask(t, "report", "--results", folder, "-o", page)
	require.Zero(t, code, diagnostics)
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(text), `79.00<small style="opacity:.8"> ± 0.71</small>`)
	left, err := filepath.Glob(filepath.Join(filepath.Dir(page), ".*"))
	require.NoError(t, err)
	require.Empty(t, left, "no temporary file stays")

	for want, args := range map[string][]string{
		`no artifact "table-9"`:            {"report", "table-9"},
		"--format pdf: expected one of":    {"report", "--format", "pdf", "--results", folder},
		"no folder of results there":       {"report", "--results", filepath.Join(folder, "nowhere")},
		"nowhere: no records there":        {"results", "list", "--results", filepath.Join(folder, "nowhere")},
		"--shard 3/2: expected i/n":        {"reproduce", "--shard", "3/2"},
		"--shard 1/2x: expected i/n":       {"reproduce", "--shard", "1/2x"},
		"--trials 0: expected":             {"reproduce", "--trials", "0"},
		"--jobs 0: expected at least 1":    {"reproduce", "--jobs", "0"},
		"expected no IDs, found table-mad": {"reproduce", "table-mad", "--again", "-"},
		"no results of cell":               {"results", "show", "cora/gin/inductive/11%", "--results", folder},
	} {
		code, _, diagnostics := nodemask(t, args...)
		require.Equal(t, 2, code, want)
		require.Contains(t, diagnostics, want)
	}
}

func TestResultsAreListedShownCheckedAndMerged(t *testing.T) {
	folder, cell := someResults(t)
	code, out, _ := nodemask(t, "results", "list", "--results", folder)
	require.Zero(t, code)
	require.Equal(t, fmt.Sprintf("   2  go %s\n   2  go %s\n", cell.Key(), paper.Masked(cell, 0.5).Key()), out)
	code, out, _ = nodemask(t, "results", "show", cell.Key(), "--results", folder)
	require.Zero(t, code)
	require.Len(t, jsonLines(t, out), 2)
	other := filepath.Join(t.TempDir(), "other")
	code, out, _ = nodemask(t, "results", "merge", folder, "--results", other)
	require.Zero(t, code)
	require.Equal(t, "4 records added\n", out)
	code, out, _ = nodemask(t, "results", "verify", "--results", other)
	require.Zero(t, code)
	require.Equal(t, "4 records and 0 trajectories in order\n", out)
	require.NoError(t, os.WriteFile(filepath.Join(other, "torn.jsonl"), []byte("{"), 0o666))
	code, out, diagnostics := nodemask(t, "results", "verify", "--results", other)
	require.Equal(t, 1, code)
	require.Empty(t, out)
	require.Contains(t, diagnostics, "torn.jsonl: byte 0: the last line is cut short")
	require.NoError(t, os.WriteFile(filepath.Join(other, "broken.jsonl"), []byte("{}\n"), 0o666))
	code, _, diagnostics = nodemask(t, "results", "verify", "--results", other)
	require.Equal(t, 1, code)
	require.Contains(t, diagnostics, "broken.jsonl: line 1: ")
	code, _, diagnostics = nodemask(t, "results", "verify", "--results", filepath.Join(other, "nowhere"))
	require.Equal(t, 1, code)
	require.Contains(t, diagnostics, "nowhere has no records")
}

func TestResultsThatContradictEachOtherAreNotMergedAndNotInOrder(t *testing.T) {
	folder, cell := someResults(t)
	other := filepath.Join(t.TempDir(), "other")
	require.NoError(t, recordstore.Open(other).Add(record.Record{Cell: cell.Key(), Data: cell.Data, Source: "embedded",
		Setting: cell.Setting, TrainPercent: cell.TrainPercent,
		Parameters: cell.Parameters, Seed: 1, SplitSeed: 1, SplitHash: "5eed", MacroF1: 99, MicroF1: 99, Accuracy: 99,
		Backend: "go", Device: "d", Version: "v"}))
	code, out, errs := nodemask(t, "results", "merge", other, "--results", folder)
	require.Equal(t, 1, code)
	require.Equal(t, "0 records added\n", out)
	require.Contains(t, errs, "contradicts what is there, of the same trial ("+cell.Key()+", seed 1, go): macro F1: "+
		"78.5, now 99")
	text, err := os.ReadFile(filepath.Join(other, "cora-gin.jsonl"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "merged-by-hand.jsonl"), text, 0o666))
	code, out, errs = nodemask(t, "results", "verify", "--results", folder)
	require.Equal(t, 1, code)
	require.Empty(t, out)
	require.Contains(t, errs, "merged-by-hand.jsonl: line 1: contradicts ")

	folder = filepath.Join(t.TempDir(), "results")
	readings := filepath.Join(folder, evidence.MultiverseFolder)
	code, _, errs = nodemask(t, "multiverse", "--backend", "go", "--data", "sbm:nodes=40,classes=2", "--model", "sgat",
		"--sizes", "50", "--splits", "1", "--shard", "1/5", "--results", readings)
	require.Zero(t, code, errs)
	code, out, errs = nodemask(t, "results", "verify", "--results", folder)
	require.Zero(t, code, errs)
	require.Equal(t, "0 records and 3 trajectories in order\n", out)
	require.NoError(t, os.Rename(readings, filepath.Join(folder, evidence.CitedFolder)))
	code, _, errs = nodemask(t, "results", "verify", "--results", folder)
	require.Equal(t, 1, code)
	require.Contains(t, errs, "line 1: a trajectory under protocol \""+multiverse.ProtocolHash()+"\": expected "+
		""+cited.ProtocolHash())
	for _, what := range []string{"--status", "--summary", "--splits=1"} {
		code, out, errs = nodemask(t, "multiverse", "--part", "cited", what, "--backend", "go", "--results",
			filepath.Join(folder, evidence.CitedFolder))
		require.Equal(t, 1, code, what)
		require.Contains(t, errs, "line 1: a trajectory under protocol", what)
		require.Empty(t, out)
	}
}

func TestReproduceListsItsArtifactsAndRepeatsARecord(t *testing.T) {
	code, out, _ := nodemask(t, "reproduce", "--list")
	require.Zero(t, code)
	require.Contains(t, out, "table-mad")
	require.Contains(t, out, "12 cells")
	require.Contains(t, out, "table-gin-reddit ")

	code, out, diagnostics := nodemask(t, "train", "--data", "sbm:nodes=100,classes=2", "--backend", "go", "--train", "30",
		"--trials", "1", "--max-epochs", "3", "--hidden", "4", "--json")
	require.Zero(t, code, diagnostics)
	var trial record.Record
	require.NoError(t, json.Unmarshal([]byte(out), &trial))
	trial.Data = "sbm:nodes=100,classes=2"
	trial.Cell = trial.CellOf().Key()
	line, err := recordstore.Line(trial)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "record.jsonl")
	require.NoError(t, os.WriteFile(file, line, 0o666))
	code, out, diagnostics = nodemask(t, "reproduce", "--again", file)
	require.Zero(t, code, diagnostics)
	require.Contains(t, out, "seed 1: the same to the last digit")
	code, out, diagnostics = nodemask(t, "reproduce", "--again", file, "--memory", "1MB")
	require.Equal(t, 1, code)
	require.Contains(t, diagnostics, "record.jsonl: line 1: 2 layers of width 4 on 100 nodes take about ")
	require.Contains(t, diagnostics, "more memory than is allowed: expected at most 1 MB: --memory allows more")
	require.Empty(t, out)
	large := trial
	large.Data = "reddit-like:scale=10"
	large.Cell = large.CellOf().Key()
	line, err = recordstore.Line(large)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, line, 0o666))
	code, _, diagnostics = nodemask(t, "reproduce", "--again", file)
	require.Equal(t, 1, code)
	require.Contains(t, diagnostics, "line 1: reddit-like:scale=10 takes about ")
	trial.MacroF1 /= 2
	line, err = recordstore.Line(trial)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, line, 0o666))
	code, out, _ = nodemask(t, "reproduce", "--again", file)
	require.Equal(t, 1, code)
	require.Contains(t, out, "DIFFERS: macro F1: ")
	require.NoError(t, os.WriteFile(file, nil, 0o666))
	code, _, _ = nodemask(t, "reproduce", "--again", file)
	require.Equal(t, 2, code)
}

func TestRepeatingRecordsLeavesOutThoseWhoseDataIsMissing(t *testing.T) {
	t.Setenv("NODEMASK_DATA", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	code, out, diagnostics := nodemask(t, "train", "--data", "sbm:nodes=100,classes=2", "--backend", "go", "--train", "30",
		"--trials", "1", "--max-epochs", "3", "--hidden", "4", "--json")
	require.Zero(t, code, diagnostics)
	var trial record.Record
	require.NoError(t, json.Unmarshal([]byte(out), &trial))
	var lines []byte
	for _, data := range []string{"citeseer", "sbm:nodes=100,classes=2", "citeseer"} {
		trial.Data = data
		trial.Cell = trial.CellOf().Key()
		line, err := recordstore.Line(trial)
		require.NoError(t, err)
		lines = append(append(lines, bytes.TrimSpace(line)...), '\n')
	}
	file := filepath.Join(t.TempDir(), "records.jsonl")
	require.NoError(t, os.WriteFile(file, lines, 0o666))
	code, out, diagnostics = nodemask(t, "reproduce", "--again", file)
	require.Equal(t, 1, code, diagnostics)
	require.Contains(t, out, "seed 1: the same to the last digit")
	require.Equal(t, 1, strings.Count(diagnostics, "ind.citeseer.x is not there"), diagnostics)
	require.Contains(t, diagnostics, "of 3 trials, 0 came out otherwise and 2 could not be run")
}

func TestReproducingOneTableMeasuresWhatTheOthersNeedOfItsTrials(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: trains on Cora for seconds")
	}
	folder := t.TempDir()
	code, _, diagnostics := nodemask(t, "reproduce", "table-gin-cora", "--trials", "1", "--shard", "65/100", "--backend",
		"go", "--results", folder)
	require.Zero(t, code, diagnostics)
	records, err := recordstore.Open(folder).Load()
	require.NoError(t, err)
	want := paper.Masked(paper.Cell("cora", "gin", datasets.Inductive, 10), paper.MaskedKeepRate).Key()
	at := slices.IndexFunc(records, func(r record.Record) bool { return r.Cell == want })
	require.GreaterOrEqual(t, at, 0, "this share of the cells has it")
	require.NotNil(t, records[at].MacroF1Together, "for table-scale-cora")
	require.NotEmpty(t, records[at].ValidationLosses, "for fig-loss-cora")
}

func TestReproduceRunsAllElseIfADataSetIsNotThereAndSaysSoFirstAndInTheEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: trains on Cora for seconds")
	}
	folder := t.TempDir()
	arguments := []string{"reproduce", "table-models", "fig-keep-rate-others", "--trials", "1", "--shard", "12/17",
		"--backend", "go", "--results", folder}
	code, _, diagnostics := nodemask(t, arguments...)
	require.Equal(t, 1, code, diagnostics)
	said := "cannot run 18 trials on citeseer: ind.citeseer.x is not there (looked in "
	first, rest, found := strings.Cut(diagnostics, "\nall other trials run now; the exit code will be 1\n1 of 1 trials; "+
		"last: cora/gcn/")
	require.True(t, found, diagnostics)
	require.Contains(t, first, said)
	require.Contains(t, first, "run 'nodemask data fetch citeseer', or name the folder that holds it by --data-dir or "+
		"NODEMASK_DATA")
	require.Contains(t, rest, "\nnodemask: "+said)
	records, err := recordstore.Open(folder).Load()
	require.NoError(t, err)
	require.Len(t, records, 1)
	require.Equal(t, "cora", records[0].Data)

	// With all else there, it is said once.
	code, _, diagnostics = nodemask(t, arguments...)
	require.Equal(t, 1, code)
	require.Equal(t, 1, strings.Count(diagnostics, said), diagnostics)
	// A share without trials on CiteSeer is done.
	code, _, diagnostics = nodemask(t, append(arguments, "--shard", "1/68")...)
	require.Zero(t, code, diagnostics)
}

func TestReproduceOpensRedditLikeDataOfTheUsualSizeAndRefusesOthersAtOnce(t *testing.T) {
	usual := newReproduceCommand().Flags().Lookup("reddit-like-scale").DefValue
	scale, err := strconv.ParseFloat(usual, 64)
	require.NoError(t, err)
	_, err = (&reproduceFlags{runFlags: runFlags{scale: scale}}).open(t.Context(), "reddit-like")
	require.NoError(t, err)
	code, _, diagnostics := nodemask(t, "reproduce", "table-gin-reddit-like", "table-gin-cora", "--reddit-like-scale",
		"0.01", "--backend", "go", "--results", t.TempDir())
	require.Equal(t, 2, code)
	require.Contains(t, diagnostics, "expected a number from 0.02 to 10")
	require.NotContains(t, diagnostics, "all other trials")
}

func TestAReportIsThereFromAnyFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	code, out, diagnostics := nodemask(t, "report", "table-mad", "--format", "csv")
	require.Zero(t, code, diagnostics)
	require.Contains(t, out, "GAT + NM,logits,")
	code, _, diagnostics = nodemask(t, "report", "--results", "results")
	require.Equal(t, 2, code, "what is named is not looked for elsewhere")
	require.Contains(t, diagnostics, "no folder of results there")
}
