// Package faults runs a step of a test many times. In each run a different system call fails, or the process is killed
// before that call. The package needs strace on Linux.
package faults

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	stepVariable   = "NODEMASK_FAULTS_STEP"
	folderVariable = "NODEMASK_FAULTS_FOLDER"
	// Torture is the environment variable that turns on slow tests and lets [Each] try all faults.
	Torture = "NODEMASK_TORTURE"
	stride  = 11
)

var calls = []struct{ name, errno string }{
	{"openat", "EACCES"}, {"write", "ENOSPC"}, {"pwrite64", "ENOSPC"}, {"fsync", "EIO"}, {"flock", "ENOLCK"},
	{"ftruncate", "EIO"}, {"fchmod", "EPERM"}, {"renameat", "EIO"}, {"renameat2", "EIO"}, {"rename", "EIO"},
	{"mkdirat", "EACCES"}, {"unlinkat", "EACCES"}, {"close", "EIO"},
}

// Pin keeps the function under test on the process's first thread, the only one that strace follows. Call Pin in the
// test's init function.
func Pin() {
	if os.Getenv(stepVariable) != "" {
		runtime.LockOSThread()
	}
}

// Main replaces m.Run in TestMain: it runs the tests or, in a process that [Each] started, one step.
func Main(m *testing.M, steps map[string]func(folder string) error) {
	step := os.Getenv(stepVariable)
	if step == "" {
		os.Exit(m.Run())
	}
	if err := steps[step](os.Getenv(folderVariable)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Environment returns environment variables that make this test's program run the step on the folder.
func Environment(step, folder string) []string {
	return []string{stepVariable + "=" + step, folderVariable + "=" + folder}
}

// Test describes how to test one step under faults. A step is a function in [Main]'s parameter steps.
type Test struct {
	Step string
	// Prepare writes the step's input files, if any, into its empty folder.
	Prepare func(t *testing.T, folder string)
	// Holds checks what must be true of the folder however the step ends. finished is true if the step returned no
	// error.
	Holds func(t *testing.T, folder string, finished bool)
	// GoesOn runs the step again and requires the same result as if there had been no fault.
	GoesOn func(t *testing.T, folder string)
}

// Each runs f's step twice for each system call that the step makes on its folder. In one run the call returns an
// error; in the other run the process is killed before the call. Unless [Torture] is set, Each tries a sample of these
// runs.
func Each(t *testing.T, f Test) {
	t.Helper()
	whole := t.TempDir()
	f.Prepare(t, whole)
	log, ended := f.run(t, whole, "")
	require.NoError(t, ended, log)
	f.Holds(t, whole, true)
	places := f.places(t, whole, log)
	require.NotEmpty(t, places, "the step makes no system calls on its folder:\n%s", log)
	tried, survived := 0, 0
	for i, place := range places {
		for j, way := range []string{"error=" + place.errno, "signal=KILL"} {
			if os.Getenv(Torture) == "" && (2*i+j)%stride != 0 {
				continue
			}
			tried++
			inject := fmt.Sprintf("%s:%s:when=%d", place.call, way, place.when)
			folder := filepath.Join(t.TempDir(), "a folder, ä")
			require.NoError(t, os.Mkdir(folder, 0o777))
			f.Prepare(t, folder)
			_, ended := f.run(t, folder, inject)
			if ended == nil && way == "signal=KILL" { // network data may have come in fewer pieces
				survived++
			}
			t.Run(inject, func(t *testing.T) {
				var status *exec.ExitError
				require.True(t, ended == nil || errors.As(ended, &status), "%v", ended)
				f.Holds(t, folder, ended == nil)
				f.GoesOn(t, folder)
			})
		}
	}
	require.LessOrEqual(t, survived, tried/4, "that many of %d were not killed", tried)
	t.Logf("%d of %d faults tried, at %d calls", tried, 2*len(places), len(places))
}

type place struct {
	call, errno string
	when        int
}

// Under runs the step while one system call always suffers the same fault. inject names the call and the fault in
// strace's notation, such as "flock:error=ENOLCK". Under returns the step's error, and the output of strace and the
// step.
func (f Test) Under(t *testing.T, folder, inject string) (said string, ended error) {
	t.Helper()
	f.Prepare(t, folder)
	return f.run(t, folder, inject)
}

func (f Test) places(t *testing.T, folder, log string) (found []place) {
	t.Helper()
	counts := map[string]int{}
	named := regexp.MustCompile(`^([a-z0-9]+)\(`)
	for line := range strings.Lines(log) {
		match := named.FindStringSubmatch(line)
		if match == nil {
			continue
		}
		counts[match[1]]++
		for _, c := range calls {
			if c.name == match[1] && strings.Contains(line, folder) {
				found = append(found, place{c.name, c.errno, counts[c.name]})
			}
		}
	}
	return found
}

func (f Test) run(t *testing.T, folder, inject string) (log string, ended error) {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("skipped: strace is not installed")
	}
	names := make([]string, len(calls))
	for i, c := range calls {
		names[i] = c.name
	}
	output := filepath.Join(t.TempDir(), "log")
	args := []string{"-qq", "-y", "-s", "4096", "-e", "signal=none", "-e", "trace=" + strings.Join(names, ","), "-o",
		output}
	if inject != "" {
		args = append(args, "-e", "inject="+inject)
	}
	c := exec.Command("strace", append(args, os.Args[0])...)
	c.Env = append(os.Environ(), Environment(f.Step, folder)...)
	var said bytes.Buffer
	c.Stderr = &said
	ended = c.Run()
	require.NotContains(t, said.String(), "panic:", "%s", inject)
	written, err := os.ReadFile(output)
	require.NoError(t, err, "strace cannot follow a process here: %s", said.String())
	return string(written) + said.String(), ended
}

// Left returns the folder's file names. A temporary file left there fails the test.
func Left(t *testing.T, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, e := range entries {
		require.False(t, strings.HasSuffix(e.Name(), ".part") || strings.HasSuffix(e.Name(), ".new"), "%s was left", e.Name())
		names = append(names, e.Name())
	}
	return names
}
