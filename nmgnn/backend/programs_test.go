//go:build cgo && linux

package backend

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/stretchr/testify/require"
)

// A second client loads the program from disk and computes the same; a damaged program is recompiled.
func TestAProgramIsCompiledOnceAndThenLoaded(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "programs")
	t.Setenv(programsVariable, folder)
	compute := func() os.FileInfo {
		b, err := Open(onCPU)
		if err != nil {
			t.Skipf("skipped: %v", err)
		}
		defer b.Finalize()
		if b.ProgramsLost != nil {
			t.Skipf("skipped: %v", b.ProgramsLost)
		}
		got, err := graph.CallOnce(b.Backend, func(x *graph.Node) *graph.Node { return graph.MulScalar(x, 3) },
			[]float32{-1, 0.25, 2})
		require.NoError(t, err)
		require.Equal(t, []float32{-3, 0.75, 6}, got.Value())
		entries, err := os.ReadDir(folder)
		require.NoError(t, err)
		require.Len(t, entries, 1)
		info, err := entries[0].Info()
		require.NoError(t, err)
		return info
	}
	first := compute()
	file, old := filepath.Join(folder, first.Name()), time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(file, old, old))
	again := compute()
	require.True(t, os.SameFile(first, again), "not written again")
	require.True(t, again.ModTime().After(old), "but used")
	require.NoError(t, os.Truncate(file, 100))
	require.Equal(t, first.Size(), compute().Size())
}

func TestAFolderOfProgramsThatOthersMayWriteToIsSaid(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.Chmod(folder, 0o777))
	t.Setenv(programsVariable, folder)
	b, err := Open(onCPU)
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	defer b.Finalize()
	if b.Digits == "" {
		t.Skip("skipped: the plugin is not the one that set-up installs")
	}
	require.ErrorContains(t, b.ProgramsLost, "others may write to it")
	require.Contains(t, b.String(), "programs are compiled anew in each process: ")
	require.NotContains(t, b.String(), folder, "no path of this machine")
}

func openFolder(t *testing.T) *programFolder {
	t.Helper()
	f, err := openProgramFolder(filepath.Join(t.TempDir(), "programs"))
	require.NoError(t, err)
	return f
}

func TestAProgramIsLoadedAsItWasSaved(t *testing.T) {
	f := openFolder(t)
	const key = "key"
	_, found := f.load(key)
	require.False(t, found)
	require.NoError(t, f.save(key, []byte("native code")))
	program, found := f.load(key)
	require.True(t, found)
	require.Equal(t, "native code", string(program))
	info, err := os.Stat(f.file(key))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// Changes each byte, cuts the file at each place, and extends it.
func TestADamagedProgramIsNotLoaded(t *testing.T) {
	f := openFolder(t)
	require.NoError(t, f.save("key", []byte("native code")))
	whole, err := os.ReadFile(f.file("key"))
	require.NoError(t, err)
	refused := func(content []byte) {
		require.NoError(t, os.WriteFile(f.file("key"), content, 0o600))
		_, found := f.load("key")
		require.False(t, found)
		require.NoFileExists(t, f.file("key"), "a damaged file is removed")
	}
	for i := range whole {
		changed := append([]byte(nil), whole...)
		changed[i] ^= 1
		refused(changed)
		refused(whole[:i])
	}
	refused(append(whole, 0))
}

func TestAProgramThatOthersMayWriteIsNotLoaded(t *testing.T) {
	f := openFolder(t)
	require.NoError(t, f.save("key", []byte("native code")))
	require.NoError(t, os.Chmod(f.file("key"), 0o622))
	_, found := f.load("key")
	require.False(t, found)

	require.NoError(t, os.Rename(f.file("key"), f.file("other")))
	require.NoError(t, os.Chmod(f.file("other"), 0o600))
	require.NoError(t, os.Symlink(f.file("other"), f.file("key")))
	_, found = f.load("key")
	require.False(t, found, "a link")

	shared := t.TempDir()
	require.NoError(t, os.Chmod(shared, 0o777))
	_, err := openProgramFolder(shared)
	require.ErrorContains(t, err, "others may write to it")
	_, err = openProgramFolder("programs")
	require.ErrorContains(t, err, "expected an absolute path")
}

func TestWhatWasUsedLongestAgoGoesFirst(t *testing.T) {
	f := openFolder(t)
	content := []byte(strings.Repeat("x", 100))
	f.max = int64(3 * (len(content) + 32))
	for i, key := range []string{"a", "b", "c"} {
		require.NoError(t, f.save(key, content))
		old := time.Now().Add(time.Duration(i-10) * time.Hour)
		require.NoError(t, os.Chtimes(f.file(key), old, old))
	}
	_, found := f.load("a") // used now: b is the oldest
	require.True(t, found)
	require.NoError(t, f.save("d", content))
	for key, want := range map[string]bool{"a": true, "b": false, "c": true, "d": true} {
		_, found := f.load(key)
		require.Equal(t, want, found, key)
	}
}
