package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestANodesPredictionIsExplainedInEveryFormat(t *testing.T) {
	const data = "sbm:nodes=90,classes=3"
	folder := t.TempDir()
	model := filepath.Join(folder, "small.safetensors")
	succeeds(t, "train", "--data", data, "--backend", "go", "--hidden", "8", "--max-epochs", "5",
		"--trials", "1", "--save-model", model)
	explained := func(arguments ...string) string {
		out, _ := succeeds(t, append([]string{"explain", "--model", model, "--data", data}, arguments...)...)
		return out
	}
	text := explained("--node", "17")
	require.Regexp(t, `^GIN says that node 17 is \d, with probability 0\.\d\d; it is \d\. Its logit is `, text)
	require.Contains(t, text, "The branches that decide")
	require.Contains(t, text, "The node's features that count")
	require.Equal(t, text, explained("--node", "17"))

	var nodes []int
	for line := range strings.Lines(explained("--node", "17,3", "--json", "--class", "2", "--masks", "50")) {
		var e struct {
			Node     int
			Class    string
			Logit    float64
			Alone    float64
			Branches []struct {
				Path  []int
				Share float64
			}
		}
		require.NoError(t, json.Unmarshal([]byte(line), &e))
		nodes = append(nodes, e.Node)
		require.Equal(t, "2", e.Class)
		sum := e.Alone
		for _, b := range e.Branches {
			require.Equal(t, e.Node, b.Path[0])
			sum += b.Share
		}
		require.InDelta(t, e.Logit, sum, 1e-4)
	}
	require.Equal(t, []int{17, 3}, nodes)

	for name, begins := range map[string]string{"why.svg": "<svg ", "why.HTML": "<!DOCTYPE html>"} {
		output := filepath.Join(folder, name)
		require.Equal(t, text, explained("--node", "17", "-o", output))
		require.True(t, strings.HasPrefix(fileText(t, output), begins))
	}

	command := []string{"explain", "--model", model, "--data", data}
	refuses(t, command, map[string][]string{
		`required flag(s) "node" not set`:             {},
		"--node 90: expected a node of " + data:       {"--node", "90"},
		"--node -1: expected a node of " + data:       {"--node", "-1"},
		"--node: 2 nodes: expected one, or --json":    {"--node", "1,2"},
		"--class x: expected one of ":                 {"--node", "17", "--class", "x"},
		"--class 3: expected one of ":                 {"--node", "17", "--class", "3"},
		"expected 1 to 16777216 masks":                {"--node", "17", "--masks", "99999999999"},
		"and 1 node or more":                          {"--node", "17", "--limit", "-1"},
		"--output x.txt: expected a name that ends":   {"--node", "17", "-o", "x.txt"},
		"[json output] were all set":                  {"--node", "17", "--json", "-o", "x.html"},
		"--data cora: 1433 features a node: expected": {"--node", "17", "--data", "cora"},
	})
	fails(t, 1, "but the limit is 2: ask for", append(command, "--node", "17", "--limit", "2")...)
}
