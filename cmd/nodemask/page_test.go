package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/internal/page"
	"nodemask/nmgnn/backend"
)

func TestAPageIsWrittenWithAGraphOfOnesOwnOrNotAtAll(t *testing.T) {
	// The helper below gives commands an empty cache: what Go has compiled is to stay at hand.
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	require.NoError(t, err)
	t.Setenv("GOCACHE", strings.TrimSpace(string(cache)))
	folder := t.TempDir()
	output := filepath.Join(folder, "page.html")
	for want, data := range map[string]string{
		"there is no such file or folder": filepath.Join(folder, "nowhere"),
		"expected nodes.csv there":        folder,
		"a page has it without --data":    "pubmed",
	} {
		code, _, diagnostics := nodemask(t, "page", "--data", data, "-o", output)
		require.Equal(t, 2, code)
		require.Contains(t, diagnostics, want)
	}
	own := filepath.Join(folder, "fruit")
	require.NoError(t, os.Mkdir(own, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(own, "nodes.csv"), []byte("id,label,x\na,red,1\nb,green,none\n"), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(own, "edges.csv"), []byte("source,target\na,b\n"), 0o666))
	code, _, diagnostics := nodemask(t, "page", "--data", own, "-o", output)
	require.Equal(t, 2, code)
	require.Contains(t, diagnostics, "nodes.csv: line 3")
	require.NoFileExists(t, output)

	if testing.Short() {
		t.Skip("skipped: compiles a program")
	}
	require.NoError(t, os.WriteFile(filepath.Join(own, "nodes.csv"), []byte("id,label,x\na,red,1\nb,green,0\n"), 0o666))
	code, _, diagnostics = nodemask(t, "page", "--data", own, "-o", output)
	require.Zero(t, code, diagnostics)
	text, err := os.ReadFile(output)
	require.NoError(t, err)
	require.Contains(t, string(text), "<title>Node masking on fruit</title>")
	require.Contains(t, string(text), `"name":"nodes.csv"`)
	require.Contains(t, string(text), `id="nodemask-module"`)

	site := filepath.Join(folder, "site")
	code, _, diagnostics = nodemask(t, "page", "--site", site)
	require.Zero(t, code, diagnostics)
	for _, name := range []string{"playground.html", "nodemask.js", "front.js", "nodemask-exec.js",
		"nodemask.wasm.packed"} {
		require.FileExists(t, filepath.Join(site, name))
	}
	require.NoFileExists(t, filepath.Join(site, "data-citeseer.js"), "the data set is not at hand")
}

func TestRunsThatAPageSavedGoIntoAFolderOfResults(t *testing.T) {
	b, err := backend.Open("go")
	require.NoError(t, err)
	session := page.NewSession(b)
	defer session.Close()
	var saved string
	session.Handle(t.Context(), page.Request{Kind: "train", Seed: 1,
		Cell: page.Cell{Data: "sbm:nodes=100,classes=2", Model: "gin", Setting: "inductive", TrainPercent: 30,
			Choices: map[string]string{"hidden": "4", "epochs": "3"}}}, func(e page.Event) {
		if e.Trained != nil {
			saved += e.Trained.Record + "\n"
		}
	})
	folder, results := t.TempDir(), filepath.Join(t.TempDir(), "results")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "nodemask-runs.jsonl"), []byte(saved), 0o666))
	code, _, diagnostics := nodemask(t, "results", "merge", folder, "--results", results)
	require.Zero(t, code, diagnostics)
	code, out, _ := nodemask(t, "results", "list", "--results", results)
	require.Zero(t, code)
	require.Contains(t, out, "   1  go sbm:nodes=100,classes=2/gin/inductive/30%/")
	code, out, _ = nodemask(t, "results", "export", "--results", results)
	require.Zero(t, code)
	require.Regexp(t, `(?s)^data,model,setting,train_percent,.*\n"sbm:nodes=100,classes=2",gin,inductive,30,`, out)
	code, _, diagnostics = nodemask(t, "results", "export", "--results", results, "-o", filepath.Join(folder, "x.parquet"))
	require.Zero(t, code, diagnostics)
	require.Contains(t, diagnostics, "wrote 1 trials to ")
	code, _, diagnostics = nodemask(t, "results", "export", "--results", results, "-o", "x.xls")
	require.Equal(t, 2, code)
	require.Contains(t, diagnostics, "--output x.xls: expected a name that ends in .csv or .parquet")
	code, out, diagnostics = nodemask(t, "reproduce", "--again", filepath.Join(folder, "nodemask-runs.jsonl"))
	require.Zero(t, code, diagnostics)
	require.Contains(t, out, "the same to the last digit")
}
