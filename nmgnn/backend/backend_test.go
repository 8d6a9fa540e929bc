package backend

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestABackendOfAnUnknownNameIsUnknown(t *testing.T) {
	_, err := Open("abacus")
	var problem *Error
	require.ErrorAs(t, err, &problem)
	require.True(t, problem.Unknown)
	_, err = Open("xla:abacus")
	require.ErrorAs(t, err, &problem)
	require.False(t, problem.Unknown, "somebody may have such a plugin")
}

func TestTheEnvironmentNamesTheBackendIfNothingElseDoes(t *testing.T) {
	t.Setenv("GOMLX_BACKEND", "go")
	b, err := Open("")
	require.NoError(t, err)
	require.Equal(t, "go", b.ID)
	t.Setenv("GOMLX_BACKEND", "abacus")
	_, err = Open("")
	require.ErrorContains(t, err, "backend abacus")
	b, err = Open("go")
	require.NoError(t, err, "a name given wins over the environment")
	require.Equal(t, "go", b.String())
}

func TestTheBestBackendThatStartsIsTakenAndTheOthersAreExplained(t *testing.T) {
	t.Setenv("GOMLX_BACKEND", "")
	b, err := Open("")
	require.NoError(t, err)
	require.Contains(t, IDs(), b.ID)
	for i, id := range IDs() {
		if id == b.ID {
			require.Len(t, b.Skipped, i)
		}
	}
}

func TestAPluginIsFoundInTheFolderThatTheEnvironmentNames(t *testing.T) {
	if !haveXLA {
		t.Skip("skipped: built without XLA")
	}
	dir := t.TempDir()
	t.Setenv("PJRT_PLUGIN_LIBRARY_PATH", dir)
	_, err := findPlugin("mine")
	require.ErrorContains(t, err, "looked in "+dir)
	file := filepath.Join(dir, "pjrt_c_api_mine_plugin.so")
	require.NoError(t, os.WriteFile(file, nil, 0o666))
	path, err := findPlugin("mine")
	require.NoError(t, err)
	require.Equal(t, file, path)
}

func TestPluginsAreLookedForInThisModuleAndNoOther(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	plugins := filepath.Join(dir, ".nodemask", "pjrt")
	t.Chdir(dir)
	require.NoError(t, os.WriteFile("go.mod", []byte("module elsewhere\n"), 0o666))
	require.NotContains(t, pluginFolders("cpu"), plugins)
	require.NoError(t, os.WriteFile("go.mod", []byte("module nodemask\n"), 0o666))
	require.NoError(t, os.MkdirAll("notebooks/deep", 0o777))
	t.Chdir("notebooks/deep")
	require.Contains(t, pluginFolders("cpu"), plugins)
}

func TestWhatTheLoaderSaidOfAPluginIsSaidOnce(t *testing.T) {
	require.Equal(t, "/a/b.so: file too short", pluginProblem(errors.New(
		`backend "xla":: failed to load: failed to dynamically load PJRT plugin from "/a/b.so: file too short": "/a/b.so" -- check with ldd`)))
}

func ExampleOpen() {
	b, err := Open("go")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(b, b.PlanFor(0.01).Kernel)
	// Output: go fused
}
