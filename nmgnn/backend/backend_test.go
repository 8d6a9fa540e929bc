package backend

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/stretchr/testify/require"

	"nodemask/nmgnn/internal/kernels"
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
	require.Equal(t, "go, fused kernels", b.String())
}

func TestTheBestBackendThatStartsIsTaken(t *testing.T) {
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
	needXLA(t)
	dir := t.TempDir()
	t.Setenv("PJRT_PLUGIN_LIBRARY_PATH", dir)
	_, _, why := findPlugin("xla:mine", "mine")
	require.ErrorContains(t, why, "looked in "+dir)
	file := filepath.Join(dir, "pjrt_c_api_mine_plugin.so")
	require.NoError(t, os.WriteFile(file, nil, 0o666))
	path, pin, why := findPlugin("xla:mine", "mine")
	require.Nil(t, why)
	require.Equal(t, file, path)
	require.Empty(t, pin, "who names a folder answers for what is in it")
}

func needXLA(t *testing.T) {
	t.Helper()
	if !haveXLA {
		t.Skip("skipped: built without XLA")
	}
}

// An unpacked data folder may hold anything, even a go.mod and a library.
func TestTheWorkingDirectoryNeverDecidesWhatIsLoaded(t *testing.T) {
	needXLA(t)
	own, err := os.Executable()
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("go.mod", []byte("module nodemask\n"), 0o666))
	t.Setenv("PJRT_PLUGIN_LIBRARY_PATH", strings.Join([]string{"", ".nodemask/pjrt", ".", "bin"},
		string(filepath.ListSeparator)))
	t.Setenv("LD_LIBRARY_PATH", ".nodemask/pjrt")
	here, err := os.Getwd()
	require.NoError(t, err)
	for _, folder := range []string{"bin", ".nodemask/bin", ".nodemask/pjrt", ".nodemask/pjrt-cuda", "below"} {
		require.NoError(t, os.MkdirAll(folder, 0o777))
		for _, name := range []string{"cpu", "cuda", "mine"} {
			require.NoError(t, os.Symlink(own, filepath.Join(folder, "pjrt_c_api_"+name+"_plugin.so")))
		}
	}
	for _, folder := range []string{here, filepath.Join(here, "below")} {
		t.Chdir(folder)
		for _, name := range []string{"cpu", "cuda", "mine", "../x", "x/../../mine"} {
			path, _, why := findPlugin("xla:"+name, name)
			require.NotContains(t, path, here, name)
			require.True(t, path == "" || filepath.IsAbs(path), "%s: %s", name, path)
			require.True(t, why == nil || !strings.Contains(why.Error(), here), "%s: %v", name, why)
		}
	}
}

func TestWhatSetUpInstallsIsLoadedOnlyWithItsPinnedSum(t *testing.T) {
	t.Setenv("PJRT_PLUGIN_LIBRARY_PATH", "")
	for name := range setUp {
		require.NotEmpty(t, pluginPlaces(name))
		for _, place := range pluginPlaces(name) {
			require.Regexp(t, "^[0-9a-f]{64}$", place.pin)
		}
	}
	file := filepath.Join(t.TempDir(), "plugin.so")
	require.NoError(t, os.WriteFile(file, []byte("right"), 0o666))
	const right = "a1b89e9b0fbe15af1a8d6e7b3e8e2f9a6f5a0e8d"
	require.ErrorContains(t, checkPlugin(file, right), "plugin.so has SHA-256 "+sumOf("right")+": expected "+right)
	require.NoError(t, checkPlugin(file, sumOf("right")))
	require.NoError(t, os.WriteFile(file, []byte("wrong!"), 0o666))
	require.ErrorContains(t, checkPlugin(file, sumOf("right")), "has SHA-256 "+sumOf("wrong!"))

	path, pin, why := findPlugin("xla:cpu", "cpu")
	if why != nil {
		t.Skipf("skipped: %v", why)
	}
	require.NoError(t, checkPlugin(path, pin), "the pin is that of another wheel than scripts/pjrt-cpu.requirements.txt "+
		"has")
}

