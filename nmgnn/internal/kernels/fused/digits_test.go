package fused_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/cpu"
)

// digits returns a hash of every C loop's results, by shape, as printed by a program built with this compiler.
func digits(t *testing.T, compiler, environment string, run ...string) []string {
	program := filepath.Join(t.TempDir(), "digits")
	out, err := exec.Command(compiler, "-O3", "-Wall", "-Wno-psabi", "-static", "-o", program,
		filepath.Join("testdata", "digits.c")).CombinedOutput()
	require.NoError(t, err, string(out))
	run = append(run, program, "300")
	command := exec.Command(run[0], run[1:]...)
	command.Env = append(command.Environ(), environment)
	out, err = command.CombinedOutput()
	require.NoError(t, err, string(out))
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	require.Greater(t, len(lines), 1000)
	return lines
}

func need(t *testing.T, why string, programs ...string) {
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("skipped: %v: it takes %s", err, why)
		}
	}
}

func TestLoopsComputeTheSameDigitsOnARM64(t *testing.T) {
	const compiler, emulator = "aarch64-linux-gnu-gcc", "qemu-aarch64"
	need(t, "Debian's gcc, gcc-aarch64-linux-gnu and qemu-user", "gcc", compiler, emulator)
	require.Equal(t, digits(t, "gcc", ""), digits(t, compiler, "", emulator))
}

func TestLoopsComputeTheSameDigitsWithAVX512(t *testing.T) {
	need(t, "gcc", "gcc")
	if !cpu.X86.HasAVX512F || !cpu.X86.HasAVX512VL || !cpu.X86.HasAVX512DQ {
		t.Skip("skipped: this processor has no AVX-512")
	}
	require.Equal(t, digits(t, "gcc", "NODEMASK_AVX512=off"), digits(t, "gcc", ""))
}
