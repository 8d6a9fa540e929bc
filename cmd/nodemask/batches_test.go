package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/cached"
)

func trained(t *testing.T, arguments ...string) []map[string]any {
	t.Helper()
	out, _ := succeeds(t, append(arguments, "--json")...)
	lines := jsonLines(t, out)
	for _, l := range lines {
		for _, key := range []string{"seconds", "mad", "batches", "nodes", "nodes_reached", "nodes_cached"} {
			delete(l, key)
		}
	}
	return lines
}

func TestOneBatchPrintsTheTrialsOfTheWholeGraph(t *testing.T) {
	dir := smallGraph(t)
	for _, more := range [][]string{{"--keep-rate", "0.5"}, {"--setting", "transductive", "--set", "resplit=true"},
		{"--cache-inference"}} {
		whole := quickTrain(dir, more...)
		want := trained(t, whole...)
		for _, trial := range want {
			delete(trial, "auc") // needs all logits at once
		}
		assert.Equal(t, want, trained(t, append(whole, "--batches", "1")...))
	}
}

func TestTrainInBatchesSaysWhatItTakesBeforeItBegins(t *testing.T) {
	dir := smallGraph(t)
	for _, more := range [][]string{{"--batches", "3"}, {"--batches", "3", "--memory", "20GB"}} {
		out, diagnostics := succeeds(t, quickTrain(dir, append(more, "--json")...)...)
		assert.Contains(t, diagnostics, "3 batches, of at most ")
		assert.Contains(t, diagnostics, " of memory (")
		for _, line := range jsonLines(t, out) {
			assert.EqualValues(t, 3, line["batches"])
		}
	}
	fails(t, 1, "expected at most 1 MB: allow more memory", quickTrain(dir, "--memory", "1MB")...)
}

func TestATrialInBatchesSavesItsModelAndCache(t *testing.T) {
	dir, to := smallGraph(t), t.TempDir()
	m := filepath.Join(to, "m.safetensors")
	_, diagnostics := succeeds(t, quickTrain(dir, "--batches", "3", "--save-model", m, "--save-cache")...)
	require.Contains(t, diagnostics, ", with a cache of ")
	saved, err := cached.LoadModel(m)
	require.NoError(t, err)
	kept, err := cached.LoadCache(m, saved)
	require.NoError(t, err)
	require.NotEmpty(t, kept.IDs)
	require.NoError(t, kept.Close())
}

func TestFlagsThatDoNotGoWithBatchesAreMisuse(t *testing.T) {
	dir := smallGraph(t)
	refuses(t, quickTrain(dir), map[string][]string{
		"--batches 0: expected 1 or more":                  {"--batches", "0"},
		"--memory lots: expected a size such as 2GiB":      {"--memory", "lots"},
		"--memory -1GB: expected a size such as 2GiB":      {"--memory", "-1GB"},
		"--checkpoint: expected --batches or --memory too": {"--checkpoint", dir},
		"--jobs 2: trials in batches run one after":        {"--batches", "2", "--jobs", "2"},
		"DropEdge drops both directions of an edge alike":  {"--batches", "2", "--regulariser", "dropedge"},
		"DropGNN masks nodes in testing too":               {"--batches", "2", "--regulariser", "dropgnn"},
		"what caching takes is not estimated":              {"--memory", "1GiB", "--cache-inference"},
	})
}

func TestATrialThatWasKilledGoesOnToTheSameNumbers(t *testing.T) {
	kept := filepath.Join(t.TempDir(), "kept")
	arguments := quickTrain(smallGraph(t), "--setting", "transductive", "--keep-rate", "0.5", "--batches", "3", "--trials",
		"4")
	want := trained(t, arguments...)
	command := exec.Command(os.Args[0], append(arguments, "--checkpoint", kept, "--json")...)
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan(), "a first trial")
	require.NoError(t, command.Process.Kill())
	require.Error(t, command.Wait())
	left, err := os.ReadDir(kept)
	require.NoError(t, err)
	require.NotEmpty(t, left)
	assert.Equal(t, want, trained(t, append(arguments, "--checkpoint", kept)...))
	left, err = os.ReadDir(kept)
	require.NoError(t, err)
	for _, f := range left {
		assert.False(t, strings.HasSuffix(f.Name(), ".cache"), "a trial that ended needs no %s", f.Name())
	}
}
