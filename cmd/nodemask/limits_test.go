package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWithoutAHomeNothingIsLogged(t *testing.T) {
	without := slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "HOME=") })
	for _, env := range [][]string{without, append(slices.Clone(without), "HOME=")} {
		c := exec.Command(os.Args[0], "-test.run=^$") // all packages of the command are initialised in it, too
		c.Env = env
		out, err := c.CombinedOutput()
		require.NoError(t, err)
		require.NotContains(t, string(out), "home directory")
	}
}

func TestTrainingUnderAnAddressLimit(t *testing.T) {
	if os.Getenv("NODEMASK_TORTURE") != "1" || runtime.GOOS != "linux" {
		t.Skip("skipped: takes a minute on Linux: run it with NODEMASK_TORTURE=1")
	}
	// Below some 1.3 GB Go's own start fails, before any of the program runs.
	for _, megabytes := range []int{1500, 1750, 1800, 2000, 2500, 3000, 3500, 5000} {
		limited := fmt.Sprintf("ulimit -v %d; exec %q train --data cora --trials 1 --max-epochs 3 --hidden 4", megabytes<<10,
			os.Args[0])
		for range 3 {
			var diagnostics strings.Builder
			c := exec.Command("sh", "-c", limited)
			c.Stderr = &diagnostics
			err := c.Run()
			// The backend, that nothing is masked, and that three epochs are too few: or two of them and the error.
			require.LessOrEqual(t, strings.Count(diagnostics.String(), "\n"), 3, "%d MiB: %s", megabytes, diagnostics.String())
			if err != nil {
				require.Equal(t, 1, c.ProcessState.ExitCode(), megabytes)
				require.Contains(t, diagnostics.String(), "nodemask: this process may have ", megabytes)
			}
		}
	}
}

// Of each format one that takes some 250 MB or more to read.
func TestUnderALimitOnAddressesReadersSayWhyInOneLine(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("skipped: ulimit -v is kept on Linux alone")
	}
	const n = 300_000
	dir := t.TempDir()
	nodes := func(name, head, line, tail string) {
		b := bytes.NewBufferString(head)
		for v := range n {
			fmt.Fprintf(b, line, v, v%5)
		}
		b.WriteString(tail)
		put(t, dir, name, b.String())
	}
	nodes("nodes.csv", "id,label\n", "%0500d,%d\n", "")
	nodes("edges.csv", "source,target\n", "%0500d,%[1]d\n", "")
	nodes("g.json", `{"nodes":[{"id":"z"}`, `,{"id":"%0500d","label":%d}`, `],"links":[]}`)
	nodes("g.graphml", `<graphml><graph edgedefault="undirected">`, `<node id="%0500d%d"/>`, "</graph></graphml>")
	var npz bytes.Buffer
	z := zip.NewWriter(&npz)
	for name, length := range map[string]int{"adj_indptr": 1<<24 + 1, "adj_indices": 0, "labels": 1 << 24,
		"adj_shape": 2} {
		array := append(fmt.Appendf(nil, "\x93NUMPY\x01\x00\x76\x00%-117s\n",
			fmt.Sprintf("{'descr': '<i8', 'fortran_order': False, 'shape': (%d,)}", length)), make([]byte, 8*length)...)
		if length == 2 { // twice 1<<24
			array[128+3], array[128+11] = 1, 1
		}
		w, err := z.Create(name + ".npy")
		require.NoError(t, err)
		_, err = w.Write(array)
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	put(t, dir, "g.npz", npz.String())
	pickle := "\x80\x02]" + strings.Repeat("("+strings.Repeat("K\x01", 1000)+"e", 30_000) + "."
	for _, part := range []string{"x", "y", "tx", "ty", "allx", "ally", "graph"} {
		put(t, dir, "ind.cora."+part, pickle)
	}
	put(t, dir, "ind.cora.test.index", "1\n")
	for _, name := range []string{".", "g.json", "g.graphml", "g.npz", "cora"} {
		const megabytes = 2000 // at which each is refused
		var out, diagnostics strings.Builder
		limited := fmt.Sprintf("ulimit -v %d; exec %q data describe %q --data-dir .", megabytes<<10, os.Args[0], name)
		c := exec.Command("sh", "-c", limited)
		c.Stdout, c.Stderr, c.Dir = &out, &diagnostics, dir
		require.Error(t, c.Run(), name)
		require.Equal(t, 1, c.ProcessState.ExitCode(), name)
		require.Empty(t, out.String(), name)
		require.Regexp(t, "of memory more|may still have", diagnostics.String(), name)
		require.Equal(t, 1, strings.Count(diagnostics.String(), "\n"), name)
	}
}
