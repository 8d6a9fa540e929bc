package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
		"--model gcn: expected all or one":       {"reproduce", "cited", "--model", "gcn"},
		"--data reddit: expected all or one":     {"report", "stated", "--data", "reddit", "--results", folder},
		"--jobs 0":                               {"reproduce", "cited", "--jobs", "0"},
		"--shard 3/2: expected i/n":              {"reproduce", "cited", "--shard", "3/2"},
		"--trials: a part has the protocol's":    {"reproduce", "cited", "--trials", "3"},
		"depth is a part of a protocol":          {"reproduce", "table-mad", "depth"},
		`no part "width": expected one of cited`: {"reproduce", "status", "width"},
		"the part depth is about GIN":            {"reproduce", "depth", "--model", "gat"},
		"no records there":                       {"reproduce", "again", "--results", folder},
		"--count 0: expected at least 1":         {"reproduce", "again", "--count", "0"},
	})
	part := filepath.Join(folder, report.SecondFolder)
	require.NoError(t, os.Mkdir(part, 0o700))
	path := put(t, part, "cora-gin.jsonl", "{}\n")
	require.Contains(t, fails(t, 1, path+": line 1: ", "reproduce", "status", "cited", "--results", folder),
		"remove the line, and the command that trained it ('nodemask reproduce' or 'advise')")
}

func TestAPartIsCounted(t *testing.T) {
	out, _ := succeeds(t, "reproduce", "status", "cited", "--results", "../../results", "--data", "cora", "--model", "gat")
	require.Regexp(t, `^cited, cora, gat: (\d+) of (\d+) trials; \d+ of \d+ trainings have all 20 splits\n$`, out)
	out, _ = succeeds(t, "reproduce", "status", "depth", "--results", "../../results")
	require.Equal(t, "depth, cora, all: 800 of 800 trials; 80 of 80 trainings have all 10 splits\n", out)
	out, _ = succeeds(t, "reproduce", "status", "tuned", "--results", t.TempDir(), "--data", "cora", "--model", "gat")
	require.Regexp(t, `^cora, tuned: \d+ trainings left to look at on 3 splits\n$`, out)
}

func TestTheTunedComparisonIsSummedUpOverAllDataSets(t *testing.T) {
	out, _ := succeeds(t, "report", "tuned", "--results", t.TempDir())
	require.Equal(t, 60, strings.Count(out, "    plain: not tuned yet\n"))
	require.NotContains(t, out, "over the")
	out, _ = succeeds(t, "report", "balanced", "--data", "cora", "--model", "gin", "--results", t.TempDir())
	require.Contains(t, out, "cora, gin with one linear layer, inductive, 10%\n    plain: not tuned yet\n")
	require.Equal(t, 16, strings.Count(out, "    masked, p tuned: not tuned yet\n"))

	e := report.Open("../../results")
	out, _ = succeeds(t, "report", "tuned", "--results", "../../results")
	for _, id := range []string{"gin", "gat", "sgat", "gcn", "sage"} {
		found, err := report.Find("table-tuned")
		require.NoError(t, err)
		i := slices.IndexFunc(found[0].Claims, func(c report.Claim) bool { return c.ID == "table-tuned/"+id })
		v := found[0].Claims[i].Judge(e)
		_, of, is := strings.Cut(out, fmt.Sprintf("\n%s, over the cells above that have both arms", id))
		require.True(t, is, out)
		_, said, _ := strings.Cut(of, "    masked, p tuned: ")
		said, _, _ = strings.Cut(said, "\n")
		want := fmt.Sprintf("%s points (95 %% interval %s to %s) from plain, %d cells", plots.Signed(v.Effect.MeanDifference, 2),
			plots.Signed(v.Effect.Low, 2), plots.Signed(v.Effect.High, 2), v.Of)
		require.Equal(t, want, said, "%s: the claim's own arithmetic", id)
	}
	require.Regexp(t, `DropGNN, tuned: .* from masked, p tuned, 8 cells\n`, out, "PubMed lacks an arm that came later")
	require.Contains(t, out, "\ngin, gat, sgat, gcn, sage, over the ")
}

func TestAPartSaysWhichDataAreMissing(t *testing.T) {
	errs := fails(t, 1, "citeseer: ind.citeseer.x is not there (looked in ", "reproduce", "cited", "--backend",
		"go", "--data", "citeseer", "--model", "sgat", "--results", t.TempDir())
	require.Contains(t, errs, "run 'nodemask data fetch citeseer', or name the folder")
}
