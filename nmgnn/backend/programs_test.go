package backend

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/stretchr/testify/require"
)

// A second client loads the program from disk and computes the same; a damaged program is recompiled.
func TestAProgramIsCompiledOnceAndThenLoaded(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "programs")
	t.Setenv(programsVariable, folder)
	compute := func() (result []float32, fromDisk, fromSource int64) {
		b, err := Open(onCPU)
		if err != nil {
			t.Skipf("skipped: %v", err)
		}
		defer b.Finalize()
		if b.ProgramsLost != nil {
			t.Skipf("skipped: %v", b.ProgramsLost)
		}
		disk, source := programCounts()
		got, err := graph.CallOnce(b.Backend, func(x *graph.Node) *graph.Node {
			return graph.Tanh(graph.MulScalar(x, 3))
		}, []float32{-1, 0.25, 2})
		require.NoError(t, err)
		diskAfter, sourceAfter := programCounts()
		return got.Value().([]float32), diskAfter - disk, sourceAfter - source
	}
	first, fromDisk, fromSource := compute()
	require.Equal(t, [2]int64{0, 1}, [2]int64{fromDisk, fromSource})
	again, fromDisk, fromSource := compute()
	require.Equal(t, [2]int64{1, 0}, [2]int64{fromDisk, fromSource})
	require.Equal(t, first, again)

	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	file := filepath.Join(folder, entries[0].Name())
	require.NoError(t, os.Truncate(file, 100))
	again, fromDisk, fromSource = compute()
	require.Equal(t, [2]int64{0, 1}, [2]int64{fromDisk, fromSource})
	require.Equal(t, first, again)
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
	require.Contains(t, b.String(), "programs are compiled anew in each process: "+folder)
	require.NotContains(t, b.Summary(), folder)
}
