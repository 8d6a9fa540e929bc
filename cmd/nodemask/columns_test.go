package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/internal/tidy"
	"nodemask/internal/tidy/tidyfile"
	"nodemask/nmgnn/cached"
)

// turned writes a table with its columns in another order, without those left out.
func turned(t *testing.T, path string, order ...int) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var out strings.Builder
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSpace(line), ",")
		var row []string
		for _, i := range order {
			row = append(row, fields[i])
		}
		out.WriteString(strings.Join(row, ",") + "\n")
	}
	to := filepath.Join(t.TempDir(), filepath.Base(path))
	require.NoError(t, os.WriteFile(to, []byte(out.String()), 0o600))
	return to
}

func TestFeaturesAreMatchedByTheirNames(t *testing.T) {
	g, dir := smallGraph(t), t.TempDir()
	at := func(name, text string) string {
		path := filepath.Join(dir, name)
		if text != "" {
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		}
		return path
	}
	model, cache := at("m.safetensors", ""), at("c.safetensors", "")
	code, _, diagnostics := nodemask(t, quickTrain(g, "--save-model", model, "--save-cache", cache)...)
	require.Zero(t, code, diagnostics)
	m, err := cached.LoadModel(model)
	require.NoError(t, err)
	require.Equal(t, []string{"x", "y"}, m.FeatureNames)
	kept, err := cached.LoadCache(cache, m)
	require.NoError(t, err)
	known := kept.IDs[0]
	require.NoError(t, kept.Close())

	nodes, edges := at("nodes.csv", "id,x,y\nnew,0.25,1\nalso,1,0\n"), at("edges.csv",
		"source,target\n"+known+",new\nnew,also\n")
	predict := func(nodes string) (int, string, string) {
		return nodemask(t, "predict", "--model", model, "--cache", cache, "--backend", "go", "--nodes", nodes, "--edges",
			edges)
	}
	code, want, diagnostics := predict(nodes)
	require.Zero(t, code, diagnostics)
	require.NotContains(t, diagnostics, "another order")
	other := turned(t, nodes, 2, 0, 1)
	code, got, diagnostics := predict(other)
	require.Zero(t, code, diagnostics)
	require.Equal(t, want, got)
	require.Contains(t, diagnostics,
		"its features are in another order than the model was trained on: they are matched by name")
	table := tidy.Table{{Name: "y", Numbers: []float64{1, 0}}, {Name: "id", Texts: []string{"new", "also"}},
		{Name: "x", Numbers: []float64{0.25, 1}}}
	require.NoError(t, writeFile(at("nodes.parquet", ""), func(w io.Writer) error { return tidyfile.Parquet(w, table) }))
	code, got, diagnostics = predict(at("nodes.parquet", ""))
	require.Zero(t, code, diagnostics)
	require.Equal(t, want, got)
	require.Contains(t, diagnostics, "they are matched by name")
	for _, table := range []string{turned(t, nodes, 0, 1), at("renamed.csv", "id,x,z\nnew,0.25,1\nalso,1,0\n")} {
		code, _, diagnostics = predict(table)
		require.Equal(t, 1, code)
		require.Contains(t, diagnostics,
			table+`: features that the model was trained on are missing: "y": expected columns of these names`)
	}

	// A file without names, as older ones are, takes columns as they come.
	m.FeatureNames = nil
	require.NoError(t, m.Save(model))
	code, unnamed, diagnostics := predict(other)
	require.Zero(t, code, diagnostics)
	require.NotEqual(t, want, unnamed)

	// The same graph with its columns turned is embedded alike.
	m.FeatureNames = []string{"x", "y"}
	require.NoError(t, m.Save(model))
	embed := func(g string) string {
		code, out, diagnostics := nodemask(t, "embed", "--model", model, "--backend", "go", "--data", g)
		require.Zero(t, code, diagnostics)
		return out
	}
	folder := filepath.Dir(turned(t, filepath.Join(g, "nodes.csv"), 0, 1, 3, 2))
	text, err := os.ReadFile(filepath.Join(g, "edges.csv"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "edges.csv"), text, 0o600))
	require.Equal(t, embed(g), embed(folder))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "nodes.csv"), []byte("id,label,x,w\na,even,1,0\nb,odd,0,1\n"),
		0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "edges.csv"), []byte("source,target\na,b\n"), 0o600))
	code, _, diagnostics = nodemask(t, "embed", "--model", model, "--backend", "go", "--data", folder)
	require.Equal(t, 1, code)
	require.Contains(t, diagnostics, `are missing: "y"`)
}

func TestFeaturesAreMatchedByNameWhateverTheFormat(t *testing.T) {
	dir := t.TempDir()
	write := func(name, first, second string) string {
		var nodes, links []string
		for v := range 24 {
			nodes = append(nodes, fmt.Sprintf(`{"id":"n%d","class":"%d","%s":%d,"%s":%d}`, v, v%2, first, v%5, second, 1+v%3))
			links = append(links, fmt.Sprintf(`{"source":"n%d","target":"n%d"}`, v, (v+2)%24))
		}
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(`{"nodes":[`+strings.Join(nodes, ",")+`],"links":[`+
			strings.Join(links, ",")+`]}`), 0o600))
		return path
	}
	model := filepath.Join(dir, "m")
	code, _, diagnostics := nodemask(t, quickTrain(write("a.json", "p", "q"), "--save-model", model)...)
	require.Zero(t, code, diagnostics)
	m, err := cached.LoadModel(model)
	require.NoError(t, err)
	require.Equal(t, []string{"p", "q"}, m.FeatureNames)
	run := func(data string) (int, string, string) {
		return nodemask(t, "embed", "--model", model, "--backend", "go", "--data", data)
	}
	code, _, diagnostics = run(write("b.json", "q", "p"))
	require.Zero(t, code, diagnostics)
	require.Contains(t, diagnostics, "they are matched by name")
	code, _, diagnostics = run(write("c.json", "p", "r"))
	require.Equal(t, 1, code)
	require.Contains(t, diagnostics, `are missing: "q"`)
}

func TestWhatCannotBeSavedIsSaidBeforeItIsTrained(t *testing.T) {
	for name, change := range map[string][2]string{
		"class":   {",even,", ",\xfcbel,"},
		"node":    {"\naa,", "\n\xe4\xe4,"},
		"feature": {",x,", ",gr\xf6\xdfe,"},
	} {
		g := smallGraph(t)
		for _, file := range []string{"nodes.csv", "edges.csv"} {
			text, err := os.ReadFile(filepath.Join(g, file))
			require.NoError(t, err)
			all := strings.ReplaceAll(string(text), change[0], change[1])
			if name == "node" {
				all = strings.ReplaceAll(strings.ReplaceAll(all, "\naa,", "\n\xe4\xe4,"), ",aa\n", ",\xe4\xe4\n")
			}
			require.NoError(t, os.WriteFile(filepath.Join(g, file), []byte(all), 0o600))
		}
		to := t.TempDir()
		code, out, diagnostics := nodemask(t, quickTrain(g, "--save-model", filepath.Join(to, "m"), "--save-cache",
			filepath.Join(to, "c"))...)
		require.Equal(t, 1, code, diagnostics)
		require.Empty(t, out, "nothing is trained")
		if strings.Contains(diagnostics, "which is not UTF-8 and cannot be saved: convert the file") {
			require.Contains(t, diagnostics, name+" ")
		} else {
			require.Contains(t, diagnostics, "UTF-8", "the reader may have refused it before")
		}
		require.Empty(t, contents(t, to))
	}
}
