package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/internal/cited"
	"nodemask/internal/evidence"
	"nodemask/internal/multiverse"
	"nodemask/internal/recordstore"
)

func TestTheMultiverseIsListedTrainedCountedAndRunAgain(t *testing.T) {
	code, out, _ := nodemask(t, "multiverse", "--list", "--model", "gin")
	require.Zero(t, code)
	require.Contains(t, out, "two, norm inside and after")
	require.Contains(t, out, "the paper: “behaves exactly like the GIN-0 architecture")
	require.Contains(t, out, "inductive: 768 readings\ntransductive: 512 readings\n")

	folder := filepath.Join(t.TempDir(), "readings")
	few := []string{"multiverse", "--backend", "go", "--data", "sbm:nodes=40,classes=2", "--model", "sgat", "--sizes",
		"50", "--results", folder}
	status := func() string {
		code, out, errs := nodemask(t, append(few, "--status")...)
		require.Zero(t, code, errs)
		return out
	}
	require.Equal(t, "sbm:nodes=40,classes=2, sgat: 0 of 100 trials; 0 of 10 trainings have all 10 splits\n", status())
	code, _, errs := nodemask(t, append(few, "--splits", "1", "--shard", "1/2")...)
	require.Zero(t, code, errs)
	code, _, errs = nodemask(t, append(few, "--splits", "1", "--shard", "2/2", "--jobs", "2")...)
	require.Zero(t, code, errs)
	require.Equal(t, "sbm:nodes=40,classes=2, sgat: 10 of 100 trials; 0 of 10 trainings have all 10 splits\n", status())
	all, err := recordstore.Open(folder).Load()
	require.NoError(t, err)
	require.Len(t, all, 10)
	for _, one := range all {
		require.Equal(t, multiverse.ProtocolHash(), one.Protocol)
		require.EqualValues(t, 100, one.Seed)
	}
	code, out, errs = nodemask(t, append(few, "--again", "2")...)
	require.Zero(t, code, errs)
	require.Equal(t, 2, strings.Count(out, "split 100: the same to the last digit\n"), out)

	code, _, errs = nodemask(t, append(few, "--again", "1", "--memory", "1MB")...)
	require.Equal(t, 1, code)
	require.Contains(t, errs, "more memory than is allowed: expected at most 1 MB: --memory allows more")

	code, out, errs = nodemask(t, append(few, "--summary")...)
	require.Zero(t, code, errs)
	require.Equal(t, "inductive: not all readings have two splits yet\ntransductive: not all readings have two splits "+
		"yet\n", out)
	code, _, errs = nodemask(t, append(few, "--splits", "2")...)
	require.Zero(t, code, errs)
	code, out, errs = nodemask(t, append(few, "--summary")...)
	require.Zero(t, code, errs)
	require.Contains(t, out, "inductive, all readings (48, 2 splits): median effect ")
	require.Contains(t, out, "inductive, calibrated readings: none\n")
	require.Contains(t, out, "    stop explains ")
}

func TestTheCommandOfAClaimShowsWhatItRestsOn(t *testing.T) {
	e := evidence.Open("../../results")
	answers, err := e.Answers(cited.Choice{})
	require.NoError(t, err)
	for _, a := range answers {
		if a.Verdict == cited.NotRun {
			continue
		}
		code, out, errs := nodemask(t, "multiverse", "--results", "../../results/cited", "--part", "cited", "--data", a.Data,
			"--model", a.Model, "--summary")
		require.Zero(t, code, errs)
		require.Contains(t, out, fmt.Sprintf("the cited reading: %+.2f points", a.Effect.Pooled.MeanDifference),
			"whatever else of the part is still missing")
	}
}

func TestWhatTheMultiverseCannotBeAskedIsMisuse(t *testing.T) {
	folder := t.TempDir()
	for want, arguments := range map[string][]string{
		`no readings of "gcn"`:           {"--model", "gcn"},
		"--splits 11: expected 1 to 10":  {"--splits", "11"},
		"--jobs 0":                       {"--jobs", "0"},
		"--batch 0":                      {"--batch", "0"},
		"--sizes: 100: expected 1 to 99": {"--sizes", "10,100"},
		"--shard 3/2: expected i/n":      {"--shard", "3/2"},
		"--part width: expected cited, departures, stated, scale, tables, balanced, readings, depth or tuned": {"--part", "width"},
		"--data all: expected one data set": {"--data", "all"},
		"has no trials of gin on cora":      {"--again", "1"},
		"has no trials of gcn on pubmed": {"--again", "1", "--part",
			"tuned", "--data", "pubmed", "--model", "gcn"},
		"--list: --part tuned has no readings to list": {"--list", "--part", "tuned"},
		"its sizes and splits are the protocol's": {"--part", "depth", "--splits",
			"3"},
		"found 'nodemask multiverse cora'": {"cora"},
	} {
		code, _, errs := nodemask(t, append([]string{"multiverse", "--results", folder}, arguments...)...)
		require.Equal(t, 2, code, errs)
		require.Contains(t, errs, want)
	}
	path := filepath.Join(folder, "cora-gin.jsonl")
	require.NoError(t, os.WriteFile(path, []byte("{}\n"), 0o666))
	code, _, errs := nodemask(t, "multiverse", "--results", folder, "--status")
	require.Equal(t, 1, code)
	require.Contains(t, errs, path+": line 1: ")
	require.Contains(t, errs, "remove the line, and 'nodemask reproduce' or 'nodemask multiverse'")
}

