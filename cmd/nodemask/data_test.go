package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/datasets"
)

// nodemask runs the command and returns its exit code and what it wrote.
func nodemask(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	code, stderr = nodemaskInto(t, out, args...)
	return code, written(t, out), stderr
}

// nodemaskInto runs the command with its standard output in a file.
func nodemaskInto(t *testing.T, out *os.File, args ...string) (code int, stderr string) {
	t.Helper()
	t.Setenv("NODEMASK_DATA", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	diagnostics, err := os.Create(filepath.Join(t.TempDir(), "err"))
	require.NoError(t, err)
	oldOut, oldErr := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = out, diagnostics
	defer func() { os.Stdout, os.Stderr = oldOut, oldErr }()
	code = run(args)
	return code, written(t, diagnostics)
}

// written returns what a file holds, and closes it.
func written(t *testing.T, f *os.File) string {
	t.Helper()
	_, err := f.Seek(0, io.SeekStart)
	require.NoError(t, err)
	b, err := io.ReadAll(f)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return string(b)
}

func ownGraph(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "mine")
	require.NoError(t, os.Mkdir(dir, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "nodes.csv"),
		[]byte("id,label,x,y\nann,cat,1,0\nbob,,0,0\ncy,ant,0.5,-2e-1\n"), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "edges.csv"), []byte("source,target\nann,bob\nbob,ann\ncy,cy\n"),
		0o666))
	return dir
}

func TestDataListNamesEveryDataSetAndWhereItLives(t *testing.T) {
	code, out, _ := nodemask(t, "data", "list")
	assert.Zero(t, code)
	for _, name := range []string{"cora", "citeseer", "pubmed", "reddit", "reddit-like", "sbm", "embedded",
		"nodemask data fetch reddit"} {
		assert.Contains(t, out, name)
	}
	code, out, _ = nodemask(t, "data", "list", "--json")
	assert.Zero(t, code)
	var all []map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &all))
	require.Len(t, all, 6)
	assert.Equal(t, "cora", all[0]["name"])
	assert.EqualValues(t, 5278, all[0]["edges"])
}

func TestDataInfoStatesTheCountsOfAUsersOwnGraph(t *testing.T) {
	code, out, stderr := nodemask(t, "data", "info", ownGraph(t))
	assert.Zero(t, code, stderr)
	for _, line := range []string{"3 (1 isolated, 1 unlabelled)",
		"1 (3 pairs listed, 1 of them an edge's other direction, 1 self-loops and 0 duplicates dropped)",
		"2 (3 nonzeros, dense; 0 the same on all nodes)"} {
		assert.Contains(t, out, line)
	}
	code, out, stderr = nodemask(t, "data", "info", "--json", ownGraph(t))
	assert.Zero(t, code, stderr)
	var d described
	require.NoError(t, json.Unmarshal([]byte(out), &d))
	assert.Equal(t, []datasets.ClassCount{{Name: "ant", Nodes: 1}, {Name: "cat", Nodes: 1}}, d.Classes)
	assert.Equal(t, 1, d.Unlabelled)
	assert.Equal(t, 1, d.Isolated)
	assert.EqualValues(t, 3, d.Listed)
}

func TestDataVerifyFindsADamagedFile(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ind.cora.x"), []byte("damaged"), 0o666))
	code, out, stderr := nodemask(t, "data", "verify", "cora", "--data-dir", dir)
	assert.Equal(t, 1, code)
	assert.Contains(t, out, "ind.cora.x: DIFFERS from 23cfa55d91c6")
	assert.Contains(t, out, "ind.cora.y: cannot be read")
	assert.Equal(t, "nodemask: cora: 8 of 8 files are missing or damaged: run 'nodemask data fetch cora'\n", stderr)
}

func TestDataVerifyAcceptsAUsersOwnGraph(t *testing.T) {
	code, out, stderr := nodemask(t, "data", "verify", ownGraph(t))
	assert.Zero(t, code, stderr)
	assert.Contains(t, out, "3 nodes, 1 edges (3 pairs listed, 1 self-loops and 1 duplicates dropped), 2 features, 2 "+
		"classes")
}

func TestDataEndsWithTwoForMisuseAndOneForFailureAndSaysWhyInOneLine(t *testing.T) {
	broken := ownGraph(t)
	require.NoError(t, os.WriteFile(filepath.Join(broken, "edges.csv"), []byte("source,target\nann,dan\n"), 0o666))
	for _, c := range []struct {
		code int
		args string
		says string
	}{
		{2, "data", "expected list, describe, fetch or verify"},
		{2, "data nonsense", "nonsense"},
		{2, "data info", "expected 'nodemask data describe NAME [flags]', found 'nodemask data describe'"},
		{2, "data info coro", "no such data set"},
		{2, "data info cora:x=1", "takes no parameters"},
		{2, "data verify coro", "no such data set"},
		{2, "data fetch coro", "no such data set"},
		{2, "data fetch sbm", "nothing to fetch"},
		{2, "data list extra", "data list"},
		{2, "data list --nonsense", "unknown flag"},
		{2, "data info " + t.TempDir(), "no graph in this folder: expected an .npz, .graphml, .json or .pt file, a folder " +
			"with nodes.csv and edges.csv, a folder with raw/edge.csv.gz, or a folder with nodes.parquet and edges.parquet"},
		{1, "data info reddit", "nodemask data fetch reddit"},
		{1, "data info nowhere.npz", "nowhere.npz: no such file or folder"},
		{1, "data info " + broken, "edges.csv: line 2"},
		{1, "data fetch cora --mirror http://127.0.0.1:1/ --data-dir " + t.TempDir(), "https://"},
	} {
		code, _, stderr := nodemask(t, strings.Fields(c.args)...)
		assert.Equal(t, c.code, code, c.args)
		assert.Contains(t, stderr, c.says, c.args)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), "%s: %q", c.args, stderr)
		assert.True(t, strings.HasPrefix(stderr, "nodemask: "), stderr)
	}
}

