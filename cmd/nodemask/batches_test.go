package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/cached"
)

func TestATrialInBatchesSavesItsModelAndCache(t *testing.T) {
	dir, to := smallGraph(t), t.TempDir()
	m := filepath.Join(to, "m.safetensors")
	out, diagnostics := succeeds(t, quickTrain(dir, "--batches", "3", "--json", "--save-model", m, "--save-cache")...)
	for _, line := range jsonLines(t, out) {
		require.EqualValues(t, 3, line["batches"])
	}
	require.Contains(t, diagnostics, ", with a cache of ")
	saved, err := cached.LoadModel(m)
	require.NoError(t, err)
	kept, err := cached.LoadCache(m, saved)
	require.NoError(t, err)
	require.NotEmpty(t, kept.IDs)
	require.NoError(t, kept.Close())
}

func TestFlagsThatDoNotGoWithBatchesAreMisuse(t *testing.T) {
	refuses(t, quickTrain(smallGraph(t)), map[string][]string{
		"1 clusters: expected 2 or more":                  {"--batches", "1"},
		"--jobs 2: trials in batches run one after":       {"--batches", "2", "--jobs", "2"},
		"DropEdge drops both directions of an edge alike": {"--batches", "2", "--regulariser", "dropedge"},
		"DropGNN masks nodes in testing too":              {"--batches", "2", "--regulariser", "dropgnn"},
	})
}
