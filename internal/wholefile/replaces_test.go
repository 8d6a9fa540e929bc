package wholefile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

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
