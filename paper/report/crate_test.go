package report

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheCrateIsThatOfTheCommittedResults(t *testing.T) {
	file := filepath.Join("..", "..", CrateFile)
	var text bytes.Buffer
	require.NoError(t, WriteCrate(&text, "../../results"))
	if *update {
		require.NoError(t, os.WriteFile(file, text.Bytes(), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, string(want) == text.String(), "'go test ./paper/report -run Crate -update' writes it anew")
}

// TestTheCrateIsTakenByPythonsReader needs Python's rocrate (0.16.0): NODEMASK_PYTHON names a Python that has it.
func TestTheCrateIsTakenByPythonsReader(t *testing.T) {
	python := os.Getenv("NODEMASK_PYTHON")
	if python == "" {
		python = "python3"
	}
	if exec.CommandContext(t.Context(), python, "-c", "import rocrate").Run() != nil {
		t.Skip("skipped: no Python with rocrate: 'pip install rocrate==0.16.0' in one that NODEMASK_PYTHON names")
	}
	said, err := exec.CommandContext(t.Context(), python, "testdata/check_crate.py", "../..").CombinedOutput()
	require.NoError(t, err, "%s", said)
}

func TestACrateWithoutOneOfItsFilesSaysWhich(t *testing.T) {
	root := t.TempDir()
	results := filepath.Join(root, "results")
	require.NoError(t, os.Mkdir(results, 0o755))
	require.ErrorContains(t, WriteCrate(&bytes.Buffer{}, results), "CITATION.cff")
	cff := filepath.Join(root, "CITATION.cff")
	require.NoError(t, os.WriteFile(cff, []byte("version: 1\n"), 0o644))
	require.ErrorContains(t, WriteCrate(&bytes.Buffer{}, results), "no date-released")
	require.NoError(t, os.WriteFile(cff, []byte("version: 1\ndate-released: 2026-01-01\n"), 0o644))
	require.ErrorContains(t, WriteCrate(&bytes.Buffer{}, results), "claims.json")
}
