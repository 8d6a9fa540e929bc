package checkout

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheWorkingDirectoryNeverDecidesWhereTheProjectIs(t *testing.T) {
	before, err := Root()
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(before, "internal", "checkout", "checkout.go"))
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("go.mod", []byte("module nodemask\n"), 0o666))
	require.NoError(t, os.MkdirAll("bin", 0o777))
	for _, folder := range []string{".", "bin"} {
		t.Chdir(folder)
		root, err := Root()
		require.NoError(t, err)
		require.Equal(t, before, root)
	}
}

func TestAProgramIsInstalledWhereItsBinIs(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for file, folder := range map[string]string{
		"clone/bin/nodemask":           "clone",
		"clone/.nodemask/bin/nodemask": "clone",
		"gonb_1/cell":                  "", // other temporary files are not the project's
		"nodemask":                     "",
	} {
		file = filepath.Join(dir, file)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o777))
		require.NoError(t, os.WriteFile(file, nil, 0o777))
		if folder != "" {
			folder = filepath.Join(dir, folder)
		}
		require.Equal(t, folder, installed(file), file)
	}
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(filepath.Join(dir, "clone/bin/nodemask"), link))
	require.Equal(t, filepath.Join(dir, "clone"), installed(link))
}
