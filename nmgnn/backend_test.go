package nmgnn

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestABackendOfAnUnknownNameIsUnknown(t *testing.T) {
	_, err := OpenBackend("abacus")
	var problem *BackendError
	require.ErrorAs(t, err, &problem)
	require.True(t, problem.Unknown)
	_, err = OpenBackend("xla:abacus")
	require.ErrorAs(t, err, &problem)
	require.False(t, problem.Unknown, "somebody may have such a plugin")
}

func TestTheEnvironmentNamesTheBackendIfNothingElseDoes(t *testing.T) {
	t.Setenv("GOMLX_BACKEND", "go")
	b, err := OpenBackend("")
	require.NoError(t, err)
	require.Equal(t, "go", b.ID)
	t.Setenv("GOMLX_BACKEND", "abacus")
	_, err = OpenBackend("")
	require.ErrorContains(t, err, "backend abacus")
	b, err = OpenBackend("go")
	require.NoError(t, err, "a name given wins over the environment")
	require.Equal(t, "go", b.String())
}

func TestTheBestBackendThatStartsIsTakenAndTheOthersAreExplained(t *testing.T) {
	t.Setenv("GOMLX_BACKEND", "")
	b, err := OpenBackend("")
	require.NoError(t, err)
	require.Contains(t, BackendIDs(), b.ID)
	for i, id := range BackendIDs() {
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
	dir := t.TempDir()
	t.Chdir(dir)
	require.NoError(t, os.WriteFile("go.mod", []byte("module elsewhere\n"), 0o666))
	_, found := moduleRoot()
	require.False(t, found)
	require.NoError(t, os.WriteFile("go.mod", []byte("module nodemask\n"), 0o666))
	require.NoError(t, os.MkdirAll("notebooks/deep", 0o777))
	t.Chdir("notebooks/deep")
	root, found := moduleRoot()
	require.True(t, found)
	want, err := filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	got, err := filepath.EvalSymlinks(root)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestAPluginIsWhatXLASaysWhateverItsFileIsCalled(t *testing.T) {
	named, err := OpenBackend("xla:cpu")
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	link := filepath.Join(t.TempDir(), "plugin.so")
	require.NoError(t, os.Symlink(named.Plugin, link))
	for _, id := range []string{"xla:cpu", "xla:" + link} {
		b, err := OpenBackend(id)
		require.NoError(t, err)
		require.Equal(t, 1, b.NumDevices(), "each device is a thread that waits without sleeping")
		require.NoError(t, b.KernelsLost)
		require.Equal(t, FusedKernel, b.PlanFor(0).Kernel)
	}
}

func TestABackendThatLostItsKernelsSaysWhyAndDoesWithoutThem(t *testing.T) {
	for _, id := range []string{"go", "xla:cpu"} {
		b, err := OpenBackend(id)
		if err != nil {
			t.Logf("skipped: %v", err)
			continue
		}
		require.NoError(t, b.KernelsLost, id)
		require.Equal(t, FusedKernel, b.PlanFor(0).Kernel, id)
		lost := *b
		lost.KernelsLost = errors.New("another version")
		require.Equal(t, ChainKernel, lost.PlanFor(0).Kernel, id)
	}
	gpu := Backend{ID: "xla:cuda", Plugin: "plugin.so"}
	require.Equal(t, ChainKernel, gpu.PlanFor(0).Kernel)
}

func TestAnErrorLosesItsStackTraceAndRepetition(t *testing.T) {
	require.Equal(t, "first", firstLine(errors.New("first\nsecond")))
	require.Equal(t, "/a/b.so: file too short", pluginProblem(errors.New(
		`backend "xla":: failed to load: failed to dynamically load PJRT plugin from "/a/b.so: file too short": "/a/b.so" -- check with ldd`)))
}

func ExampleOpenBackend() {
	b, err := OpenBackend("go")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(b, b.PlanFor(0.01).Kernel)
	// Output: go fused
}
