package home

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// asked is set in this test's child process, which reports $HOME.
const asked = "NODEMASK_TEST_HOME"

func TestHomeIsAFolderUntilItIsRestored(t *testing.T) {
	if os.Getenv(asked) != "" {
		during := os.Getenv("HOME")
		require.NoError(t, Restore())
		after, set := os.LookupEnv("HOME")
		fmt.Printf("during %q after %q %v\n", during, after, set)
		return
	}
	without := slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "HOME=") })
	for want, env := range map[string][]string{
		`during "/nonexistent" after "" false`: nil,
		`during "/nonexistent" after "" true`:  {"HOME="},
		`during "/here" after "/here" true`:    {"HOME=/here"},
	} {
		c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		c.Env = append(append(slices.Clone(without), asked+"=1"), env...)
		out, err := c.CombinedOutput()
		require.NoError(t, err, string(out))
		require.Contains(t, string(out), want+"\n")
	}
}
