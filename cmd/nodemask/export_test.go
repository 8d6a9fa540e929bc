package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/internal/worker"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/onnx"
	"nodemask/record"
)

// savedModel trains a model for a few epochs and saves it.
func savedModel(t *testing.T, path string, more ...string) {
	t.Helper()
	code, _, diagnostics := nodemask(t, quickTrain(smallGraph(t),
		append(more, "--trials", "1", "--save-model", path)...)...)
	require.Zero(t, code, diagnostics)
}

func TestExportWritesASavedModelBesideItUnlessAFileIsNamed(t *testing.T) {
	folder := t.TempDir()
	model := filepath.Join(folder, "small.gat.model")
	savedModel(t, model, "--model", "gat", "--heads", "2")
	m, err := cached.LoadModel(model)
	require.NoError(t, err)
	want, err := onnx.Export(m, record.Version())
	require.NoError(t, err)

	code, out, diagnostics := nodemask(t, "export", model)
	require.Zero(t, code, diagnostics)
	require.Empty(t, out)
	beside := filepath.Join(folder, "small.gat.onnx")
	require.Contains(t, diagnostics, "wrote "+beside+": GAT, 2 features, 2 classes, ")
	have, err := os.ReadFile(beside)
	require.NoError(t, err)
	require.Equal(t, want, have)

	named := filepath.Join(folder, "other")
	code, _, diagnostics = nodemask(t, "export", model, "-o", named)
	require.Zero(t, code, diagnostics)
	have, err = os.ReadFile(named)
	require.NoError(t, err)
	require.Equal(t, want, have)

	require.NoError(t, os.Remove(beside))
	events := served(t, worker.Request{Export: &worker.Export{Model: model}})
	require.Len(t, events, 1)
	require.Equal(t, worker.Exported{File: beside, Bytes: int64(len(want)), Model: "GAT", Features: 2, Classes: 2},
		*events[0].Exported)
	have, err = os.ReadFile(beside)
	require.NoError(t, err)
	require.Equal(t, want, have)
}

func TestExportNamesWhatIsWrongAndLeavesNothing(t *testing.T) {
	folder := t.TempDir()
	model := filepath.Join(folder, "model.onnx") // as its default output would be called
	savedModel(t, model)
	before, err := os.ReadFile(model)
	require.NoError(t, err)
	broken := filepath.Join(folder, "broken")
	require.NoError(t, os.WriteFile(broken, before[:len(before)/2], 0o666))
	missing := filepath.Join(folder, "missing")
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{2, "nodemask: expected 'nodemask export MODEL [flags]', found 'nodemask export'", nil},
		{2, "nodemask: expected 'nodemask export MODEL [flags]', found 'nodemask export ", []string{model, model}},
		{2, "unknown flag: --outptu. Did you mean --output?", []string{model, "--outptu", "x"}},
		{2, "--output is empty: expected a file", []string{model, "-o", ""}},
		{2, "--output " + model + ": this is the model itself: expected another file", []string{model}},
		{2, "--output " + folder + ": this is a folder: expected a file", []string{model, "-o", folder}},
		{2, "--output " + missing + "/x: there is no folder " + missing, []string{model, "-o", missing + "/x"}},
		{1, "nodemask: " + missing + ": no such file or directory", []string{missing}},
		{1, "nodemask: " + broken + ": ", []string{broken}},
	} {
		code, out, diagnostics := nodemask(t, append([]string{"export"}, c.args...)...)
		require.Equal(t, c.code, code, diagnostics)
		require.Empty(t, out)
		require.Contains(t, diagnostics, c.says)
		require.Equal(t, 1, strings.Count(diagnostics, "\n"), diagnostics)
	}
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, files, 2)
	after, err := os.ReadFile(model)
	require.NoError(t, err)
	require.Equal(t, before, after)
}
