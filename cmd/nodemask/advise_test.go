package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/internal/advice"
	"nodemask/internal/worker"
)

func TestAdviseSaysWhatItCannotDoInALineAndExitCode2(t *testing.T) {
	dir := t.TempDir()
	write := func(name, nodes string) string {
		folder := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(folder, 0o777))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "nodes.csv"), []byte(nodes), 0o666))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "edges.csv"), []byte("source,target\na,b\nb,c\n"), 0o666))
		return folder
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"no model \"gni\"", []string{"--models", "gni"}},
		{"Did you mean cora?", []string{"--data", "coar"}},
		{"--budget 0s: expected a time above 0", []string{"--budget", "0s"}},
		{"--budget", []string{"--budget", "5"}},
		{"--train 0: expected 1 to 99", []string{"--train", "0"}},
		{"--setting", []string{"--setting", "both"}},
		{"--jobs 0: expected at least 1", []string{"--jobs", "0"}},
		{"there is no folder", []string{"-o", filepath.Join(dir, "nowhere", "x.html")}},
		{"advice.txt: expected a name that ends in .html", []string{"-o", filepath.Join(dir, "advice.txt")}},
		{"has 1 classes: expected at least two", []string{"--data", write("one", "id,label,x\na,red,1\nb,red,0\nc,red,1\n")}},
		{"change the shares or use a larger graph", []string{"--data", write("three",
			"id,label,x\na,red,1\nb,green,0\nc,red,1\n")}},
	} {
		code, out, diagnostics := nodemask(t, append([]string{"advise"}, c.args...)...)
		assert.Equal(t, 2, code, c.args)
		assert.Empty(t, out, c.args)
		assert.Contains(t, diagnostics, c.want)
		assert.Equal(t, 1, errorLines(diagnostics), diagnostics)
	}
}

// easyGraph is a folder with a graph whose only feature is the class, so that all models score the same.
func easyGraph(t *testing.T) string {
	folder := filepath.Join(t.TempDir(), "easy")
	require.NoError(t, os.Mkdir(folder, 0o777))
	nodes, edges := "id,label,a,b\n", "source,target\n"
	for v := range 80 {
		nodes += fmt.Sprintf("n%d,c%d,%d,%d\n", v, v%2, v%2, 1-v%2)
		edges += fmt.Sprintf("n%d,n%d\n", v, (v+2)%80)
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "nodes.csv"), []byte(nodes), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "edges.csv"), []byte(edges), 0o666))
	return folder
}

func TestAdviseAnswersKeepsItsTrialsAndWritesAPage(t *testing.T) {
	t.Setenv("GOMLX_BACKEND", "go")
	data, folder, page := easyGraph(t), t.TempDir(), filepath.Join(t.TempDir(), "advice.html")
	arguments := []string{"advise", "--data", data, "--models", "gcn", "--setting", "transductive", "--train", "30",
		"--results", folder, "--budget", "1h"}
	code, out, diagnostics := nodemask(t, append(arguments, "-o", page)...)
	require.Zero(t, code, diagnostics)
	require.Contains(t, out, "On "+data+" nothing gains GCN a point")
	require.Contains(t, out, "Use GCN without any: 100.0.")
	require.Contains(t, out, "nodemask train --data "+data+" --model gcn --setting transductive --train 30")
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(text), "What helps on "+data)
	kept := contents(t, folder)
	require.Len(t, kept, 1)

	code, out, diagnostics = nodemask(t, append(arguments, "--json")...)
	require.Zero(t, code, diagnostics)
	require.Equal(t, kept, contents(t, folder), "nothing is trained again")
	var a advice.Advice
	require.NoError(t, json.Unmarshal([]byte(out), &a))
	require.True(t, a.Settled)
	require.Len(t, a.Questions[0].Arms, 7)
	require.Len(t, a.Questions[0].Arms[0].F1, 8)

	// The same name with other content is another graph.
	require.NoError(t, os.WriteFile(filepath.Join(data, "edges.csv"), []byte("source,target\nn1,n3\n"), 0o666))
	code, out, _ = nodemask(t, append(arguments, "--json", "--budget", "1ns")...)
	require.Zero(t, code)
	require.Contains(t, out, "nothing is known of GCN yet")

	code, _, diagnostics = nodemask(t, append(arguments, "-o", filepath.Join(data, "nodes.csv"))...)
	require.Equal(t, 2, code, "what it reads is not written over")
	require.Contains(t, diagnostics, "expected another file")
}

func TestAdviceIsServedToNotebooks(t *testing.T) {
	t.Setenv("GOMLX_BACKEND", "go")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	events := served(t, worker.Request{Advise: &worker.Advising{Data: easyGraph(t), Models: []string{"gcn"},
		Budget: time.Nanosecond}})
	require.Len(t, events, 1)
	require.NotNil(t, events[0].Advice)
	require.Contains(t, events[0].Advice.Sentence, "nothing is known of GCN yet")
}
