package main

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNoCommandSucceedsWhoseOutputCannotBeWritten(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skipf("skipped: %v", err)
	}
	folder, cell := someResults(t)
	graph := smallGraph(t)
	for _, command := range [][]string{
		{"--help"}, {"help", "train"}, {"train", "--help"}, {"tree", "--help"}, {"results"}, {"--version"}, {"completion",
			"bash"},
		{"results", "list", "--results", folder}, {"results", "show", cell.Key(), "--results", folder}, {"results", "verify",
			"--results", folder},
		{"results", "export", "--results", folder}, {"results", "merge", folder, "--results", t.TempDir()},
		{"report", "--format", "text", "--results", folder}, {"reproduce", "--list"},
		{"multiverse", "--list"}, {"multiverse", "--status", "--results", t.TempDir()},
		{"data", "list"}, {"data", "info", graph}, {"data", "describe", graph}, {"data", "verify", graph},
		{"tree", "--data", graph, "--root", "0"}, {"tree", "--data", graph, "--root", "0", "--count"}, {"tree", "--data",
			graph, "--root", "0", "--format", "json"},
		quickTrain(graph), quickTrain(graph, "--json"),
	} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		require.NoError(t, err)
		code, diagnostics := nodemaskInto(t, full, command...)
		require.NoError(t, full.Close())
		assert.Equal(t, 1, code, "%v: %s", command, diagnostics)
		assert.Contains(t, diagnostics, "no space left on device", command)
		assert.Equal(t, 1, strings.Count(diagnostics, "nodemask: "), "%v: %s", command, diagnostics)
	}
}

func TestWhatAFlagCannotBeIsSaidInWordsByEveryCommand(t *testing.T) {
	checked := 0
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		c.InitDefaultHelpFlag()
		c.Flags().VisitAll(func(flag *pflag.Flag) {
			switch flag.Value.Type() {
			case "string", "stringSlice", "value": // what these can be, the command says
				return
			}
			checked++
			args := append(strings.Fields(c.CommandPath())[1:], "--"+flag.Name+"=perhaps")
			code, out, diagnostics := nodemask(t, args...)
			require.Equal(t, 2, code, args)
			require.Empty(t, out, args)
			require.Regexp(t, `^nodemask: invalid argument "perhaps" for "[^"]+" flag: expected [a-z0 ]+\n$`, diagnostics, args)
		})
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(newRootCommand())
	require.Greater(t, checked, 40)
}
