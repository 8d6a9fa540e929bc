// Package notebooktest_test checks the committed notebooks, their pages, and JupyterLab, in a browser.
package notebooktest_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	project   = "../.."
	notebooks = project + "/notebooks"
)

// notebook is the part of an .ipynb file that these tests read.
type notebook struct {
	Cells []struct {
		ID             string            `json:"id"`
		Type           string            `json:"cell_type"`
		ExecutionCount *int              `json:"execution_count"`
		Outputs        []json.RawMessage `json:"outputs"`
		Source         []string          `json:"source"` // decoding rejects a single string: lines can be compared
		Metadata       map[string]any    `json:"metadata"`
	} `json:"cells"`
	Metadata struct {
		Kernel struct {
			Name string `json:"name"`
		} `json:"kernelspec"`
	} `json:"metadata"`
}

func TestNotebooksAreCommittedWithoutOutputs(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(notebooks, "*.ipynb"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			var n notebook
			require.NoError(t, json.Unmarshal(data, &n), "'make notebooks' mends it")
			assert.Equal(t, "nodemask", n.Metadata.Kernel.Name, "'make notebooks' mends it")
			ids := map[string]bool{}
			for i, c := range n.Cells {
				assert.Regexp(t, `^[a-zA-Z0-9_-]{1,64}$`, c.ID, "cell %d", i+1)
				assert.False(t, ids[c.ID], "the id %s is there twice", c.ID)
				ids[c.ID] = true
				assert.Empty(t, c.Outputs, "cell %d has outputs: 'make notebooks' clears them", i+1)
				assert.Nil(t, c.ExecutionCount, "cell %d has been run: 'make notebooks' clears that", i+1)
				for name := range c.Metadata {
					assert.Equal(t, "tags", name, "metadata of cell %d: 'make notebooks' clears it", i+1)
				}
			}
		})
	}
}

func TestWhatRunsAndRendersNotebooks(t *testing.T) {
	for _, module := range []string{"test_reports", "test_runs"} {
		t.Run(module, func(t *testing.T) { unittest(t, filepath.Join("scripts", "reports"), module) })
	}
}

func TestTheKernelAsksNobody(t *testing.T) {
	unittest(t, filepath.Join("scripts", "lab"), "test_kernel")
}

func TestTheWheelsModule(t *testing.T) {
	python, err := filepath.Abs(filepath.Join(project, ".nodemask", "peers", "torch", "bin", "python"))
	require.NoError(t, err)
	for _, needed := range []string{python, filepath.Join(project, "bin", "nodemask")} {
		if _, err := os.Stat(needed); err != nil {
			t.Skip("needs the command, and PyTorch Geometric: run 'make build' and 'scripts/peers/setup.sh .nodemask/peers'")
		}
	}
	unittestBy(t, python, filepath.Join("scripts", "release"), "test_library")
}

// unittest runs the Python tests in a folder of the project.
func unittest(t *testing.T, folder, module string) { unittestBy(t, labPython(t), folder, module) }

func unittestBy(t *testing.T, python, folder, module string) {
	t.Parallel()
	c := exec.Command(python, "-B", "-m", "unittest", "-q", module)
	c.Dir = filepath.Join(project, folder)
	out, err := c.CombinedOutput()
	assert.NoError(t, err, "%s", out)
}

// labPython returns the notebooks' Python, or skips the test.
func labPython(t *testing.T) string {
	python, err := filepath.Abs(filepath.Join(project, ".nodemask", "lab", "bin", "python"))
	require.NoError(t, err)
	if _, err := os.Stat(filepath.Join(python, "..", "..", "kernel-installed")); err != nil {
		t.Skip("needs JupyterLab: run 'make setup-lab'")
	}
	return python
}
