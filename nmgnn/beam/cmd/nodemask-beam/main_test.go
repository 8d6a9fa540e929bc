package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHelpThatCannotBeWrittenIsAFailure(t *testing.T) {
	if os.Getenv("NODEMASK_BEAM_HELP") != "" {
		os.Exit(run([]string{"--help"}))
	}
	for file, want := range map[string]int{"/dev/full": 1, filepath.Join(t.TempDir(), "help"): 0} {
		out, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE, 0o600)
		if err != nil {
			t.Skipf("skipped: %v", err) // no /dev/full
		}
		help := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
		help.Env, help.Stdout = append(os.Environ(), "NODEMASK_BEAM_HELP=1"), out
		_ = help.Run() // its exit code tells
		require.NoError(t, out.Close())
		require.Equal(t, want, help.ProcessState.ExitCode(), file)
	}
}