func TestAProgramFromAWheelFindsThePluginBesideIt(t *testing.T) {
	packages := filepath.Join("/venv", "lib", "site-packages")
	require.Equal(t, []pluginPlace{
		{filepath.Join(packages, "nodemask", ".nodemask", "pjrt"), setUp["cpu"].sum},
		{filepath.Join(packages, "lammps_jax_pjrt_cpu"), setUp["cpu"].sum},
		{filepath.Join("/clone", ".nodemask", "pjrt"), setUp["cpu"].sum},
	}, installedPlaces("cpu", []string{filepath.Join(packages, "nodemask"), "/clone"}))
	require.Len(t, installedPlaces("cuda", []string{filepath.Join(packages, "nodemask")}), 1)
	require.Empty(t, installedPlaces("tpu", []string{packages}))
}

func sumOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

func TestAPluginIsWhatXLASaysWhateverItsFileIsCalled(t *testing.T) {
	named, err := Open("xla:cpu")
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	link := filepath.Join(t.TempDir(), "plugin.so")
	require.NoError(t, os.Symlink(named.Plugin, link))
	for _, id := range []string{"xla:cpu", "xla:" + link} {
		b, err := Open(id)
		require.NoError(t, err)
		require.Equal(t, "xla:cpu", b.ID, "records are kept by this name")
		require.Equal(t, 1, b.NumDevices(), "each device is a thread that waits without sleeping")
		require.NoError(t, b.KernelsLost)
		require.Equal(t, "fused", b.Kernel())
	}
}

func TestABackendWithoutKernelsSaysWhy(t *testing.T) {
	for _, id := range []string{"go", "xla:cpu"} {
		b, err := Open(id)
		if err != nil {
			t.Logf("skipped: %v", err)
			continue
		}
		require.NoError(t, b.KernelsLost, id)
		require.Equal(t, "fused", b.Kernel(), id)
		lost := *b
		lost.KernelsLost = errors.New("another version")
		require.Equal(t, "scatter", lost.Kernel(), id)
		if why := lost.behindGo(); id == "go" {
			require.Nil(t, why)
		} else {
			require.ErrorContains(t, why, "another version; without them it is slower than pure Go")
		}
		require.Nil(t, b.behindGo())
	}
	gpu := Backend{ID: "xla:cuda", Plugin: "plugin.so"}
	require.Equal(t, "scatter", gpu.Kernel())
}

func TestWhatTheLoaderSaidOfAPluginIsSaidOnce(t *testing.T) {
	require.Equal(t, "/a/b.so: file too short", pluginProblem(errors.New(
		`backend "xla":: failed to load: failed to dynamically load PJRT plugin from "/a/b.so: file too short": "/a/b.so" `+
			`-- check with ldd`)))
}

func ExampleOpen() {
	b, err := Open("go")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(b)
	// Output: go, fused kernels
}

func TestWhyABackendIsSlowIsOneLineWithoutFolders(t *testing.T) {
	gpu := &Error{ID: "xla:cuda", Reason: "no PJRT plugin a.so", Looked: []string{"/home/me"}}
	cpu := &Error{ID: "xla:cpu", Reason: "no PJRT plugin b.so", Looked: []string{"/home/me", "/opt"}}
	for want, b := range map[string]Backend{
		"go, fused kernels":         {ID: "go"},
		"xla:cuda, scatter kernels": {ID: "xla:cuda", Plugin: "/p.so"},
		"xla:cpu, fused kernels":    {ID: "xla:cpu", Plugin: "/p.so", Skipped: []*Error{gpu}},
		"go, fused kernels; slower than it could be: backend xla:cpu: no PJRT plugin b.so": {ID: "go",
			Skipped: []*Error{gpu, cpu}},
		"xla:cpu, scatter kernels; slower than it could be: the backend's plugin is a.so, not b.so (github.com/gomlx/go-xla)": {
			ID: "xla:cpu", KernelsLost: errors.New("the backend's plugin is /home/me/a.so, not /opt/b.so " +
				"(github.com/gomlx/go-xla)")},
	} {
		require.Equal(t, want, b.String())
		require.True(t, strings.HasSuffix(want, b.Slower()))
	}
}

