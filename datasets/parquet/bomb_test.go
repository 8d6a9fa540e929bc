//go:build unix

package parquet

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/datasets"
)

// withFooter returns a file of a footer alone.
func withFooter(footer []byte) []byte {
	b := append([]byte("PAR1"), footer...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(footer)))
	return append(b, "PAR1"...)
}

func TestAFooterNestedDeeplyIsRefused(t *testing.T) {
	const deep = 100
	// structures in structures
	nested := []byte(strings.Repeat("\x1c", deep) + strings.Repeat("\x00", deep+1))
	lists := []byte("\x19" + strings.Repeat("\x19", deep) + "\x03\x00\x00")                             // lists in lists
	schema := []byte("\x29\xfc\x64" + strings.Repeat("\x55\x02\x00", deep) + strings.Repeat("\x00", 8)) // one child each
	for _, footer := range [][]byte{nested, lists, schema} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, nodesFile), withFooter(footer), 0o600))
		_, err := open(t.Context(), dir)
		require.ErrorContains(t, err, "nested more than 64 deep")
	}
}

type constant struct {
	ID    int64 `parquet:"id"`
	Label int64 `parquet:"label"`
}

func TestMoreRowsThanAFileMayStandForAreRefused(t *testing.T) {
	type same struct {
		Source int64 `parquet:"source,dict"`
		Target int64 `parquet:"target,dict"`
	}
	dir := t.TempDir()
	write(t, dir, nodesFile, []constant{{1, 1}, {2, 1}})
	rows := make([]same, 3_000_000)
	for i := range rows {
		rows[i] = same{1, 2}
	}
	write(t, dir, edgesFile, rows)
	_, err := open(t.Context(), dir)
	require.ErrorContains(t, err, "rows in a file of")
	require.EqualValues(t, 1<<28+2560, limitCells(10))
}

func TestAPipeIsNotWaitedFor(t *testing.T) {
	for _, file := range []string{nodesFile, edgesFile} {
		dir := t.TempDir()
		write(t, dir, nodesFile, []constant{{1, 1}})
		write(t, dir, edgesFile, []edge{})
		require.NoError(t, os.Remove(filepath.Join(dir, file)))
		require.NoError(t, syscall.Mkfifo(filepath.Join(dir, file), 0o600))
		_, err := open(t.Context(), dir)
		require.ErrorContains(t, err, file+": a pipe, socket or device")
	}
}

func TestMasksOfParquetAreItsOwnSplit(t *testing.T) {
	type masked struct {
		ID    int64   `parquet:"id"`
		Y     float64 `parquet:"y"`
		X     float64 `parquet:"x"`
		Train bool    `parquet:"train_mask"`
		Val   bool    `parquet:"val_mask"`
		Test  bool    `parquet:"test_mask"`
		Index int64   `parquet:"__index_level_0__"`
	}
	dir := t.TempDir()
	write(t, dir, nodesFile, []masked{{1, 0, 1, true, false, false, 0}, {2, 1, 2, false, true, false, 1},
		{3, 1, 3, false, false, true, 2}})
	write(t, dir, edgesFile, []edge{{1, 2}, {2, 1}})
	g, err := open(t.Context(), dir)
	require.NoError(t, err)
	require.Equal(t, 1, g.Features.Width)
	require.Equal(t, []string{"0", "1"}, g.Classes)
	require.NotNil(t, g.OwnSplit)
	require.Equal(t, []int32{0}, g.OwnSplit.Train)
	require.Equal(t, []int32{2}, g.OwnSplit.Test)
	require.EqualValues(t, 1, g.Reverses)
	require.Equal(t, []string{`column "__index_level_0__", pandas' row numbers: left out`}, g.Notes)
}

// FuzzParquet reads any bytes as nodes and edges, whole and as the footer of a file.
func FuzzParquet(f *testing.F) {
	for _, folder := range []string{"parquet", "parquet-numbers"} {
		nodes, err := os.ReadFile(filepath.Join(fixture(folder), nodesFile))
		require.NoError(f, err)
		edges, err := os.ReadFile(filepath.Join(fixture(folder), edgesFile))
		require.NoError(f, err)
		f.Add(nodes, edges)
	}
	f.Fuzz(func(t *testing.T, nodes, edges []byte) {
		for _, content := range [][]byte{nodes, withFooter(nodes)} {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, nodesFile), content, 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(dir, edgesFile), edges, 0o600))
			g, err := open(t.Context(), dir)
			if err == nil {
				require.NoError(t, g.Check())
				datasets.Describe(g)
				continue
			}
			require.True(t, strings.HasPrefix(err.Error(), dir), "%v", err)
			require.NotContains(t, err.Error(), "\n")
		}
	})
}
