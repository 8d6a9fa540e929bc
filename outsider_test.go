package nodemask_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/internal/checkout"
	"nodemask/nmgnn/backend"
)

// TestProgramsOfOthersCompileAndRun builds programs in a separate module, which cannot import internal packages, and
// runs each on every backend.
func TestProgramsOfOthersCompileAndRun(t *testing.T) {
	root, err := checkout.Root()
	require.NoError(t, err)
	if _, err := exec.LookPath("go"); errors.Is(err, exec.ErrNotFound) {
		t.Skipf("skipped: %v", err)
	}
	for name, says := range map[string]string{
		"lines": "macro F1 above 0.9: true\nas it was saved: true true\na twin of node 0: true true\n",
		"own":   "accuracy above 0.8: true\nas it was saved: true\nby nodemask's loops: true\n",
		"pna":   "macro F1 above 0.7: true\nas it was saved: true true\nfrom 2 nodes\n",
	} {
		dir := t.TempDir()
		program, err := os.ReadFile(filepath.Join("testdata", "outsider", name, "main.go"))
		require.NoError(t, err)
		version, err := exec.Command("go", "env", "GOVERSION").Output()
		require.NoError(t, err)
		for file, text := range map[string]string{
			"main.go": string(program),
			"go.mod":  "module example.org/outsider\n\ngo " + string(version[len("go"):]),
			"go.work": fmt.Sprintf("go %s\nuse .\nuse %q\n", version[len("go"):], root),
		} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
		}
		build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", "program", ".")
		build.Dir, build.Env = dir, append(os.Environ(), "GOPROXY=off", "GOWORK=")
		out, err := build.CombinedOutput()
		require.NoError(t, err, "%s: %s", name, out)
		if name != "own" { // GoMLX opens its backend
			requireSaysWhereThePluginIs(t, dir)
		}
		for _, id := range []string{"go", "xla:cpu"} {
			t.Run(name+" on "+id, func(t *testing.T) {
				b, err := backend.Open(id)
				if err != nil {
					t.Skipf("skipped: %v", err)
				}
				b.Finalize()
				run := exec.Command(filepath.Join(dir, "program"), filepath.Join(dir, "m.safetensors"))
				run.Dir, run.Env = dir, append(os.Environ(), "GOMLX_BACKEND="+id, "GOMLX_NO_AUTO_INSTALL=1",
					"PJRT_PLUGIN_LIBRARY_PATH="+filepath.Join(root, ".nodemask", "pjrt"))
				out, err := run.CombinedOutput()
				require.NoError(t, err, "%s", out)
				require.Equal(t, says, string(out))
			})
		}
	}
}

func requireSaysWhereThePluginIs(t *testing.T, dir string) {
	run := exec.Command(filepath.Join(dir, "program"), filepath.Join(dir, "m.safetensors"))
	run.Dir, run.Env = dir, []string{"HOME=" + dir, "GOMLX_BACKEND=xla:cpu", "GOMLX_NO_AUTO_INSTALL=1"}
	out, err := run.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "set PJRT_PLUGIN_LIBRARY_PATH to the folder that holds it, as a program of another "+
		"module must: to .nodemask/pjrt of a clone that is set up")
}
