package wholefile

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	}
	for _, name := range []string{"other", "missing", "folder"} {
		require.Empty(t, Replaces(at(name), at("input"), dir), name)
	}
	require.Empty(t, Replaces(os.DevNull, os.DevNull), "a device is not replaced")
}
