package fused_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Compares the C loops' generic path, compiled for 64-bit ARM and run by qemu, with this machine's.
func TestLoopsComputeTheSameDigitsOnARM64(t *testing.T) {
	const compiler, emulator = "aarch64-linux-gnu-gcc", "qemu-aarch64"
	for _, program := range []string{"gcc", compiler, emulator} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("skipped: %v: it takes Debian's gcc, gcc-aarch64-linux-gnu and qemu-user", err)
		}
	}
	digits := func(compiler string, run ...string) []string {
		program := filepath.Join(t.TempDir(), "digits")
		out, err := exec.Command(compiler, "-O3", "-Wall", "-Wno-psabi", "-static", "-o", program,
			filepath.Join("testdata", "digits.c")).CombinedOutput()
		require.NoError(t, err, string(out))
		run = append(run, program)
		out, err = exec.Command(run[0], run[1:]...).CombinedOutput()
		require.NoError(t, err, string(out))
		return strings.Split(strings.TrimSpace(string(out)), "\n")
	}
	here, there := digits("gcc"), digits(compiler, emulator)
	require.Greater(t, len(here), 100)
	require.Equal(t, here, there)
}
