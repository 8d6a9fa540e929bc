//go:build linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/backend"
	"nodemask/paper/record"
)

// apart runs args in another process, with extra variables.
func apart(t *testing.T, variables []string, args ...string) (stdout, stderr string) {
	t.Helper()
	c := exec.Command(args[0], args[1:]...)
	var diagnostics strings.Builder
	c.Env, c.Stderr = append(os.Environ(), variables...), &diagnostics
	out, err := c.Output()
	require.NoError(t, err, "%s%s", out, diagnostics.String())
	return string(out), diagnostics.String()
}

func withXLA(t *testing.T) (program string) {
	t.Helper()
	if _, err := backend.Open("xla:cpu"); err != nil {
		t.Skipf("skipped: %v", err)
	}
	if !backend.HasAVX2() {
		t.Skip("skipped: a processor without AVX2")
	}
	program, err := os.Executable()
	require.NoError(t, err)
	return program
}

// testdata/foreign.jsonl was recorded with qemu-x86_64 as Intel's Haswell and AMD's first EPYC, without AVX-512 and
// with other caches: see testdata/README.md.
func TestTrialsOfAnotherProcessorAreTheSameToTheLastDigit(t *testing.T) {
	program := withXLA(t)
	const file = "testdata/foreign.jsonl"
	want := strings.Count(fileText(t, file), "\n")
	again := []string{program, "reproduce", "again", file}
	out, _ := apart(t, nil, again...)
	require.Equal(t, want, strings.Count(out, ": the same to the last digit\n"), out)
	if _, err := exec.LookPath("taskset"); err != nil {
		t.Skipf("skipped on one core: %v", err)
	}
	out, _ = apart(t, []string{"GODEBUG=cpu.avx512f=off,cpu.avx512bw=off,cpu.avx512vl=off"},
		append([]string{"taskset", "-c", "0"}, again...)...)
	require.Equal(t, want, strings.Count(out, ": the same to the last digit\n"), "one core: %s", out)
}

func TestARecordOfAProcessorsDigitsIsNotRunAgain(t *testing.T) {
	withXLA(t)
	first, _, _ := strings.Cut(fileText(t, "testdata/foreign.jsonl"), "\n")
	var r record.Record
	require.NoError(t, json.Unmarshal([]byte(first), &r))
	r.Digits = ""
	file := put(t, t.TempDir(), "old.jsonl", lineOf(t, r))
	code, out, diagnostics := nodemask(t, "reproduce", "again", file)
	require.Equal(t, 1, code)
	require.Contains(t, out, ": recorded before portable digits: cannot be run again here\n")
	require.Equal(t, "nodemask: of 1 trials, 0 came out otherwise and 1 could not be run\n", diagnostics)
}

func TestRecordsOfEmbeddedGraphsRerunOnThem(t *testing.T) {
	out, _ := succeeds(t, "train", "--data", "cora", "--backend", "go", "--trials", "1", "--max-epochs", "2", "--hidden",
		"4", "--json")
	folder := t.TempDir()
	file := put(t, folder, "record.jsonl", stored(t, out))
	put(t, folder, "ind.cora.tx", "")
	out, _ = succeeds(t, "reproduce", "again", file, "--data-dir", folder)
	require.Contains(t, out, "seed 1: the same to the last digit")
}
