package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/nmgnn"
	"nodemask/nmgnn/beam/internal/layerwise"
	"nodemask/nmgnn/cached"
	"nodemask/nmgnn/hyper"
	"nodemask/nmgnn/infer"
	"nodemask/nmgnn/internal/gnntest"
)

func TestMain(m *testing.M) {
	if args := os.Getenv("NODEMASK_BEAM_ARGS"); args != "" {
		layerwise.Register()
		os.Exit(run(strings.Split(args, " ")))
	}
	os.Exit(m.Run())
}

func command(args string, environment ...string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(append(os.Environ(), "NODEMASK_BEAM_ARGS="+args), environment...)
	return c
}

func TestARunLeavesNoTemporaryFiles(t *testing.T) {
	data := t.TempDir()
	for name, text := range map[string]string{"nodes.csv": "id,a\nx,1\ny,2\n", "edges.csv": "source,target\nx,y\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(data, name), []byte(text), 0o600))
	}
	p, err := hyper.For("sage")
	require.NoError(t, err)
	m := &cached.Model{Settings: p, Classes: []string{"red", "blue"}, Features: 1}
	network, err := infer.Untrained(gnntest.Go(t), nmgnn.Build(p, 2), 1, 1)
	require.NoError(t, err)
	m.Weights = network.Weights
	model := filepath.Join(t.TempDir(), "model.safetensors")
	require.NoError(t, m.Save(model))
	for layer, want := range map[string]int{"1": 0, "9": 2} {
		temporary, out := t.TempDir(), t.TempDir()
		c := command("embed --model "+model+" --data "+data+" --work "+t.TempDir()+" -o "+out+" --layer "+layer,
			"TMPDIR="+temporary)
		said, _ := c.CombinedOutput() // the exit code is checked below
		require.Equal(t, want, c.ProcessState.ExitCode(), "%s", said)
		left, err := os.ReadDir(temporary)
		require.NoError(t, err)
		require.Empty(t, left)
	}
}
