package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"nodemask/paper/record"
)

// TestMain runs the command where a test starts this program with a command's name: in a process of its own.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		os.Exit(run(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// nodemask runs the command and returns its exit code and what it wrote.
func nodemask(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	code, stderr = nodemaskInto(t, out, args...)
	return code, written(t, out), stderr
}

// nodemaskInto runs the command with its standard output in a file.
func nodemaskInto(t *testing.T, out *os.File, args ...string) (code int, stderr string) {
	t.Helper()
	t.Setenv("NODEMASK_DATA", "")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	diagnostics, err := os.Create(filepath.Join(t.TempDir(), "err"))
	require.NoError(t, err)
	oldOut, oldErr := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = out, diagnostics
	defer func() { os.Stdout, os.Stderr = oldOut, oldErr }()
	code = run(args)
	return code, written(t, diagnostics)
}

// written returns what a file holds, and closes it.
func written(t *testing.T, f *os.File) string {
	t.Helper()
	_, err := f.Seek(0, io.SeekStart)
	require.NoError(t, err)
	b, err := io.ReadAll(f)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return string(b)
}

// succeeds runs the command, which must end with exit code 0, and returns what it wrote.
func succeeds(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	code, stdout, stderr := nodemask(t, args...)
	require.Zero(t, code, "%q: %s", args, stderr)
	return stdout, stderr
}

// fails runs the command, which must end with an exit code, print nothing and say something, and returns all that it
// says.
func fails(t *testing.T, code int, says string, args ...string) (stderr string) {
	t.Helper()
	ended, stdout, stderr := nodemask(t, args...)
	require.Equal(t, code, ended, "%q: %s", args, stderr)
	require.Contains(t, stderr, says, "%q", args)
	require.Empty(t, stdout, "%q", args)
	return stderr
}

// refuses runs a command with each of some arguments, by what it must say: in one line, with exit code 2.
func refuses(t *testing.T, command []string, cases map[string][]string) {
	t.Helper()
	for says, more := range cases {
		stderr := fails(t, 2, says, append(command[:len(command):len(command)], more...)...)
		assert.Equal(t, 1, errorLines(stderr), stderr)
		assert.NotContains(t, stderr, "strconv.")
	}
}

// fileText returns what a file holds.
func fileText(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

// put writes a file into a folder, which is made if need be, and returns its path.
func put(t testing.TB, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	return path
}

// graphFolder writes a graph of one's own into a folder of that name, and returns its path.
func graphFolder(t testing.TB, name, nodes, edges string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), name)
	put(t, folder, "nodes.csv", nodes)
	put(t, folder, "edges.csv", edges)
	return folder
}

// lineOf returns the line that results keep of a record, whose cell it names.
func lineOf(t *testing.T, trial record.Record) string {
	t.Helper()
	trial.Cell = trial.CellOf().Key()
	line, err := record.Line(trial)
	require.NoError(t, err)
	return string(line) + "\n"
}

// stored returns the line that results keep of what train prints as JSON.
func stored(t *testing.T, printed string) string {
	t.Helper()
	var trial record.Record
	require.NoError(t, json.Unmarshal([]byte(printed), &trial))
	return lineOf(t, trial)
}
