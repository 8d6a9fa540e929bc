//go:build linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/internal/recordstore"
	"nodemask/nmgnn/backend"
	"nodemask/record"
)

// apart runs the command in a process of its own, with variables and in front of it a program that starts it, if any.
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
	if !backend.HasAVX2Digits() {
		t.Skip("skipped: a processor without AVX2")
	}
	program, err := os.Executable()
	require.NoError(t, err)
	return program
}

// testdata/foreign.jsonl was recorded with qemu-x86_64, whose processors are Intel's Haswell and AMD's first EPYC,
// without AVX-512, and with other caches: testdata/README.md says how.
func TestTrialsOfAnotherProcessorAreTheSameToTheLastDigit(t *testing.T) {
	program := withXLA(t)
	const file = "testdata/foreign.jsonl"
	lines, err := os.ReadFile(file)
	require.NoError(t, err)
	want := strings.Count(string(lines), "\n")
	again := []string{program, "reproduce", "--again", file}
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
	var lines []byte
	for _, digits := range []string{backend.ProcessorDigits, backend.AVX2Digits} {
		out, _ := apart(t, []string{"NODEMASK_DIGITS=" + digits}, program, "train", "--data", "cora", "--model", "gin",
			"--mlp-layers", "2", "--norm", "both", "--max-epochs", "4", "--trials", "1", "--backend", "xla:cpu", "--json")
		lines = append(lines, stored(t, out)...)
	}
	require.Equal(t, 1, strings.Count(string(lines), `,"digits":"avx2",`), "%s", lines)
	file := filepath.Join(t.TempDir(), "records.jsonl")
	require.NoError(t, os.WriteFile(file, lines, 0o666))
	for _, variables := range [][]string{nil, {"NODEMASK_DIGITS=processor"}} {
		out, _ := apart(t, variables, program, "reproduce", "--again", file)
		require.Equal(t, 2, strings.Count(out, ": the same to the last digit\n"), out)
	}
	// What differs there counts here.
	changed := strings.ReplaceAll(string(lines), `"split_hash":"`, `"split_hash":"0`)
	require.NoError(t, os.WriteFile(file, []byte(changed), 0o666))
	code, _, diagnostics := nodemask(t, "reproduce", "--again", file)
	require.Equal(t, 1, code)
	require.Contains(t, diagnostics, "nodemask: of 2 trials, 2 came out otherwise and 0 could not be run\n")
}

func TestWhatEndsAProcessOfOtherDigitsIsSaidOnceWithItsPlace(t *testing.T) {
	withXLA(t)
	lines, err := os.ReadFile("testdata/foreign.jsonl")
	require.NoError(t, err)
	first, _, _ := strings.Cut(string(lines), "\n")
	var r record.Record
	require.NoError(t, json.Unmarshal([]byte(first), &r))
	r.Digits, r.Parameters.Hidden, r.Parameters.Layers = "", 1<<16, 16
	r.Cell = r.CellOf().Key()
	line, err := recordstore.Line(r)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "wide.jsonl")
	require.NoError(t, os.WriteFile(file, line, 0o600))
	code, out, diagnostics := nodemask(t, "reproduce", "--again", file)
	require.Equal(t, 1, code)
	require.Empty(t, out)
	require.Equal(t, 1, strings.Count(diagnostics, "nodemask: "), diagnostics)
	require.Contains(t, diagnostics, "nodemask: "+file+": line 1: 16 layers of width 65536")
}

// stored returns the line that results keep of what train prints as JSON.
func stored(t *testing.T, printed string) []byte {
	t.Helper()
	var trial record.Record
	require.NoError(t, json.Unmarshal([]byte(printed), &trial))
	trial.Cell = trial.CellOf().Key()
	line, err := recordstore.Line(trial)
	require.NoError(t, err)
	return append(line, '\n')
}

func TestARecordOfTheProgramsOwnGraphIsRunAgainOnItWhateverTheFolderOfDataHas(t *testing.T) {
	_, out, diagnostics := nodemask(t, "train", "--data", "cora", "--backend", "go", "--trials", "1", "--max-epochs", "2",
		"--hidden", "4", "--json")
	folder := t.TempDir()
	file := filepath.Join(folder, "record.jsonl")
	require.NoError(t, os.WriteFile(file, stored(t, out), 0o666), diagnostics)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "ind.cora.x"), nil, 0o666))
	code, out, diagnostics := nodemask(t, "reproduce", "--again", file, "--data-dir", folder)
	require.Zero(t, code, diagnostics)
	require.Contains(t, out, "seed 1: the same to the last digit")
}

func TestDigitsThatThereAreNotAreRefused(t *testing.T) {
	t.Setenv("NODEMASK_DIGITS", "avx9")
	code, _, diagnostics := nodemask(t, "train", "--data", "cora", "--max-epochs", "1")
	require.Equal(t, 1, code)
	require.Contains(t, diagnostics, `NODEMASK_DIGITS is "avx9": expected avx2 or processor`)
}
