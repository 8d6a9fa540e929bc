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
		out, _ := succeeds(t, "multiverse", "--results", "../../results/protocol-2", "--part", "cited", "--data", a.Data,
			"--model", a.Model, "--summary")
		require.Contains(t, out, fmt.Sprintf("the cited reading: %s points", plots.Signed(a.Effect.Pooled.MeanDifference, 2)),
			"whatever else of the part is still missing")
	}
}

func TestWhatTheMultiverseCannotBeAskedIsMisuse(t *testing.T) {
	folder := t.TempDir()
	refuses(t, []string{"multiverse", "--results", folder}, map[string][]string{
		"--model gcn: expected all or one": {"--model", "gcn"},
		"--splits 21: expected 1 to 20":    {"--splits", "21"},
		"--jobs 0":                         {"--jobs", "0"},
		"--batch 0":                        {"--batch", "0"},
		"--sizes: 100: expected 1 to 99":   {"--sizes", "10,100"},
		"--shard 3/2: expected i/n":        {"--shard", "3/2"},
		"--part width: expected cited, departures, stated, scale, tables, balanced, depth or tuned": {"--part", "width"},
		"--data all: expected one data set": {"--data", "all", "--part", "depth"},
		"has no trials of gin on cora":      {"--again", "1"},
		"has no trials of gcn on pubmed": {"--again", "1", "--part",
			"tuned", "--data", "pubmed", "--model", "gcn"},
		"--list: --part tuned has no readings to list": {"--list", "--part", "tuned"},
		"--part depth is about GIN: leave --model out": {"--part", "depth", "--model", "gat"},
		"its sizes and splits are the protocol's": {"--part", "depth", "--splits",
			"3"},
		"found 'nodemask multiverse cora'": {"cora"},
	})
	path := put(t, folder, "cora-gin.jsonl", "{}\n")
	require.Contains(t, fails(t, 1, path+": line 1: ", "multiverse", "--results", folder, "--status"),
		"remove the line, and the command that trained it ('nodemask reproduce', 'multiverse' or 'advise')")
}

func TestTheTunedComparisonIsSummedUpOverAllDataSets(t *testing.T) {
	out, _ := succeeds(t, "multiverse", "--part", "tuned", "--data", "all", "--model", "all", "--results",
		t.TempDir(), "--summary")
	require.Equal(t, 60, strings.Count(out, "    plain: not tuned yet\n"))
	require.NotContains(t, out, "over the")
	out, _ = succeeds(t, "multiverse", "--part", "balanced", "--model", "gin", "--results", t.TempDir(), "--summary")
	require.Contains(t, out, "cora, gin with one linear layer, inductive, 10%\n    plain: not tuned yet\n")
	require.Equal(t, 16, strings.Count(out, "    masked, p tuned: not tuned yet\n"))

	e := report.Open("../../results")
	out, _ = succeeds(t, "multiverse", "--part", "tuned", "--data", "all", "--model", "all", "--results",
		"../../results/protocol-1", "--summary")
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

func TestReadingsOfBothProtocolsAreExported(t *testing.T) {
	results := t.TempDir()
	for _, part := range []string{report.FirstFolder, report.SecondFolder} {
		all, err := os.ReadFile(filepath.Join("../../results", part, "cora-gat.jsonl"))
		require.NoError(t, err)
		line, _, _ := strings.Cut(string(all), "\n")
		require.NoError(t, os.Mkdir(filepath.Join(results, part), 0o700))
		put(t, filepath.Join(results, part), "cora-gat.jsonl", line+"\n")
	}
	out, _ := succeeds(t, "results", "export", "--readings", "--results", results)
	require.Regexp(t, `\ncora,gat,.*,20\d,`, out)
	require.Regexp(t, `\ncora,gat,.*,500,`, out)
}

func TestMultiverseSaysWhichDataAreMissing(t *testing.T) {
	errs := fails(t, 1, "\nnodemask: cannot run 12 trials on citeseer: ind.citeseer.x is not there (looked in ",
		"multiverse", "--backend", "go", "--data", "citeseer", "--model", "sgat", "--sizes", "10", "--splits", "2",
		"--results", t.TempDir())
	require.Contains(t, errs, "run 'nodemask data fetch citeseer', or name the folder")
}

func TestCommandsShowTheNumbersOfAdvice(t *testing.T) {
	results := filepath.Join("..", "..", "results")
	e := report.Open(results)
	numbers := regexp.MustCompile(`\d+(\.\d+| %)`) // without signs: A against B may be shown as B against A
	said := map[string]string{}                    // by the command that shows it
	for _, row := range e.Advice().Rows {
		part, folder := string(judge.Balanced), report.SecondFolder
		if !strings.HasPrefix(row[0].Text, "GIN") || strings.HasSuffix(row[0].Text, "not normalised") {
			part, folder = "tuned", report.FirstFolder
		}
		for _, field := range row[4:] {
			said["nodemask multiverse --part "+part+" --data all --model all --summary --results "+
				filepath.Join(results, folder)] += " " + field.Text
		}
	}
	require.Len(t, said, 2)
	for command, text := range said {
		out, _ := succeeds(t, strings.Fields(command)[1:]...)
		shown := numbers.FindAllString(out, -1)
		for _, number := range numbers.FindAllString(text, -1) {
			require.Contains(t, shown, number, "%s does not show it", command)
		}
	}
}
