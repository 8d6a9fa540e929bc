package wholefile

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

func names(t *testing.T, folder string) (found []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, e := range entries {
		found = append(found, e.Name())
	}
	return found
}

func holds(t *testing.T, path, text string) {
	t.Helper()
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, text, string(got))
}

func TestAFileThatIsDiscardedLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	p, err := Prepare(path, 0o600, func(w io.Writer) error { return nil })
	require.NoError(t, err)
	p.Discard()
	require.Empty(t, names(t, filepath.Dir(path)))
}

func TestManyWritersOfOneFileAllSucceed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	var writers errgroup.Group
	for range 20 {
		writers.Go(func() error {
			for range 50 {
				if err := WriteBytes(path, 0o644, []byte("text")); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, writers.Wait())
	holds(t, path, "text")
	assert.Equal(t, []string{"a"}, names(t, filepath.Dir(path)))
}

func TestPartsOfKilledWritersGoAndThoseOfOthersStay(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a")
	for _, name := range []string{".a.7.part", ".a.x.part", ".a.7", ".b.7.part", "a.7.part"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte("half"), 0o600))
	}
	err := Write(path, 0o644, func(w io.Writer) error {
		assert.NotContains(t, names(t, folder), ".a.7.part")
		return WriteBytes(path, 0o644, []byte("in between")) // another writer of the same file
	})
	require.NoError(t, err)
	assert.Equal(t, []string{".a.7", ".a.x.part", ".b.7.part", "a", "a.7.part"}, names(t, folder))
	holds(t, path, "") // of the last renamed
}

func TestANameAsLongAsItCanBeIsWritten(t *testing.T) {
	require.NoError(t, WriteBytes(filepath.Join(t.TempDir(), strings.Repeat("n", 255)), 0o644, nil))
}

func TestADeviceIsWrittenToAndStaysOne(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no /dev/full")
	}
	require.NoError(t, WriteBytes(os.DevNull, 0o644, []byte("text")))
	info, err := os.Stat(os.DevNull)
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&os.ModeDevice)
	assert.EqualError(t, WriteBytes("/dev/full", 0o644, []byte("text")), "no space left on device")
}

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

func TestEveryLinkToAFileIsThatFile(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"input", "other"} {
		require.NoError(t, os.WriteFile(at(name), nil, 0o600))
	}
	require.NoError(t, os.Symlink(at("input"), at("symlink")))
	require.NoError(t, os.Link(at("input"), at("hard link")))
	require.NoError(t, os.Symlink(dir, at("folder")))
	for _, name := range []string{"input", "symlink", "hard link", "folder/input", "./folder/../input"} {
		require.Equal(t, at("input"), Replaces(at(name), at("other"), at("missing"), at("input")), name)
		require.Equal(t, at(name), Replaces(at("input"), at(name)), name)
		require.True(t, Same(at(name), at("input")), name)
	}
	for _, name := range []string{"other", "missing", "folder"} {
		require.Empty(t, Replaces(at(name), at("input"), dir), name)
	}
	require.Empty(t, Replaces(os.DevNull, os.DevNull), "a device is not replaced")
	require.False(t, Same(at("other"), at("input")))
	require.True(t, Same(at("new"), at("folder/NEW")), "one file on some disks")
	require.False(t, Same(at("new"), at("newer")))
	require.False(t, Same(at("a/new"), at("b/new")), "no such folders")
	require.NoError(t, os.Mkdir(at("second"), 0o700))
	require.False(t, Same(at("new"), at("second/new")), "of one name in two folders")
}
