package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/onnx"
	"nodemask/paper/record"
)

func savedModel(t *testing.T, path string, more ...string) {
	t.Helper()
	succeeds(t, quickTrain(smallGraph(t),
		append(more, "--trials", "1", "--save-model", path)...)...)
}

func TestExportWritesBesideTheModelByDefault(t *testing.T) {
	folder := t.TempDir()
	model := filepath.Join(folder, "small.gat.model")
	savedModel(t, model, "--model", "gat", "--set", "heads=2")
	m, err := cached.LoadModel(model)
	require.NoError(t, err)
	direct := filepath.Join(folder, "direct.onnx")
	require.NoError(t, onnx.Save(direct, m, record.Version()))
	want := fileText(t, direct)

	out, diagnostics := succeeds(t, "export", model)
	require.Empty(t, out)
	beside := filepath.Join(folder, "small.gat.onnx")
	require.Contains(t, diagnostics, "wrote "+beside+": GAT, 2 features, 2 classes, ")
	require.Equal(t, want, fileText(t, beside))

	named := filepath.Join(folder, "other")
	succeeds(t, "export", model, "-o", named)
	require.Equal(t, want, fileText(t, named))
}

func TestExportNamesWhatIsWrongAndLeavesNothing(t *testing.T) {
	folder := t.TempDir()
	model := filepath.Join(folder, "model.onnx") // as its default output would be called
	savedModel(t, model)
	before := fileText(t, model)
	broken := put(t, folder, "broken", before[:len(before)/2])
	missing := filepath.Join(folder, "missing")
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{2, "nodemask: expected 'nodemask export MODEL [flags]', found 'nodemask export'", nil},
		{2, "nodemask: expected 'nodemask export MODEL [flags]', found 'nodemask export ", []string{model, model}},
		{2, "unknown flag: --outptu", []string{model, "--outptu", "x"}},
		{2, "--output is empty: expected a file", []string{model, "-o", ""}},
		{2, "--output " + model + ": this is the model itself: expected another file", []string{model}},
		{2, "--output " + folder + ": this is a folder: expected a file", []string{model, "-o", folder}},
		{2, "--output " + missing + "/x: there is no folder " + missing, []string{model, "-o", missing + "/x"}},
		{1, "nodemask: " + missing + ": no such file or directory", []string{missing}},
		{1, "nodemask: " + broken + ": ", []string{broken}},
	} {
		diagnostics := fails(t, c.code, c.says, append([]string{"export"}, c.args...)...)
		require.Equal(t, 1, strings.Count(diagnostics, "\n"), diagnostics)
	}
	require.Len(t, contents(t, folder), 2)
	require.Equal(t, before, fileText(t, model))
}
