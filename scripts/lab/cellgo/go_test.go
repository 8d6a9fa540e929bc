// Package cellgo_test checks go.sh, the go command of a notebook's kernel.
package cellgo_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestItIsTheGoCommandInAllElse(t *testing.T) {
	dir := t.TempDir()
	script, err := os.ReadFile("go.sh")
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "bin"), 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bin", "go"), script, 0o777))
	cell := filepath.Join(dir, "cell")
	require.NoError(t, os.Mkdir(cell, 0o777))
	for name, text := range map[string]string{"go.mod": "module gonb_45aaa29b\n",
		"main.go": "package main\n\nfunc main() { x() }\n\n// # gonb_45aaa29b\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(cell, name), []byte(text), 0o666))
	}
	as := func(folders string, args ...string) (string, int) {
		c := exec.Command(filepath.Join(dir, "bin", "go"), args...)
		c.Dir, c.Env = cell, append(os.Environ(), "PATH="+folders, "GOFLAGS=", "GOWORK=off")
		out, _ := c.CombinedOutput() // its code tells
		return string(out), c.ProcessState.ExitCode()
	}
	path := filepath.Join(dir, "bin") + string(filepath.ListSeparator) + os.Getenv("PATH")
	want, err := exec.Command("go", "version").Output()
	require.NoError(t, err)
	out, code := as(path, "version")
	assert.Equal(t, string(want), out)
	assert.Zero(t, code)
	out, code = as(path, "build", "-o", "program")
	assert.Equal(t, "./main.go:3:15: undefined: x\n", out)
	assert.Equal(t, 1, code)
	// What C there is is not compiled for a list: a file that needs cgo is not in the package.
	file := filepath.Join(cell, "c.go")
	require.NoError(t, os.WriteFile(file, []byte("package main\n\n// int one() { return 1; }\nimport \"C\"\n"), 0o666))
	for _, enabled := range []string{"0", "1"} {
		t.Setenv("CGO_ENABLED", enabled)
		out, code = as(path, "list", "-f", "{{.GoFiles}}{{.CgoFiles}}", ".")
		assert.Equal(t, "[main.go][]\n", out, "CGO_ENABLED=%s", enabled)
		assert.Zero(t, code)
	}
	_, code = as(path, "no-such-command")
	assert.Equal(t, 2, code)
	out, code = as(filepath.Join(dir, "bin"), "version")
	assert.Equal(t, "cellgo: no go command in PATH: install Go and run 'make setup-lab'\n", out)
	assert.Equal(t, 1, code)
}