func TestNamesFromFilesDoNotSteerTheTerminal(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "nodes.csv"),
		[]byte("id,label,x\na,\x1b[2Jgone\x07,1\nb,\u202eevil,0\n"), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "edges.csv"), []byte("source,target\na,b\n"), 0o666))
	code, out, diagnostics := nodemask(t, "data", "info", dir)
	require.Zero(t, code, diagnostics)
	assert.Contains(t, out, "[2Jgone")
	assert.NotContains(t, out, "\x1b")
	assert.NotContains(t, out, "\x07")
	assert.NotContains(t, out, "\u202e")
}

func TestDescribeSaysWhatWasUnderstoodAndWarns(t *testing.T) {
	file := filepath.Join("..", "..", "datasets", "testdata", "formats", "directed.graphml")
	code, out, stderr := nodemask(t, "data", "describe", file)
	require.Zero(t, code, stderr)
	for _, says := range []string{"GraphML", "8 (1 isolated, 2 unlabelled)",
		"7, directed in the source or listed in one direction, and taken both ways (8 pairs listed, 1 self-loops", "mean " +
			"1.75, median 2, most 3",
		"0.000 of the edges between labelled nodes", "2 train, 2 validation and 2 test nodes, hash 3d32f10c5fe05869 (train " +
			"--split own)", `GraphML key "nick" of type string: left out`,
		"1 self-loops and 0 repeated edges are dropped", "│ 2–3    │ " +
			"██████████████████████████████ │     6 │ 75.0 " +
			"│", "│ ant   │ ████████████████████ │     3 │ 50.0 │"} {
		assert.Contains(t, out, says)
	}
	assert.NotContains(t, out, "WARNING")
	assert.Empty(t, stderr)

	code, out, stderr = nodemask(t, "data", "describe", ownGraph(t))
	require.Zero(t, code, stderr)
	assert.Contains(t, out, "2 of 2 classes have fewer than 3 nodes, too few for train, validation and test nodes each: "+
		"ant (1), cat (1)")

	code, out, stderr = nodemask(t, "data", "describe", "--json", file)
	require.Zero(t, code, stderr)
	var d map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &d))
	assert.Equal(t, true, d["directed"])
	assert.InDelta(t, 0, d["edge_homophily"], 0)
}

func TestADirectedGraphIsNotMadeUndirectedInSilence(t *testing.T) {
	code, out, stderr := nodemask(t, "data", "info", filepath.Join("..", "..", "datasets", "testdata", "formats", "ogb"))
	require.Zero(t, code, stderr)
	for _, says := range []string{"1 self-loops and 0 repeated edges are dropped", "its edges have a direction, or not " +
		"all are listed in both: each is taken both ways, as the models need", `"raw/node_year.csv.gz": left out`,
		"7, directed in the source or listed in one direction, and taken both ways"} {
		assert.Contains(t, out, says)
	}
	code, out, stderr = nodemask(t, "data", "info", filepath.Join("..", "..", "datasets", "testdata", "formats",
		"parquet"))
	require.Zero(t, code, stderr)
	assert.Contains(t, out, "Parquet")
}

func TestTrainTakesTheSplitThatTheDataComeWith(t *testing.T) {
	file := filepath.Join("..", "..", "datasets", "testdata", "formats", "data.pt")
	quick := []string{"train", "--data", file, "--backend", "go", "--trials", "2", "--max-epochs", "3", "--hidden", "4"}
	code, out, stderr := nodemask(t, append(quick, "--split", "own", "--json")...)
	require.Zero(t, code, stderr)
	for _, line := range jsonLines(t, out) {
		assert.Equal(t, "3d32f10c5fe05869", line["split_hash"])
		assert.Equal(t, true, line["own_split"])
		assert.EqualValues(t, 33, line["train_percent"])
	}
	code, out, stderr = nodemask(t, append(quick, "--split", "own", "--setting", "transductive")...)
	require.Zero(t, code, stderr)
	assert.Contains(t, out, "data ("+file+"), transductive, its own split of 2, 2 and 2 nodes: 2-layer GIN (preset "+
		"standard), no node masking")
	for _, c := range [][]string{
		{"--split own: the data say which nodes are which: leave out --train", "train", "--data", file, "--split", "own",
			"--train", "10"},
		{"leave out --train, --validation, --split-seed and --resplit", "train", "--data", file, "--split", "own",
			"--resplit"},
		{"--split own: cora has no train, validation and test nodes of its own", "train", "--data", "cora", "--split", "own"},
		{`"half": expected "stratified" or "own"`, "train", "--split", "half"},
	} {
		code, _, stderr := nodemask(t, c[1:]...)
		assert.Equal(t, 2, code)
		assert.Contains(t, stderr, c[0])
	}
}
