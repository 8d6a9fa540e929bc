package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func ownGraph(t *testing.T) string {
	return graphFolder(t, "mine", "id,label,x,z\nann,cat,1,0\nbob,,0,0\ncy,ant,0.5,-2e-1\n",
		"source,target\nann,bob\nbob,ann\ncy,cy\n")
}

func TestDataListNamesEveryDataSetAndWhereItLives(t *testing.T) {
	out, _ := succeeds(t, "data", "list")
	for _, name := range []string{"cora", "citeseer", "pubmed", "reddit", "sbm", "embedded",
		"nodemask data fetch reddit"} {
		assert.Contains(t, out, name)
	}
	out, _ = succeeds(t, "data", "list", "--json")
	var all []map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &all))
	require.Len(t, all, 17)
	assert.Equal(t, "cora", all[0]["name"])
	assert.EqualValues(t, 5278, all[0]["edges"])
}

func TestDataExitsTwoForMisuseOneForFailure(t *testing.T) {
	broken := ownGraph(t)
	put(t, broken, "edges.csv", "source,target\nann,dan\n")
	for _, c := range []struct {
		code int
		args string
		says string
	}{
		{2, "data", "expected list, describe or fetch"},
		{2, "data nonsense", "nonsense"},
		{2, "data describe", "expected 'nodemask data describe NAME [flags]', found 'nodemask data describe'"},
		{2, "data describe coro", "no such data set"},
		{2, "data describe cora:x=1", "takes no parameters"},
		{2, "data fetch coro", "no such data set"},
		{2, "data fetch sbm", "nothing to fetch"},
		{2, "data list extra", "data list"},
		{2, "data list --nonsense", "unknown flag"},
		{2, "data describe " + t.TempDir(), "no graph in this folder: expected an .npz, .graphml, .json or .pt file, a folder " +
			"with nodes.csv and edges.csv, or a folder with raw/edge.csv.gz"},
		{1, "data describe reddit", "nodemask data fetch reddit"},
		{1, "data describe nowhere.npz", "nowhere.npz: no such file or folder"},
		{1, "data describe " + broken, "edges.csv: line 2"},
		{1, "data fetch cora --mirror http://127.0.0.1:1/ --data-dir " + t.TempDir(), "https://"},
	} {
		stderr := fails(t, c.code, c.says, strings.Fields(c.args)...)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), "%s: %q", c.args, stderr)
		assert.True(t, strings.HasPrefix(stderr, "nodemask: "), stderr)
	}
}

func TestNamesFromFilesDoNotSteerTheTerminal(t *testing.T) {
	dir := graphFolder(t, "evil", "id,label,x\na,\x1b[2Jgone\x07,1\nb,\u202eevil,0\n", "source,target\na,b\n")
	out, _ := succeeds(t, "data", "describe", dir)
	assert.Contains(t, out, "[2Jgone")
	assert.NotContains(t, out, "\x1b")
	assert.NotContains(t, out, "\x07")
	assert.NotContains(t, out, "\u202e")
}

func TestDescribeSaysWhatWasUnderstoodAndWarns(t *testing.T) {
	file := filepath.Join("..", "..", "datasets", "testdata", "formats", "directed.graphml")
	out, stderr := succeeds(t, "data", "describe", file)
	for _, says := range []string{"GraphML", "8 (1 isolated, 2 unlabelled)",
		"7, directed in the source or listed in one direction, and taken both ways (8 pairs listed, 1 self-loops", "mean " +
			"1.75, median 2, most 3",
		"0.000 of the edges between labelled nodes", "2 train, 2 validation and 2 test nodes, hash 3d32f10c5fe05869 (train " +
			"--split own)", `GraphML key "nick" of type string: left out`,
		"1 self-loops and 0 repeated edges are dropped",
		"│ 2–3    │     6 │ 75.0 │", "│ ant   │     3 │ 50.0 │"} {
		assert.Contains(t, out, says)
	}
	assert.NotContains(t, out, "WARNING")
	assert.Empty(t, stderr)

	out, _ = succeeds(t, "data", "describe", "cora")
	assert.Contains(t, out, "adjusted homophily 0.771 (0: random edges); at 10 % to train on a test node has 0.375 train neighbours")
	assert.Contains(t, out, "GIN, new nodes: nothing, known nodes: nothing, by a rule that is right in ")
	out, _ = succeeds(t, "data", "describe", ownGraph(t))
	assert.Contains(t, out, "2 of 2 classes have fewer than 3 nodes, too few for train, validation and test nodes each: "+
		"ant (1), cat (1)")

	out, _ = succeeds(t, "data", "describe", "--json", file)
	var d map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &d))
	assert.Equal(t, true, d["directed"])
	assert.InDelta(t, 0, d["edge_homophily"], 0)
}

func TestTrainTakesTheSplitThatTheDataComeWith(t *testing.T) {
	file := filepath.Join("..", "..", "datasets", "testdata", "formats", "data.pt")
	quick := []string{"train", "--data", file, "--backend", "go", "--trials", "2", "--max-epochs", "3", "--hidden", "4"}
	out, _ := succeeds(t, append(quick, "--split", "own", "--json")...)
	for _, line := range jsonLines(t, out) {
		assert.Equal(t, "3d32f10c5fe05869", line["split_hash"])
		assert.Equal(t, true, line["own_split"])
		assert.EqualValues(t, 33, line["train_percent"])
	}
	out, _ = succeeds(t, append(quick, "--split", "own", "--setting", "transductive")...)
	assert.Contains(t, out, "data ("+file+"), transductive, its own split: GIN (preset "+
		"standard)")
	refuses(t, []string{"train"}, map[string][]string{
		"--split own: the data say which nodes are which: leave out --train": {"--data", file, "--split", "own", "--train",
			"10"},
		"leave out --train, --split-seed, and validation and resplit of --set": {"--data", file, "--split", "own", "--set",
			"resplit=true"},

		`graph "cora" has no train, validation and test nodes of its own`: {"--data", "cora", "--split", "own"},
		`"half": expected "stratified" or "own"`:                          {"--split", "half"},
	})
}

func TestAFolderThatDoesNotHaveTheDataSetIsNotReplacedByAnother(t *testing.T) {
	empty := t.TempDir()
	for _, dir := range []string{empty, filepath.Join(empty, "nowhere")} {
		for _, command := range [][]string{{"train"}, {"tree", "--root", "1"}, {"advise"}, {"data", "describe"}} {
			named := []string{"cora"}
			if command[0] != "data" {
				named = []string{"--data", "cora"}
			}
			args := slices.Concat(command, named, []string{"--data-dir", dir})
			fails(t, 1, "--data-dir "+dir+": ind.cora.tx of cora is neither there nor in its folders cora and planetoid: "+
				"expected the folder that holds it, or no --data-dir, which reads the one at hand (embedded)", args...)
		}
	}
	t.Setenv("NODEMASK_DATA", empty) // the usual folders stay unchanged
	succeeds(t, "data", "describe", "cora")
	succeeds(t, "data", "describe", "sbm:nodes=50", "--data-dir", empty)
	succeeds(t, "data", "describe", ownGraph(t), "--data-dir", empty)
}