// withPlugins makes a folder with content as both plugins, and returns the CPU's.
func withPlugins(t *testing.T, content []byte) (folder, cpu string) {
	t.Helper()
	folder = t.TempDir()
	t.Setenv("PJRT_PLUGIN_LIBRARY_PATH", folder)
	for _, name := range []string{"cuda", "cpu"} {
		cpu = filepath.Join(folder, "pjrt_c_api_"+name+"_plugin.so")
		require.NoError(t, os.WriteFile(cpu, content, 0o666))
	}
	return folder, cpu
}

func TestABrokenPluginIsNamedWithoutItsFolder(t *testing.T) {
	needXLA(t)
	t.Setenv("GOMLX_BACKEND", "")
	dir, _ := withPlugins(t, []byte("no library"))
	b, err := Open("")
	require.NoError(t, err)
	require.Equal(t, "go", b.ID)
	require.Contains(t, b.Slower(), "pjrt_c_api_cpu_plugin.so")
	require.NotContains(t, b.Slower(), dir)
}

func TestWithoutAGPUTheCPUIsTakenWithALine(t *testing.T) {
	broken := &Error{ID: "xla:cuda", Reason: "no GPU", Err: os.ErrInvalid}
	require.Equal(t, "backend xla:cuda: no GPU", (&Backend{ID: "xla:cpu", Skipped: []*Error{broken}}).Slower())
	path, pin, why := findPlugin("xla:cuda", "cuda")
	if why != nil {
		t.Skipf("skipped: %v", why)
	}
	require.NoError(t, checkPlugin(path, pin))
	if _, err := Open("xla:cuda"); err == nil {
		t.Skip("skipped: there is a GPU")
	}
	t.Setenv("GOMLX_BACKEND", "")
	b, err := Open("")
	require.NoError(t, err)
	require.NotEqual(t, "xla:cuda", b.ID)
	require.Contains(t, b.Slower(), "no GPU is visible")
	require.NotContains(t, b.String(), "\n")
}

func TestAPluginThatIsDamagedIsNotLoadedButNamed(t *testing.T) {
	if !haveXLA || runtime.GOOS != "linux" {
		t.Skip("skipped: files are looked into on Linux, where XLA is built in")
	}
	own, err := os.Executable()
	require.NoError(t, err)
	noPlugin, err := os.ReadFile(own)
	require.NoError(t, err)
	noise := bytes.Repeat([]byte{0xd6, 0x5f, 0x00}, 3000)
	t.Setenv("GOMLX_BACKEND", "")
	for what, c := range map[string]struct {
		file []byte
		says string
	}{
		"nothing":          {nil, "is no shared library, or damaged or cut short (0 bytes"},
		"noise":            {noise, "is no shared library, or damaged or cut short (9000 bytes"},
		"a header alone":   {slices.Concat(noPlugin[:16], noise), "pjrt_c_api_cpu_plugin.so is "},
		"an executable":    {noPlugin, "pjrt_c_api_cpu_plugin.so is "},
		"half of that":     {noPlugin[:len(noPlugin)/2], "damaged or cut short"},
		"noise behind 64k": {slices.Concat(noPlugin[:64<<10], noise), "damaged or cut short"},
	} {
		_, file := withPlugins(t, c.file)
		_, err := Open("xla:" + file)
		require.ErrorContains(t, err, c.says, what)
		require.ErrorContains(t, err, "run 'make setup'", what)
		b, err := Open("")
		require.NoError(t, err, what)
		require.Equal(t, "go", b.ID, what)
		require.Contains(t, b.Slower(), c.says, what)
	}
}

