package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/backend"
	"nodemask/page"
)

func TestAPageIsWrittenWithAGraphOfOnesOwnOrNotAtAll(t *testing.T) {
	// The helper below empties the cache, but Go's build cache must stay.
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	require.NoError(t, err)
	t.Setenv("GOCACHE", strings.TrimSpace(string(cache)))
	folder := t.TempDir()
	output := filepath.Join(folder, "page.html")
	for want, data := range map[string]string{
		"nowhere: no such file or directory":   filepath.Join(folder, "nowhere"),
		"nodes.csv: no such file or directory": folder,
	} {
		fails(t, 2, want, "page", "--data", data, "-o", output)
	}
	own := graphFolder(t, "fruit", "id,label,x\na,red,1\nb,green,none\n", "source,target\na,b\n")
	fails(t, 2, "nodes.csv: line 3", "page", "--data", own, "-o", output)
	require.NoFileExists(t, output)

	if testing.Short() {
		t.Skip("skipped: compiles a program")
	}
	put(t, own, "nodes.csv", "id,label,x\na,red,1\nb,green,0\n")
	succeeds(t, "page", "--data", own, "-o", output)
	text := fileText(t, output)
	require.Contains(t, text, "<title>Node masking on fruit</title>")
	require.Contains(t, text, `"name":"nodes.csv"`)
	require.Contains(t, text, `id="nodemask-module"`)

	site := filepath.Join(folder, "site")
	succeeds(t, "page", "--site", site)
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
	out, _ := succeeds(t, "reproduce", "again", put(t, t.TempDir(), "nodemask-runs.jsonl", saved))
	require.Contains(t, out, "the same to the last digit")
}
