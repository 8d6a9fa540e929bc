package main

import (
	"bytes"
	"encoding/json"
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
	folder, _ := someResults(t)
	graph := smallGraph(t)
	for _, command := range [][]string{
		{"--help"}, {"help", "train"}, {"train", "--help"}, {"tree", "--help"}, {"--version"}, {"completion",
			"bash"},
		{"reproduce", "verify", "--results", folder}, {"report", "--format", "text", "--results", folder},
		{"reproduce", "--list"}, {"report", "scale", "--results", "../../results"},
		{"data", "list"}, {"data", "describe", graph},
		{"tree", "--data", graph, "--root", "0"}, {"tree", "--data", graph, "--root", "0", "--count"},
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
		if c.Hidden {
			return
		}
		c.InitDefaultHelpFlag()
		c.Flags().VisitAll(func(flag *pflag.Flag) {
			switch flag.Value.Type() {
			case "string", "stringSlice", "value": // the command lists their values
				return
			}
			checked++
			args := append(strings.Fields(c.CommandPath())[1:], "--"+flag.Name+"=perhaps")
			diagnostics := fails(t, 2, "", args...)
			require.Regexp(t, `^nodemask: invalid argument "perhaps" for "[^"]+" flag: expected [a-z0 ]+\n$`, diagnostics, args)
		})
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(newRootCommand())
	require.Greater(t, checked, 40)
}

func TestWhatIsNotThereIsMisuse(t *testing.T) {
	for want, args := range map[string][]string{
		"nodemask: unknown flag: --modle\n":                                                 {"train", "--modle", "gin"},
		"nodemask: unknown command \"trian\" for \"nodemask\"; Did you mean this?; train\n": {"trian"},
		"nodemask: expected 'nodemask data [flags]', found 'nodemask data lsit'\n":          {"data", "lsit"},
		`"coar": no such data set`:                                                          {"tree", "--data", "coar", "--root", "5"},
		"table-gta":                                                                         {"report", "table-gta"},
	} {
		assert.NotContains(t, fails(t, 2, want, args...), "backend:", args)
	}
}

func TestARetiredCommandSaysWhatToCall(t *testing.T) {
	for word, now := range map[string]string{"demo": "train --preset paper --trials 3", "bench": "make bench",
		"embed": "predict --all", "multiverse": "reproduce", "results": "report"} {
		stderr := fails(t, 2, now, word, "--model", "x")
		require.Contains(t, stderr, "nodemask: there is no command "+word+" any more: use '")
	}
}

func TestHelpOfACommandSucceeds(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"help", "train"}, {"help", "data", "list"}, {"data", "--help"}} {
		out, diagnostics := succeeds(t, args...)
		assert.Contains(t, out, "Usage:", args)
		assert.Empty(t, diagnostics, args)
	}
}

func TestErrorsAreOneLine(t *testing.T) {
	assert.Equal(t, "nodemask: setting \"transductiv\": expected \"inductive\" or \"transductive\"\n",
		fails(t, 2, "", "train", "--setting", "transductiv"))
	assert.Equal(t, "nodemask: --set: norm: \"insid\": expected one of [\"none\" \"inside\" \"both\"]\n",
		fails(t, 2, "", "train", "--set", "norm=insid"))
	assert.Equal(t, "a; b", plain("a\n\nb\na"))
}

func TestPredictionsObeyNoTextOfAFile(t *testing.T) {
	const id = "a\x1b[31m\u009b31m\u202eé\x7f"
	var b bytes.Buffer
	require.NoError(t, json.NewEncoder(plainJSON{&b}).Encode(id))
	require.Equal(t, "\"a\\u001b[31m\\u009b31m\\u202eé\\u007f\"\n", b.String())
	var back string
	require.NoError(t, json.Unmarshal(b.Bytes(), &back))
	require.Equal(t, id, back)
}

func TestTablesOnATerminalObeyNoTextOfAFile(t *testing.T) {
	require.Equal(t, "\ufffd]0;x\ufffd\ufffd\ufffdé", shown("\x1b]0;x\a\u202e\u009bé"))
}
