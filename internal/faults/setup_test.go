package faults_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/internal/checkout"
	"nodemask/internal/faults"
)

// fakePython fetches nothing: its pip creates the files of the plugin's wheel.
const fakePython = `#!/bin/sh
while [ $# -gt 0 ]; do
    if [ "$1" = --target ]; then
        mkdir -p "$2/lammps_jax_pjrt_cpu" "$2/a.dist-info/licenses"
        echo plugin >"$2/lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so"
    fi
    shift
done
`

// killedAt runs a script that is killed before its n-th command; 0: never. It returns its error.
func killedAt(t *testing.T, n int, project, script string, environment ...string) error {
	t.Helper()
	const counted = `n=0; set -T; trap '((++n == KILL_AT)) && kill -9 $$' DEBUG; source "$0"`
	c := exec.Command("bash", "-c", counted, filepath.Join(project, script))
	c.Dir = project
	c.Env = append(os.Environ(), append(environment, fmt.Sprintf("KILL_AT=%d", n))...)
	said, err := c.CombinedOutput()
	var status *exec.ExitError
	if errors.As(err, &status) && status.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL && n > 0 {
		return err
	}
	require.NoError(t, err, "%s", said)
	return nil
}

// setUp returns a project with set-up's files, with the fake Python in its environment.
func setUp(t *testing.T) (project string, environment []string) {
	t.Helper()
	if _, err := exec.LookPath("flock"); err != nil || runtime.GOOS+runtime.GOARCH != "linuxamd64" {
		t.Skip("skipped: set-up installs this plugin, and sweeps, on Linux x86-64 with flock")
	}
	root, err := checkout.Root()
	require.NoError(t, err)
	project = filepath.Join(t.TempDir(), "ein Ordner, ä")
	tools := filepath.Join(t.TempDir(), "tools")
	for _, folder := range []string{filepath.Join(project, "scripts"), tools} {
		require.NoError(t, os.MkdirAll(folder, 0o777))
	}
	for _, name := range []string{"setup.sh", "cgo.sh", "pjrt-cpu.requirements.txt"} {
		content, err := os.ReadFile(filepath.Join(root, "scripts", name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(project, "scripts", name), content, 0o777))
	}
	require.NoError(t, os.WriteFile(filepath.Join(tools, "python3"), []byte(fakePython), 0o777))
	return project, []string{"PATH=" + tools + ":" + os.Getenv("PATH"), "CGO_ENABLED=1", "PJRT="}
}

func TestADamagedPluginIsInstalledAnewByTheNextSetUp(t *testing.T) {
	project, environment := setUp(t)
	plugin := filepath.Join(project, ".nodemask", "pjrt", "pjrt_c_api_cpu_plugin.so")
	for _, damage := range []func() error{
		func() error { return os.WriteFile(plugin, []byte("plug!n\n"), 0o777) },
		func() error { return os.Remove(plugin) },
		func() error { return os.Truncate(plugin, 3) },
		func() error { return os.Remove(filepath.Join(filepath.Dir(plugin), "sums")) },
	} {
		require.NoError(t, killedAt(t, 0, project, "scripts/setup.sh", environment...))
		before, err := os.Stat(plugin)
		require.NoError(t, err)
		require.NoError(t, killedAt(t, 0, project, "scripts/setup.sh", environment...))
		again, err := os.Stat(plugin)
		require.NoError(t, err)
		require.True(t, os.SameFile(before, again), "one that is whole stays")
		require.NoError(t, damage())
		require.NoError(t, killedAt(t, 0, project, "scripts/setup.sh", environment...))
		content, err := os.ReadFile(plugin)
		require.NoError(t, err)
		require.Equal(t, "plugin\n", string(content))
	}
}

func TestASetUpThatIsKilledAtAnyCommandIsDoneByTheNext(t *testing.T) {
	project, environment := setUp(t)
	plugin := filepath.Join(project, ".nodemask", "pjrt")
	whole := func() bool {
		for _, name := range []string{"installed", "sums", "licenses", "pjrt_c_api_cpu_plugin.so"} {
			if _, err := os.Stat(filepath.Join(plugin, name)); err != nil {
				return false
			}
		}
		return true
	}
	stride := 9
	if os.Getenv(faults.Torture) != "" {
		stride = 1
	}
	for n := 1; ; n += stride {
		require.Less(t, n, 500)
		require.NoError(t, os.RemoveAll(filepath.Join(project, ".nodemask")))
		if killedAt(t, n, project, "scripts/setup.sh", environment...) == nil {
			require.Greater(t, n, 15, "commands")
			t.Logf("killed %d times in about %d commands", (n-1)/stride, n-1)
			return
		}
		if _, err := os.Stat(plugin); err == nil {
			require.True(t, whole(), "half a plugin after command %d", n)
		}
		require.NoError(t, killedAt(t, 0, project, "scripts/setup.sh", environment...))
		require.True(t, whole(), "after command %d", n)
		entries, err := os.ReadDir(filepath.Join(project, ".nodemask"))
		require.NoError(t, err)
		for _, e := range entries {
			require.False(t, strings.HasPrefix(e.Name(), "setup.") && e.IsDir(), "%s was left by command %d", e.Name(), n)
		}
	}
}