func TestTheTunedComparisonIsSummedUpOverAllDataSets(t *testing.T) {
	code, out, errs := nodemask(t, "multiverse", "--part", "tuned", "--data", "all", "--model", "all", "--results",
		t.TempDir(), "--summary")
	require.Zero(t, code, errs)
	require.Equal(t, 60, strings.Count(out, "    plain: not tuned yet\n"))
	require.NotContains(t, out, "over the")
	code, out, errs = nodemask(t, "multiverse", "--part", "balanced", "--model", "gin", "--results", t.TempDir(), "--summary")
	require.Zero(t, code, errs)
	require.Contains(t, out, "cora, gin with one linear layer, inductive, 10%\n    plain: not tuned yet\n")
	require.Equal(t, 8, strings.Count(out, "    masked, p tuned: not tuned yet\n"))

	e := evidence.Open("../../results")
	code, out, errs = nodemask(t, "multiverse", "--part", "tuned", "--data", "all", "--model", "all", "--results",
		"../../results/multiverse", "--summary")
	require.Zero(t, code, errs)
	number := strings.NewReplacer("+", "", "−", "-")
	for _, id := range []string{"gin", "gat", "sgat", "gcn", "sage"} {
		found, err := evidence.Find("table-tuned")
		require.NoError(t, err)
		i := slices.IndexFunc(found[0].Claims, func(c evidence.Claim) bool { return c.ID == "table-tuned/"+id })
		v := found[0].Claims[i].Judge(e)
		_, of, is := strings.Cut(out, fmt.Sprintf("\n%s, over the %d cells above that have every arm\n", id, v.Of))
		require.True(t, is, out)
		_, said, _ := strings.Cut(of, "    masked, p tuned: ")
		said, _, _ = strings.Cut(said, " from plain")
		want := fmt.Sprintf("%.2f points (95 %% interval %.2f to %.2f)", v.Effect.MeanDifference, v.Effect.Low, v.Effect.High)
		require.Equal(t, want, number.Replace(said), "%s: the claim's own arithmetic", id)
	}
	require.Contains(t, out, "\ngin, gat, sgat, gcn, sage, over the ")
}

func TestTheMultiverseSaysHowManyTrialsLackTheirDataAndHowToGetThem(t *testing.T) {
	code, _, errs := nodemask(t, "multiverse", "--backend", "go", "--data", "citeseer", "--model", "sgat", "--sizes", "10",
		"--splits", "2", "--results", t.TempDir())
	require.Equal(t, 1, code)
	require.Contains(t, errs, "\nnodemask: cannot run 20 trials on citeseer: ind.citeseer.x is not there (looked in ")
	require.Contains(t, errs, "run 'nodemask data fetch citeseer', or name the folder")
}

func TestTheCommandOfEachFindingShowsItsNumbers(t *testing.T) {
	results := filepath.Join("..", "..", "results")
	e := evidence.Open(results)
	advice := evidence.Advice(e)
	numbers := regexp.MustCompile(`\d+(\.\d+| %)`) // without signs: A against B may be shown as B against A
	shown := map[string]map[string]bool{}          // what the commands print
	for _, f := range append(evidence.Findings(evidence.Artifacts(), e), advice[0]) {
		if shown[f.Command] == nil {
			args := strings.Fields(f.Command)[1:]
			folder := results
			switch {
			case slices.Contains(args, string(cited.Balanced)):
				folder = filepath.Join(results, evidence.CitedFolder)
			case args[0] == "multiverse":
				folder = filepath.Join(results, evidence.MultiverseFolder)
			}
			code, out, errs := nodemask(t, append(args, "--results", folder)...)
			require.Zero(t, code, errs)
			shown[f.Command] = map[string]bool{}
			for _, number := range numbers.FindAllString(out, -1) {
				shown[f.Command][number] = true
			}
		}
		for _, number := range numbers.FindAllString(f.Text, -1) {
			require.True(t, shown[f.Command][number], "%s: %s does not show %s", f.Text, f.Command, number)
		}
	}
}
