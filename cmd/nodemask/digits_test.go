//go:build linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/internal/digits"
	"nodemask/nmgnn/backend"
	"nodemask/paper/record"
)

// apart runs args in another process, with extra variables.
func apart(t *testing.T, variables []string, args ...string) (stdout, stderr string) {
	t.Helper()
	c := exec.Command(args[0], args[1:]...)
	var diagnostics strings.Builder
	c.Env, c.Stderr = append(slices.Clone(environment), variables...), &diagnostics
	out, err := c.Output()
	require.NoError(t, err, "%s%s", out, diagnostics.String())
	return string(out), diagnostics.String()
}

func withXLA(t *testing.T) (program string) {
	t.Helper()
	if _, err := backend.Open("xla:cpu"); err != nil {
		t.Skipf("skipped: %v", err)
	}
	if !digits.HasAVX2() {
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

func TestARecordIsRunAgainWithTheDigitsThatItWasMadeWith(t *testing.T) {
	program := withXLA(t)
	lines := ""
	for _, asked := range []string{digits.Processor, digits.AVX2} {
		out, _ := apart(t, []string{"NODEMASK_DIGITS=" + asked}, program, "train", "--data", "cora", "--model", "gin",
			"--set", "mlp-layers=2", "--set", "norm=both", "--max-epochs", "4", "--trials", "1", "--backend", "xla:cpu", "--json")
		lines += stored(t, out)
	}
	require.Equal(t, 1, strings.Count(lines, `,"digits":"avx2",`), lines)
	folder := t.TempDir()
	file := put(t, folder, "records.jsonl", lines)
	for _, variables := range [][]string{nil, {"NODEMASK_DIGITS=processor"}} {
		out, _ := apart(t, variables, program, "reproduce", "again", file)
		require.Equal(t, 2, strings.Count(out, ": the same to the last digit\n"), out)
	}
	// Differences in the other process count here.
	put(t, folder, "records.jsonl", strings.ReplaceAll(lines, `"split_hash":"`, `"split_hash":"0`))
	code, _, diagnostics := nodemask(t, "reproduce", "again", file)
	require.Equal(t, 1, code)
	require.Contains(t, diagnostics, "nodemask: of 2 trials, 2 came out otherwise and 0 could not be run\n")
}

func TestOtherDigitsAreReportedOnceWithTheirPlace(t *testing.T) {
	withXLA(t)
	first, _, _ := strings.Cut(fileText(t, "testdata/foreign.jsonl"), "\n")
	var r record.Record
	require.NoError(t, json.Unmarshal([]byte(first), &r))
	r.Digits, r.Parameters.Hidden, r.Parameters.Layers = "", 1<<16, 16
	file := put(t, t.TempDir(), "wide.jsonl", lineOf(t, r))
	diagnostics := fails(t, 1, "nodemask: "+file+": line 1: 16 layers of width 65536", "reproduce", "again", file)
	require.Equal(t, 1, strings.Count(diagnostics, "nodemask: "), diagnostics)
}

func TestRecordsOfEmbeddedGraphsRerunOnThem(t *testing.T) {
	out, _ := succeeds(t, "train", "--data", "cora", "--backend", "go", "--trials", "1", "--max-epochs", "2", "--hidden",
		"4", "--json")
	folder := t.TempDir()
	file := put(t, folder, "record.jsonl", stored(t, out))
	put(t, folder, "ind.cora.x", "")
	out, _ = succeeds(t, "reproduce", "again", file, "--data-dir", folder)
	require.Contains(t, out, "seed 1: the same to the last digit")
}
