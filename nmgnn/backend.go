package nmgnn

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/gomlx/core/graph"

	"nodemask/nmgnn/fused"
)

// Backend is what computes: XLA on a GPU ("xla:cuda") or CPU ("xla:cpu"), or GoMLX's pure-Go backend ("go").
type Backend struct {
	compute.Backend
	// ID is "xla:cuda", "xla:cpu", "go", or the configuration asked for if it was another.
	ID string
	// Plugin is the file of XLA's PJRT plugin; empty for "go".
	Plugin string
	// Skipped says, for each better backend that was looked for and is not usable, why. Empty if one was asked for.
	Skipped []string
	// KernelsLost is why a backend that should run the kernels of package fused cannot, and so is slow. It is nil if it
	// runs them, and on a GPU, which does without.
	KernelsLost error

	cpu bool // XLA on a CPU
}

// String is the backend's name and, if it has one, its plugin.
func (b *Backend) String() string {
	if b.Plugin != "" {
		return fmt.Sprintf("%s (%s)", b.ID, b.Plugin)
	}
	return b.ID
}

// Device says what computes, without any path of this machine: XLA compiles for the processor that it finds, so numbers
// may differ in their last digits on another one.
func (b *Backend) Device() string {
	text := b.Version()
	if b.Plugin != "" {
		text = strings.ReplaceAll(text, b.Plugin, filepath.Base(b.Plugin))
	}
	if model := processor(); model != "" {
		text += ", " + model
	}
	return text
}

// processor is the name of this machine's, or empty where the system does not say.
func processor() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(info)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// BackendError says that a backend cannot be had, and what to do about it.
type BackendError struct {
	ID      string
	Reason  string
	Unknown bool // there is no backend of that name, on this machine or any other
}

// Error names the backend and says why it cannot be had.
func (e *BackendError) Error() string { return fmt.Sprintf("backend %s: %s", e.ID, e.Reason) }

// errNoXLA is why XLA is not there at all in this build.
var errNoXLA = errors.New("this program was built without XLA (it needs cgo, and Linux or macOS): rebuild it with CGO_ENABLED=1 and a C compiler, or use the backend go")

// BackendIDs lists the backends from the best to the one that always works.
func BackendIDs() []string { return []string{"xla:cuda", "xla:cpu", "go"} }

// OpenBackend opens the backend named by id: one of [BackendIDs], or "xla:" and the absolute path of a PJRT plugin.
// An empty id takes $GOMLX_BACKEND; if that is empty too, the best backend that really starts. Errors are
// [*BackendError].
//
// Plugins are looked for in $PJRT_PLUGIN_LIBRARY_PATH, then where this project's set-up puts them (.nodemask/pjrt beside
// the folder of the executable, or in the module that the working directory belongs to), then where go-xla looks.
// Nothing is ever downloaded.
func OpenBackend(id string) (*Backend, error) {
	if id == "" {
		id = os.Getenv(compute.ConfigEnvVar)
	}
	if id != "" {
		return openNamed(id)
	}
	var skipped []string
	for _, id := range BackendIDs() {
		b, err := openNamed(id)
		if err == nil {
			b.Skipped = skipped
			return b, nil
		}
		skipped = append(skipped, err.Error())
	}
	return nil, &BackendError{ID: "any", Reason: strings.Join(skipped, "; ")}
}

func openNamed(id string) (*Backend, error) {
	name, config, _ := strings.Cut(id, ":")
	switch name {
	case "go":
		// Running operations in parallel can hang for good with two or three workers, and gains nothing here.
		if config == "" {
			config = "ops_sequential"
		}
		b, err := gobackend.New(config)
		if err != nil {
			return nil, &BackendError{ID: id, Reason: firstLine(err)}
		}
		return &Backend{Backend: b, ID: id, KernelsLost: fused.Intercept(b)}, nil
	case "xla", "pjrt", "hlo", "shlo", "stablehlo":
		if config == "" {
			if b, err := openXLA("xla:cuda", "cuda"); err == nil {
				return b, nil
			}
			config = "cpu"
		}
		return openXLA("xla:"+config, config)
	}
	return nil, &BackendError{ID: id, Unknown: true, Reason: "no such backend: expected one of " + strings.Join(BackendIDs(), ", ")}
}

// openXLA opens a plugin by its name or absolute path, with go-xla's options behind commas.
func openXLA(id, config string) (*Backend, error) {
	plugin, options, _ := strings.Cut(config, ",")
	path := plugin
	if !filepath.IsAbs(plugin) {
		var err error
		if path, err = findPlugin(plugin); err != nil {
			return nil, &BackendError{ID: id, Reason: err.Error()}
		}
	} else if _, err := os.Stat(path); err != nil {
		return nil, &BackendError{ID: id, Reason: firstLine(err)}
	}
	b, platform, err := newXLA(plugin, path, options)
	if err != nil {
		return nil, &BackendError{ID: id, Reason: fmt.Sprintf("the PJRT plugin does not start: %s", pluginProblem(err))}
	}
	opened := &Backend{Backend: b, ID: id, Plugin: path, cpu: platform == "cpu"}
	if opened.cpu || platform == "" {
		opened.KernelsLost = fused.Register(b, path)
	}
	return opened, nil
}

