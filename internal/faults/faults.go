// Package faults has the system fail at each system call that a step of a test makes, and kills the step at each. It
// needs strace, on Linux.
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
	// Torture is the variable of the environment that has every fault tried, and slow tests run.
	Torture = "NODEMASK_TORTURE"
	// One fault in so many is tried otherwise.
	stride = 11
)

// calls are the system calls at which a step fails, with the error of each.
var calls = []struct{ name, errno string }{
	{"openat", "EACCES"}, {"write", "ENOSPC"}, {"pwrite64", "ENOSPC"}, {"fsync", "EIO"}, {"flock", "ENOLCK"},
	{"ftruncate", "EIO"}, {"fchmod", "EPERM"}, {"renameat", "EIO"}, {"renameat2", "EIO"}, {"rename", "EIO"},
	{"mkdirat", "EACCES"}, {"unlinkat", "EACCES"}, {"close", "EIO"},
}

// Pin is for an init function of the test's: a step has to make its system calls by the first thread, which is the one
// that strace follows.
func Pin() {
	if os.Getenv(stepVariable) != "" {
		runtime.LockOSThread()
	}
}

// Main is for TestMain: it runs the tests, or, in a process that [Each] started, the step.
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

// Environment is what has a process of this test do a step.
func Environment(step, folder string) []string {
	return []string{stepVariable + "=" + step, folderVariable + "=" + folder}
}

// Test is a step with faults.
type Test struct {
	Step string
	// Prepare fills an empty folder.
	Prepare func(t *testing.T, folder string)
	// Holds requires what the step promises, however it ended; finished says that it returned no error.
	Holds func(t *testing.T, folder string, finished bool)
	// GoesOn does the step again, and requires that it comes to the end that it would have come to at once.
	GoesOn func(t *testing.T, folder string)
}

// Each runs the step once for each call that it makes on its folder and for each way to fail: the call returns an
// error, or the process is killed before it. Without the variable [Torture] it tries some of them.
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
			if ended == nil && way == "signal=KILL" { // of what comes from a network, there may be fewer pieces this time
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

// place is a call's number among those of its name.
type place struct {
	call, errno string
	when        int
}

// Under does the step with a fault at all calls of a name, such as "flock:error=ENOLCK", and returns what it said and
// how it ended.
func (f Test) Under(t *testing.T, folder, inject string) (said string, ended error) {
	t.Helper()
	f.Prepare(t, folder)
	return f.run(t, folder, inject)
}

// places are the calls of a log that are about the folder.
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

// run returns what calls the step made, and how it ended.
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

// Left lists the names of a folder's files, and requires that none of them is half a file under a name for the time
// being.
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
