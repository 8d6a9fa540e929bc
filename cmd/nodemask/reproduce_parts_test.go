package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/paper/judge"
	"nodemask/paper/report"
	"nodemask/plots"
)

func TestTheCommandOfAClaimShowsWhatItRestsOn(t *testing.T) {
	e := report.Open("../../results")
	answers, err := e.Answers()
	require.NoError(t, err)
	for _, a := range answers {
		if a.Verdict == judge.Unmeasured {
			continue
		}
		out, _ := succeeds(t, "report", "cited", "--results", "../../results", "--data", a.Data, "--model", a.Model)
		require.Contains(t, out, fmt.Sprintf("the cited reading: %s points", plots.Signed(a.Effect.Pooled.MeanDifference, 2)),
			"whatever else of the part is still missing")
	}
}

func TestWhatPartsCannotBeAskedIsMisuse(t *testing.T) {
	folder := t.TempDir()
	refuses(t, nil, map[string][]string{
		"--model gcn: expected all or one":    {"reproduce", "cited", "--model", "gcn"},
		"--data reddit: expected all or one":  {"report", "stated", "--data", "reddit", "--results", folder},
		"--jobs 0":                            {"reproduce", "cited", "--jobs", "0"},
		"--shard 3/2: expected i/n":           {"reproduce", "cited", "--shard", "3/2"},
		"--trials: a part has the protocol's": {"reproduce", "cited", "--trials", "3"},
		"depth is a part of a protocol":       {"reproduce", "table-mad", "depth"},
		"--model gat: expected all or one of": {"reproduce", "depth", "--model", "gat"},
		`no artifact "tuned": known are `:     {"report", "tuned"},
		"no records there":                    {"reproduce", "again", "--results", folder},
		"--count 0: expected at least 1":      {"reproduce", "again", "--count", "0"},
	})
	part := filepath.Join(folder, report.SecondFolder)
	require.NoError(t, os.Mkdir(part, 0o700))
	path := put(t, part, "cora-gin.jsonl", "{}\n")
	require.Contains(t, fails(t, 1, path+": line 1: ", "report", "cited", "--results", folder),
		"remove the line, and the command that trained it ('nodemask reproduce' or 'advise')")
}

func TestAPartSaysWhichDataAreMissing(t *testing.T) {
	errs := fails(t, 1, "citeseer: ind.citeseer.tx is not there (looked in ", "reproduce", "cited", "--backend",
		"go", "--data", "citeseer", "--model", "sgat", "--results", t.TempDir())
	require.Contains(t, errs, "run 'nodemask data fetch citeseer', or name the folder")
}
