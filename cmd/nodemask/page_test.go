package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
	for _, name := range []string{"playground.html", "nodemask.js", "front.js"} {
		require.FileExists(t, filepath.Join(site, name))
	}
}