// forJobs returns what opens the backend of each of several jobs, which are goroutines of their own and call it first of
// all. On a CPU, XLA jobs have a client each that keeps to one core: two that share their threads are slower than one.
func (b *Backend) forJobs() (open func(job int) (*Backend, error), err error) {
	if !b.cpu {
		return func(int) (*Backend, error) { return b, nil }, nil
	}
	defer guard(&err, "preparing jobs")
	// XLA starts the threads that compile for all clients when it first compiles. They must not come from a job, or they
	// would all keep to its core, and jobs would wait for each other's programs.
	if _, err := graph.CallOnce(b.Backend, graph.Neg, float32(0)); err != nil {
		return nil, fmt.Errorf("nmgnn: %s", firstLine(err))
	}
	return func(job int) (*Backend, error) {
		if err := onOneCore(job); err != nil {
			return nil, err
		}
		return openNamed(b.ID)
	}, nil
}

// findPlugin returns the file of the plugin of that name, or an error that says where it was looked for.
func findPlugin(name string) (string, error) {
	if !haveXLA {
		return "", errNoXLA
	}
	file := fmt.Sprintf("pjrt_c_api_%s_plugin.so", name)
	folders := pluginFolders(name)
	for _, folder := range folders {
		path := filepath.Join(folder, file)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return filepath.Abs(path)
		}
	}
	if path, found := installedPlugins()[name]; found {
		return path, nil
	}
	setup := "make setup"
	if name == "cuda" {
		setup = "CUDA=1 make setup"
	}
	return "", fmt.Errorf("no PJRT plugin %s: run '%s' in the project's folder, or set PJRT_PLUGIN_LIBRARY_PATH to the folder that holds it (looked in %s)",
		file, setup, strings.Join(folders, ", "))
}

// pluginFolders lists where plugins may be, most specific first.
func pluginFolders(name string) []string {
	var folders []string
	add := func(root string) {
		folders = append(folders, filepath.Join(root, ".nodemask", "pjrt"), filepath.Join(root, ".nodemask", "pjrt-"+name))
	}
	for _, folder := range filepath.SplitList(os.Getenv("PJRT_PLUGIN_LIBRARY_PATH")) {
		if folder != "" {
			folders = append(folders, folder)
		}
	}
	if executable, err := os.Executable(); err == nil {
		if resolved, err := filepath.EvalSymlinks(executable); err == nil {
			executable = resolved
		}
		add(filepath.Dir(filepath.Dir(executable)))
	}
	if root, found := moduleRoot(); found && !slices.Contains(folders, filepath.Join(root, ".nodemask", "pjrt")) {
		add(root)
	}
	return folders
}

// moduleRoot is the nearest folder above the working directory that holds this module. Tests and notebooks run from
// temporary executables, so the folder of the executable says nothing about them. A folder that is not this module's
// is never searched: a plugin is code.
func moduleRoot() (string, bool) {
	folder, err := os.Getwd()
	for ; err == nil; folder = filepath.Dir(folder) {
		if f, err := os.Open(filepath.Join(folder, "go.mod")); err == nil {
			line, _ := bufio.NewReader(f).ReadString('\n')
			_ = f.Close()
			return folder, strings.TrimSpace(line) == "module nodemask"
		}
		if folder == filepath.Dir(folder) {
			break
		}
	}
	return "", false
}

// pluginProblem is what the system's loader said, where go-xla repeats it with every function it passed through.
func pluginProblem(err error) string {
	text := firstLine(err)
	if _, said, found := strings.Cut(text, `failed to dynamically load PJRT plugin from "`); found {
		if said, _, found = strings.Cut(said, `"`); found {
			return said
		}
	}
	return text
}

// firstLine is an error's message without the stack traces that GoMLX's errors carry.
func firstLine(err error) string {
	line, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	return line
}

// PlanFor chooses how to compute on this backend, for a graph whose features have the given density, the share of
// entries that are not zero.
func (b *Backend) PlanFor(density float64) Plan {
	plan := Plan{Kernel: ChainKernel, DenseFeatures: density > 0.25, Transposed: b.Plugin == ""}
	if (b.cpu || b.Plugin == "") && b.KernelsLost == nil {
		plan.Kernel = FusedKernel
	}
	return plan
}

// Version names the backend for a record: its ID, platform and GoMLX's own description.
func (b *Backend) Version() string {
	return fmt.Sprintf("%s %s/%s", b.Description(), runtime.GOOS, runtime.GOARCH)
}
