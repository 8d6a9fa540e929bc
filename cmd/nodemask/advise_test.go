package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/advice"
	"nodemask/paper/judge"
)

func TestAdviseSaysWhatItCannotDoInALineAndExitCode2(t *testing.T) {
	dir := t.TempDir()
	edges := "source,target\na,b\nb,c\n"
	refuses(t, []string{"advise"}, map[string][]string{
		"no model \"gni\"": {"--models", "gni"},
		"no model is named: expected --models with some": {"--models", ""},
		`"coar": no such data set`:                       {"--data", "coar"},
		"--budget":                                       {"--budget", "5"},
		"TrainPercent is 100: expected 1 to 99":          {"--train", "100"},
		"--setting":                                      {"--setting", "both"},
		"there is no folder":                             {"-o", filepath.Join(dir, "nowhere", "x.html")},
		"advice.txt: expected a name that ends in .html": {"-o", filepath.Join(dir, "advice.txt")},
		"number of classes: 1, expected at least two": {"--data", graphFolder(t, "one",
			"id,label,x\na,red,1\nb,red,0\nc,red,1\n", edges)},
		"change the shares or use a larger graph": {"--data", graphFolder(t, "three",
			"id,label,x\na,red,1\nb,green,0\nc,red,1\n", edges)},
	})
}

// easyGraph returns a graph whose only feature is the class, so that all models score the same.
func easyGraph(t *testing.T) string {
	nodes, edges := "id,label,a,b\n", "source,target\n"
	for v := range 80 {
		nodes += fmt.Sprintf("n%d,c%d,%d,%d\n", v, v%2, v%2, 1-v%2)
		edges += fmt.Sprintf("n%d,n%d\n", v, (v+2)%80)
	}
	return graphFolder(t, "easy", nodes, edges)
}

func TestAdviseAnswersKeepsItsTrialsAndWritesAPage(t *testing.T) {
	t.Setenv("GOMLX_BACKEND", "go")
	data, folder, page := easyGraph(t), t.TempDir(), filepath.Join(t.TempDir(), "advice.html")
	arguments := []string{"advise", "--data", data, "--models", "gcn", "--setting", "transductive", "--train", "30",
		"--results", folder, "--budget", "1h"}
	out, _ := succeeds(t, append(arguments, "-o", page)...)
	require.Contains(t, out, "On "+data+", with GCN, transductive, nothing helps by a point")
	require.Contains(t, out, "Use plain GCN, dropout 0.5 (transductive): 100.0.")
	require.Contains(t, out, "nodemask train --data "+data+" --model gcn --setting transductive --train 30")
	require.Contains(t, fileText(t, page), "What helps on "+data)
	kept := contents(t, folder)
	require.Len(t, kept, 1)

	out, _ = succeeds(t, append(arguments, "--json")...)
	require.Equal(t, kept, contents(t, folder), "nothing is trained again")
	var a advice.Advice
	require.NoError(t, json.Unmarshal([]byte(out), &a))
	require.True(t, a.Settled)
	require.Len(t, a.Questions[0].Arms, 5)
	require.Len(t, a.Questions[0].Arms[0].F1, 3)

	// Other content under the same name is another graph.
	put(t, data, "edges.csv", "source,target\nn1,n3\n")
	out, _ = succeeds(t, append(arguments, "--json", "--budget", "1ns")...)
	require.Contains(t, out, "nothing is compared yet")

	fails(t, 2, "expected another file", append(arguments, "-o", filepath.Join(data, "nodes.csv"))...)
}

func TestAdviseNamesTheFlagWhereNothingCanBeKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	put(t, filepath.Dir(file), "file", "")
	fails(t, 1, "what is trained is kept there: expected --results with a folder that can be written to", "advise",
		"--data", easyGraph(t), "--results", file, "--budget", "1s")
}

func TestARuleOnMaskingIsToldWithoutTraining(t *testing.T) {
	dir := smallGraph(t)
	out, errs := succeeds(t, "advise", "--data", dir, "--predict", "--setting", "inductive")
	require.Contains(t, out, "on small, 10 % to train on, by rule and without training:\n")
	masked, rescaled := judge.Fit(judge.Cases(), false), judge.Fit(judge.Cases(), true)
	require.Contains(t, out, "\nMasking. "+masked.Words()+"\nRescaled. "+rescaled.Words()+"\n")
	require.NotContains(t, out, "transductive")
	require.NotContains(t, errs, "backend")
}
