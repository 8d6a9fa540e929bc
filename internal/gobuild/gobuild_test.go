package gobuild

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/internal/checkout"
)

func build(t *testing.T, project, file string) (said string, err error) {
	t.Helper()
	output, err := Build(t.Context(), Program{Project: project, Package: "./cmd", File: file,
		Environment: []string{"GOFLAGS=-buildvcs=false", "GOWORK=off"}})
	return string(output), err
}

func program(t *testing.T, project, body string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(project, "cmd"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(project, "go.mod"), []byte("module program\n\ngo 1.24\n"), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(project, "cmd", "main.go"),
		[]byte("package main\n\nfunc main() { "+body+" }\n"), 0o666))
}

func says(t *testing.T, file string) string {
	t.Helper()
	said, err := exec.Command(file).CombinedOutput()
	require.NoError(t, err)
	return string(said)
}

func TestATruncatedProgramIsRebuilt(t *testing.T) {
	project := filepath.Join(t.TempDir(), "ä project")
	program(t, project, `print("whole")`)
	file := filepath.Join(project, "bin", "program")
	for range 2 { // first without a program, then with half of one
		said, err := build(t, project, file)
		require.NoError(t, err, said)
		require.Equal(t, "whole", says(t, file))
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.NoError(t, os.Truncate(file, info.Size()/2))
	}
}

func TestAProgramIsBuiltOnceAndAgainForNewSources(t *testing.T) {
	project := t.TempDir()
	file := filepath.Join(project, "bin", "program")
	var last os.FileInfo
	for n := range 2 {
		program(t, project, fmt.Sprintf("print(%d)", n))
		said, err := build(t, project, file)
		require.NoError(t, err, said)
		require.Equal(t, fmt.Sprint(n), says(t, file))
		first, err := os.Stat(file)
		require.NoError(t, err)
		require.False(t, os.SameFile(last, first))
		said, err = build(t, project, file)
		require.NoError(t, err, said)
		last, err = os.Stat(file)
		require.NoError(t, err)
		require.True(t, os.SameFile(first, last), "it was there")
	}
}

func TestAFailedBuildLeavesTheOldProgram(t *testing.T) {
	project := t.TempDir()
	file := filepath.Join(project, "bin", "program")
	program(t, project, `print("old")`)
	said, err := build(t, project, file)
	require.NoError(t, err, said)
	program(t, project, "undefined()")
	said, err = build(t, project, file)
	require.Error(t, err)
	assert.Contains(t, said, "undefined: undefined")
	assert.Equal(t, "old", says(t, file))
	left, err := os.ReadDir(filepath.Join(project, "bin"))
	require.NoError(t, err)
	var names []string
	for _, e := range left {
		names = append(names, e.Name())
	}
	assert.Equal(t, []string{".lock", ".program.size", "program"}, names)
}

func TestBuildsInTwoFoldersAreTheSameBytes(t *testing.T) {
	var programs [2][]byte
	for i := range programs {
		project := filepath.Join(t.TempDir(), fmt.Sprintf("project %d", i))
		program(t, project, `panic("where")`)
		if _, err := exec.LookPath("gcc"); err == nil { // C has other paths
			more := "package main\n\n// static int one(void) { return 1; }\nimport \"C\"\n\nvar _ = C.one()\n"
			require.NoError(t, os.WriteFile(filepath.Join(project, "cmd", "c.go"), []byte(more), 0o666))
		}
		file := filepath.Join(project, "bin", "program")
		said, err := build(t, project, file)
		require.NoError(t, err, said)
		programs[i], err = os.ReadFile(file)
		require.NoError(t, err)
		require.NotContains(t, string(programs[i]), project)
	}
	require.True(t, bytes.Equal(programs[0], programs[1]))
}

func TestSetupMakeAndReleaseCompileWithTheSameFlags(t *testing.T) {
	root, err := checkout.Root()
	require.NoError(t, err)
	trimmed, tags, _ := strings.Cut(compileFlags, " ")
	for file, want := range map[string]string{
		"scripts/lab/setup.sh":   "GOFLAGS=\"" + compileFlags + "\"\n",
		"Makefile":               "override GOFLAGS += " + compileFlags + "\n",
		"scripts/release/run.sh": "flags=(" + trimmed + " -buildvcs=false -ldflags=-s " + tags + ")\n",
	} {
		text, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		require.Contains(t, string(text), want, "%s compiles everything anew", file)
	}
}
