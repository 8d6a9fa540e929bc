package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, path := range filesBelow(folder) {
		all[path] = fileText(t, path)
	}
	return all
}

func TestNoOutputReplacesAnInput(t *testing.T) {
	g := smallGraph(t)
	at := func(name string) string { return filepath.Join(g, name) }
	model := at("m.safetensors")
	succeeds(t, quickTrain(g, "--save-model", model, "--save-cache")...)
	put(t, g, "edges.txt", "a b\n")
	put(t, g, "results/cora.jsonl", "")
	links := t.TempDir()
	link := func(name string) string {
		soft := filepath.Join(links, "soft-"+name)
		require.NoError(t, os.Symlink(at(name), soft))
		return soft
	}
	hard := filepath.Join(links, "hard-edges.csv")
	require.NoError(t, os.Link(at("edges.csv"), hard))
	before := contents(t, g)
	embed := []string{"predict", "--all", "--model", model, "--data", g, "--backend", "go", "-o"}
	for _, arguments := range [][]string{
		append(embed, at("nodes.csv")),
		append(embed, link("nodes.csv")),
		append(embed, hard),
		{"predict", "--all", "--model", at("nodes.csv"), "--data", "cora", "-o", at("nodes.csv")},
		quickTrain(g, "--save-model", at("nodes.csv")),
		{"tree", "--data", at("edges.txt"), "--root", "a", "-o", at("edges.txt")},
		{"tree", "--data", g, "--root", "0", "-o", at("edges.csv")},
		{"page", "--data", g, "-o", at("nodes.csv")},
		{"export", model, "-o", model},
		{"export", model, "-o", link("m.safetensors")},
		{"report", "--results", at("results"), "-o", at("results/cora.jsonl")},
	} {
		diagnostics := fails(t, 2, "", arguments...)
		require.Regexp(t, "which the command reads: expected another file|the model itself", diagnostics,
			arguments)
		require.Equal(t, before, contents(t, g), arguments)
	}
	t.Run("a data set by its name", func(t *testing.T) {
		folder := t.TempDir()
		put(t, folder, "ind.citeseer.tx", "old")
		put(t, folder, "model.safetensors", "old")
		from := []string{"train", "--data", "citeseer", "--data-dir", folder, "--backend", "go", "--save-model"}
		fails(t, 2, "which the command reads", append(from, filepath.Join(folder, "ind.citeseer.tx"))...)
		_, _, diagnostics := nodemask(t, append(from, filepath.Join(folder, "model.safetensors"))...)
		require.NotContains(t, diagnostics, "which the command reads")
	})
	for _, arguments := range [][]string{ // files that are no inputs may be replaced
		quickTrain(g, "--save-model", model, "--save-cache"),
		append(embed, at("embedding.csv")),
		append(embed, at("embedding.csv")),
		{"tree", "--data", g, "--root", "0", "-o", os.DevNull},
	} {
		succeeds(t, arguments...)
	}
}

func TestEveryFlagOfAFileIsKnownAsInputOrOutput(t *testing.T) {
	neither := []string{"site", "mirror"} // a folder to create, and an address
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		require.True(t, c == c.Root() || c.PersistentPreRunE == nil && c.PersistentPreRun == nil,
			"%s would not check its outputs", c.CommandPath())
		c.Flags().VisitAll(func(f *pflag.Flag) {
			help := strings.ToLower(f.Usage)
			says := func(word string) bool { return strings.Contains(help, word) }
			if f.Value.Type() != "string" || !slices.ContainsFunc([]string{"file", "folder", "path"},
				says) && f.Shorthand != "o" {
				return
			}
			require.Contains(t, slices.Concat(inputFlags, outputFlags, neither), f.Name, c.CommandPath())
		})
		for _, child := range c.Commands() {
			walk(child)
		}
	}
	walk(newRootCommand())
}

func TestNoCommandWaitsForAPipeOrReadsADevice(t *testing.T) {
	g, dir := smallGraph(t), t.TempDir()
	pipe, model := filepath.Join(dir, "pipe"), filepath.Join(dir, "m")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	succeeds(t, quickTrain(g, "--save-model", model, "--save-cache")...)
	nodes, edges := filepath.Join(g, "nodes.csv"), filepath.Join(g, "edges.csv")
	for _, odd := range []string{pipe, "/dev/zero"} {
		for _, arguments := range [][]string{
			{"predict", "--model", model, "--backend", "go", "--nodes", odd, "--edges", edges},
			{"predict", "--model", odd, "--backend", "go", "--nodes", nodes, "--edges", edges},
			{"predict", "--all", "--model", odd, "--data", g}, {"export", odd, "-o", filepath.Join(dir, "o")},
			{"tree", "--data", odd, "--root", "a"}, {"reproduce", "again", odd}, {"data", "describe", odd},
			{"page", "--data", odd, "-o", filepath.Join(dir, "page.html")}, {"explain", "--model", odd, "--node", "1"},
		} {
			code, out, diagnostics := nodemask(t, arguments...)
			require.NotZero(t, code, arguments)
			require.Empty(t, out, arguments)
			require.Regexp(t, "regular file|not a graph", diagnostics, arguments)
		}
	}
}
