package wholefile

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"nodemask/internal/faults"
)

func init() { faults.Pin() }

func TestMain(m *testing.M) {
	faults.Main(m, map[string]func(string) error{"write": writeNew})
}

var oldText, newText = []byte("old"), bytes.Repeat([]byte("new"), 100_000) // of several writes

func writeNew(folder string) error {
	return Write(filepath.Join(folder, "file"), 0o644, func(w io.Writer) error {
		for piece := range slices.Chunk(newText, len(newText)/3) {
			if _, err := w.Write(piece); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestWhateverFailsAFileIsTheOldOneOrTheNewOne(t *testing.T) {
	faults.Each(t, faults.Test{
		Step: "write",
		Prepare: func(t *testing.T, folder string) {
			require.NoError(t, os.WriteFile(filepath.Join(folder, "file"), oldText, 0o644))
		},
		Holds: func(t *testing.T, folder string, finished bool) {
			got, err := os.ReadFile(filepath.Join(folder, "file"))
			require.NoError(t, err)
			if finished || !bytes.Equal(got, oldText) {
				require.True(t, bytes.Equal(got, newText), "%d bytes", len(got))
			}
		},
		GoesOn: func(t *testing.T, folder string) {
			require.NoError(t, writeNew(folder))
			got, err := os.ReadFile(filepath.Join(folder, "file"))
			require.NoError(t, err)
			require.True(t, bytes.Equal(got, newText))
			require.Equal(t, []string{"file"}, faults.Left(t, folder))
		},
	})
}
