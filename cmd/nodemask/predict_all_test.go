package main

import (
	"encoding/csv"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryNodeOfAGraphIsEmbedded(t *testing.T) {
	model := filepath.Join(t.TempDir(), "small.safetensors")
	succeeds(t, "train", "--data", "sbm:nodes=90,classes=3", "--backend", "go", "--hidden", "8",
		"--max-epochs", "5", "--trials", "1", "--set", "readout=all", "--save-model", model)
	read := func(arguments ...string) [][]string {
		out, diagnostics := succeeds(t, append([]string{"predict", "--all", "--model", model, "--data", "sbm:nodes=90,classes=3",
			"--backend", "go"}, arguments...)...)
		require.Regexp(t, `\n90 nodes, [38] numbers each, MAD 0\.\d{4}\n$`, "\n"+diagnostics)
		rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		require.NoError(t, err)
		require.Len(t, rows, 91)
		return rows
	}
	logits, hidden, second := read("--layer", "logits"), read(), read("--layer", "2")
	require.Equal(t, []string{"id", "class", "predicted", "probability", "h0", "h1", "h2"}, logits[0])
	require.Len(t, hidden[0], 4+8)
	require.Equal(t, hidden, second, "with a readout, the last layer is hidden too")
	for _, row := range logits[1:] {
		best, at := -1e9, 0
		for k, text := range row[4:] {
			x, err := strconv.ParseFloat(text, 64)
			require.NoError(t, err)
			if x > best {
				best, at = x, k
			}
		}
		require.Equal(t, strconv.Itoa(at), row[2], "the class with the greatest logit is predicted")
	}
	output := filepath.Join(t.TempDir(), "nodes.csv")
	out, _ := succeeds(t, "predict", "--all", "--model", model, "--data", "sbm:nodes=90,classes=3", "--backend", "go",
		"-o", output)
	require.Empty(t, out)
	require.Contains(t, fileText(t, output), "id,class,predicted,probability,h0,")

	refuses(t, []string{"predict", "--all"}, map[string][]string{
		`required flag(s) "model" not set`: {"--data", "cora"},
		"--layer 3: expected hidden, logits, or 1 to 2": {"--model", model, "--data", "sbm:nodes=90,classes=3", "--layer",
			"3"},
		"--output x.txt: expected a name that ends in .csv": {"--model", model, "-o", "x.txt"},
		"--data cora: 1433 features a node: expected ":      {"--model", model},
	})
	for _, command := range [][]string{{"predict", "--all"}, {"explain", "--node", "1"}} {
		require.Equal(t, "nodemask: --model no-such-model: no such file or directory\n",
			fails(t, 1, "", append(command, "--model", "no-such-model")...))
	}
}
