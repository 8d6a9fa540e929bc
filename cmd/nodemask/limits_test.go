package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWithoutAHomeNothingIsLoggedBeforeTheCommandBegins(t *testing.T) {
	without := slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "HOME=") })
	for _, env := range [][]string{without, append(slices.Clone(without), "HOME=")} {
		c := exec.Command(os.Args[0], "-test.run=^$") // all packages of the command are initialised in it, too
		c.Env = env
		out, err := c.CombinedOutput()
		require.NoError(t, err)
		require.NotContains(t, string(out), "home directory")
	}
}

func TestUnderALimitOnAddressesTrainingWorksOrSaysWhyInOneLine(t *testing.T) {
	if os.Getenv("NODEMASK_TORTURE") != "1" || runtime.GOOS != "linux" {
		t.Skip("skipped: builds the command and takes a minute on Linux: run it with NODEMASK_TORTURE=1")
	}
	program := filepath.Join(t.TempDir(), "nodemask")
	built, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput()
	require.NoError(t, err, string(built))
	// Below some 1.3 GB Go's own start fails, before any of the program runs.
	for _, megabytes := range []int{1500, 1750, 1800, 2000, 2500, 3000, 3500, 5000} {
		limited := fmt.Sprintf("ulimit -v %d; exec %q train --data cora --trials 1 --max-epochs 3 --hidden 4", megabytes<<10,
			program)
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

func TestAGraphThatIsTooLargeToTrainOnIsRefusedBeforeItIsGenerated(t *testing.T) {
	const name = "sbm:nodes=50000000,classes=10000" // some GB themselves, and TB in training
	code, out, diagnostics := nodemask(t, "train", "--data", name, "--backend", "go")
	require.Equal(t, 1, code)
	require.Empty(t, out)
	require.Contains(t, diagnostics, "nodemask: "+name+": 2 layers of width 64 on 50000000 nodes with 16 features and "+
		"10000 classes take about ")
}
