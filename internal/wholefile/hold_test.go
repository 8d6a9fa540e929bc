package wholefile

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/require"
)

func TestAFolderIsHeldByOneAtATime(t *testing.T) {
	folder := t.TempDir()
	release, err := Hold(t.Context(), filepath.Join(folder, "a"))
	require.NoError(t, err)
	other := flock.New(folder, flock.SetFlag(os.O_RDONLY))
	got, err := other.TryLock()
	require.NoError(t, err)
	require.False(t, got)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Hold(ended, filepath.Join(folder, "b"))
	require.ErrorIs(t, err, context.Canceled)
	elsewhere, err := Hold(t.Context(), filepath.Join(t.TempDir(), "a"))
	require.NoError(t, err)
	elsewhere()
	release()
	release, err = Hold(t.Context(), filepath.Join(folder, "b"))
	require.NoError(t, err)
	release()
	_, err = Hold(t.Context(), filepath.Join(folder, "missing", "a"))
	require.NoError(t, err, "what is wrong with it, writing tells")
	entries, err := filepath.Glob(filepath.Join(folder, "*"))
	require.NoError(t, err)
	require.Empty(t, entries)
}
