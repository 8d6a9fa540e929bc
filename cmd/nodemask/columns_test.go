package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/cached"
)

// turned reorders a table's columns and omits those not listed.
func turned(t *testing.T, path string, order ...int) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(fileText(t, path)) {
		fields := strings.Split(strings.TrimSpace(line), ",")
		var row []string
		for _, i := range order {
			row = append(row, fields[i])
		}
		out.WriteString(strings.Join(row, ",") + "\n")
	}
	return put(t, t.TempDir(), filepath.Base(path), out.String())
}

func TestFeaturesAreMatchedByTheirNames(t *testing.T) {
	g, dir := smallGraph(t), t.TempDir()
	model := filepath.Join(dir, "m.safetensors")
	succeeds(t, quickTrain(g, "--save-model", model, "--save-cache")...)
	m, err := cached.LoadModel(model)
	require.NoError(t, err)
	require.Equal(t, []string{"x", "z"}, m.FeatureNames)
	kept, err := cached.LoadCache(model, m)
	require.NoError(t, err)
	defer kept.Close()
	known := kept.IDs[0]

	nodes := put(t, dir, "nodes.csv", "id,x,z\nnew,0.25,1\nalso,1,0\n")
	edges := put(t, dir, "edges.csv", "source,target\n"+known+",new\nnew,also\n")
	predict := func(nodes string) []string {
		return []string{"predict", "--model", model, "--backend", "go", "--nodes", nodes, "--edges", edges}
	}
	want, diagnostics := succeeds(t, predict(nodes)...)
	require.NotContains(t, diagnostics, "another order")
	other := turned(t, nodes, 2, 0, 1)
	got, diagnostics := succeeds(t, predict(other)...)
	require.Equal(t, want, got)
	require.Contains(t, diagnostics,
		"its features are in another order than the model was trained on: they are matched by name")
	fails(t, 1, "Parquet is not read: write CSV in Python", predict(filepath.Join(dir, "nodes.parquet"))...)
	for _, table := range []string{turned(t, nodes, 0, 1), put(t, dir, "renamed.csv", "id,x,v\nnew,0.25,1\nalso,1,0\n")} {
		fails(t, 1, table+`: features that the model was trained on are missing: "z": expected columns of numbers with these names`,
			predict(table)...)
	}

	// A file without names, as older ones are, takes columns in order.
	m.FeatureNames = nil
	require.NoError(t, m.SaveWith(model, kept))
	unnamed, _ := succeeds(t, predict(other)...)
	require.NotEqual(t, want, unnamed)

	// Reordered columns give the same embedding.
	m.FeatureNames = []string{"x", "z"}
	require.NoError(t, m.Save(model))
	embed := []string{"predict", "--all", "--model", model, "--backend", "go", "--data"}
	folder := filepath.Dir(turned(t, filepath.Join(g, "nodes.csv"), 0, 1, 3, 2))
	put(t, folder, "edges.csv", fileText(t, filepath.Join(g, "edges.csv")))
	straight, _ := succeeds(t, append(embed, g)...)
	crossed, _ := succeeds(t, append(embed, folder)...)
	require.Equal(t, straight, crossed)
	other = graphFolder(t, "other", "id,label,x,w\na,even,1,0\nb,odd,0,1\n", "source,target\na,b\n")
	fails(t, 1, `are missing: "z"`, append(embed, other)...)
}

func TestWhatCannotBeSavedIsSaidBeforeItIsTrained(t *testing.T) {
	for name, change := range map[string][2]string{
		"class":   {",even,", ",\xfcbel,"},
		"node":    {"\naa,", "\n\xe4\xe4,"},
		"feature": {",x,", ",gr\xf6\xdfe,"},
	} {
		g := smallGraph(t)
		for _, file := range []string{"nodes.csv", "edges.csv"} {
			all := strings.ReplaceAll(fileText(t, filepath.Join(g, file)), change[0], change[1])
			if name == "node" {
				all = strings.ReplaceAll(strings.ReplaceAll(all, "\naa,", "\n\xe4\xe4,"), ",aa\n", ",\xe4\xe4\n")
			}
			put(t, g, file, all)
		}
		to := t.TempDir()
		// The reader may have refused it already.
		diagnostics := fails(t, 1, "UTF-8", quickTrain(g, "--save-model", filepath.Join(to, "m"),
			"--save-cache")...)
		if strings.Contains(diagnostics, "which is not UTF-8 and cannot be saved: convert the file") {
			require.Contains(t, diagnostics, name+" ")
		}
		require.Empty(t, contents(t, to))
	}
}
