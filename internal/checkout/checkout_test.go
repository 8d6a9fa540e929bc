package checkout

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheRootIsTheNearestFolderWithThisModulesGoModAndNoOthers(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	t.Chdir(dir)
	require.NoError(t, os.WriteFile("go.mod", []byte("module elsewhere\n"), 0o666))
	_, err = Root()
	require.ErrorContains(t, err, "is not in a clone of nodemask")
	require.NoError(t, os.WriteFile("go.mod", []byte("module nodemask\n"), 0o666))
	require.NoError(t, os.MkdirAll("notebooks/deep", 0o777))
	t.Chdir("notebooks/deep")
	root, err := Root()
	require.NoError(t, err)
	root, err = filepath.EvalSymlinks(root)
	require.NoError(t, err)
	require.Equal(t, dir, root)

	// Another module's folder inside is not this one's.
	require.NoError(t, os.WriteFile("go.mod", []byte("module nodemask/notebooks\n"), 0o666))
	_, err = Root()
	require.ErrorContains(t, err, "is not in a clone of nodemask")
}