func TestThePluginIsFoundToBeCutShortWhereverThatIs(t *testing.T) {
	path, _, why := findPlugin("xla:cpu", "cpu")
	if why != nil || runtime.GOOS != "linux" {
		t.Skipf("skipped: there is no plugin for Linux: %v", why)
	}
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	info, err := f.Stat()
	require.NoError(t, err)
	size := info.Size()
	require.Empty(t, pluginFault(f, size))
	for _, left := range []int64{3, 4, 63, 64, 5000, 30e6, size / 2, size - 4096, size - 1} {
		require.NotEmpty(t, pluginFault(io.NewSectionReader(f, 0, left), left), "%d bytes", left)
	}
}

func TestAPluginWhereGoMLXInstallsItsOwnIsHeldToItsSum(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("PJRT_PLUGIN_LIBRARY_PATH", "")
	if _, _, why := findPlugin("xla:cuda", "cuda"); why == nil {
		t.Skip("skipped: a plugin for GPUs is set up")
	}
	folder := gomlxPlaces("cuda")[0].folder
	require.True(t, strings.HasPrefix(folder, home), folder)
	require.NoError(t, os.MkdirAll(folder, 0o777))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "pjrt_c_api_cuda_plugin.so"), []byte("other"), 0o666))
	_, err := Open("xla:cuda")
	require.ErrorContains(t, err, "pjrt_c_api_cuda_plugin.so has SHA-256 "+sumOf("other")+": expected "+setUp["cuda"].sum)
	require.ErrorContains(t, err, "name its folder in PJRT_PLUGIN_LIBRARY_PATH")
}

func TestABackendThatSomebodyElseOpenedIsAdopted(t *testing.T) {
	pureGo, err := gobackend.New("ops_sequential")
	require.NoError(t, err)
	b, err := Adopt(pureGo)
	require.NoError(t, err)
	require.Equal(t, "go", b.ID)
	require.NoError(t, b.KernelsLost)
	b.Finalize()
	_, err = Adopt(nil)
	require.ErrorContains(t, err, "the backend is nil")

	opened, err := Open("xla:cpu")
	if err != nil {
		t.Skipf("skipped: %v", err)
	}
	defer opened.Finalize()
	b, err = Adopt(opened.Backend)
	require.NoError(t, err)
	require.Equal(t, opened.ID, b.ID)
	require.Equal(t, opened.Plugin, b.Plugin)
	require.Equal(t, "fused", b.Kernel())
}

// With the race detector this fails if opening changes what others read.
func TestBackendsOpenAtOnceWhileAnotherProgramComputes(t *testing.T) {
	theirs, err := gobackend.New("ops_sequential")
	require.NoError(t, err)
	defer theirs.Finalize()
	exec, err := graph.NewExec(theirs, func(x *graph.Node) *graph.Node {
		return graph.ReduceSum(graph.Sqrt(graph.Max(graph.Mul(graph.Add(x, x), x), x)), 0)
	})
	require.NoError(t, err)
	ones := make([]float32, 64*64)
	for i := range ones {
		ones[i] = 1
	}
	x := tensors.FromFlatDataAndDimensions(ones, 64, 64)
	stop, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			y, err := exec.Call(x)
			if err == nil {
				_, err = tensors.CopyFlatData[float32](y[0])
			}
			select {
			case <-stop:
				ended <- err
				return
			default:
			}
			if err != nil {
				ended <- err
				return
			}
		}
	}()
	var opening sync.WaitGroup
	begin := make(chan struct{})
	for range 4 {
		for _, id := range []string{"go", "xla:cpu"} {
			opening.Go(func() {
				<-begin
				b, err := Open(id)
				if err != nil {
					if id == "go" {
						t.Error(err)
					}
					return // XLA may not be installed
				}
				twice := func(x *graph.Node) *graph.Node { return graph.ReduceAllSum(kernels.ELU(graph.Add(x, x))) }
				y, err := graph.CallOnce(b.Backend, twice, tensors.FromFlatDataAndDimensions(ones, 64, 64))
				if err != nil || y.Value() != float32(2*64*64) {
					t.Errorf("%s: %v, %v", id, y, err)
				}
			})
		}
	}
	close(begin)
	opening.Wait()
	close(stop)
	require.NoError(t, <-ended)
}
