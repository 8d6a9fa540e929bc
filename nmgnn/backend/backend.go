// Package backend opens XLA on a GPU or CPU, or GoMLX's pure-Go backend, and reports why faster ones are unavailable.
package backend

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/gomlx/core/graph"
	"golang.org/x/sys/cpu"

	"nodemask/internal/checkout"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/kernels"
	"nodemask/nmgnn/internal/kernels/fused"
)

// Backend is XLA on a GPU ("xla:cuda") or CPU ("xla:cpu"), or GoMLX's pure-Go one ("go").
type Backend struct {
	compute.Backend
	// ID is one of [IDs].
	ID string
	// Plugin is the file of XLA's PJRT plugin; empty for "go".
	Plugin string
	// Skipped explains why faster backends are unusable; empty if the caller chose a backend.
	Skipped []*Error
	// KernelsLost is nil unless a CPU backend cannot run the kernels of package fused; then KernelsLost says why.
	KernelsLost error
	// ProgramsLost is the error that prevents keeping compiled programs on disk, or nil.
	ProgramsLost error
	// Digits says on which CPUs results have the same digits. "avx2", for XLA on a CPU only, means every x86-64 CPU
	// with AVX2. "" promises nothing.
	Digits string

	asked string // id, options included, that reopens the backend
	end   func()
}

// Finalize frees the backend; do not use it afterwards.
func (b *Backend) Finalize() {
	b.Backend.Finalize()
	if b.end != nil {
		b.end()
	}
}

// IsFinalized reports whether the backend is finalized or nil.
func (b *Backend) IsFinalized() bool { return b == nil || b.Backend == nil || b.Backend.IsFinalized() }

// KeepMemory makes glibc keep the memory that XLA on a CPU frees every epoch, which nearly halves the time of an epoch
// of GAT on PubMed. It affects the whole process, but does nothing if MALLOC_TRIM_THRESHOLD_, MALLOC_MMAP_THRESHOLD_ or
// GLIBC_TUNABLES is set.
func (b *Backend) KeepMemory() {
	if b.ID == onCPU {
		fused.KeepMemory()
	}
}

// String returns one line, without this machine's paths: the backend, its kernels and [Backend.Slower].
func (b *Backend) String() string {
	text := fmt.Sprintf("%s, %s kernels", b.ID, b.Kernel())
	if slower := b.Slower(); slower != "" {
		text += "; slower than it could be: " + slower
	}
	if b.ProgramsLost != nil {
		text += "; programs are compiled anew in each process: " + folders.ReplaceAllString(b.ProgramsLost.Error(), "$1")
	}
	return text
}

// Kernel names the implementation of sums over neighbours: "fused" (this project's loops) or "scatter" (GoMLX's
// scatter operation).
func (b *Backend) Kernel() string {
	if b.OnGPU() || b.KernelsLost != nil {
		return string(kernels.ScatterKernel)
	}
	return string(kernels.FusedKernel)
}

// Slower says why the backend is slower than it could be, or returns "" if it is not. The text names no paths of this
// machine.
func (b *Backend) Slower() string {
	var reasons []string
	for i, why := range b.Skipped {
		// For pure Go, report only why the next faster backend was skipped. For XLA on a CPU, report only a GPU plugin
		// that is installed but does not start.
		if b.ID == pure && i == len(b.Skipped)-1 || b.ID == onCPU && why.Err != nil {
			reasons = append(reasons, fmt.Sprintf("backend %s: %s", why.ID, why.Reason))
		}
	}
	if b.KernelsLost != nil {
		reasons = append(reasons, b.KernelsLost.Error())
	}
	return folders.ReplaceAllString(strings.Join(reasons, "; "), "$1")
}

var folders = regexp.MustCompile(`(^|[\s("'])/[^\s:,"']*/`)

// OnGPU reports whether this is a GPU backend.
func (b *Backend) OnGPU() bool { return b.ID == onGPU }

// Device returns the device's description, without paths.
func (b *Backend) Device() string {
	text := fmt.Sprintf("%s %s/%s", b.Description(), runtime.GOOS, runtime.GOARCH)
	if b.Plugin != "" {
		text = strings.ReplaceAll(text, b.Plugin, filepath.Base(b.Plugin))
	}
	for _, model := range cpuinfo("model name") {
		text += ", " + strings.TrimPrefix(model, "model name:")
	}
	return text
}

func cpuinfo(fields ...string) (found []string) {
	info, _ := os.ReadFile("/proc/cpuinfo")
	first, _, _ := strings.Cut(string(info), "\n\n")
	for line := range strings.Lines(first) {
		name, value, _ := strings.Cut(line, ":")
		if name = strings.TrimSpace(name); slices.Contains(fields, name) {
			found = append(found, name+":"+strings.TrimSpace(value))
		}
	}
	return found
}

// Error explains why a backend is unavailable, and what to do.
type Error struct {
	ID      string
	Reason  string
	Looked  []string
	Unknown bool // no backend has this name on any machine
	Err     error
}

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.Err }

// Error returns the ID, the reason and the folders searched.
func (e *Error) Error() string {
	text := fmt.Sprintf("backend %s: %s", e.ID, e.Reason)
	if len(e.Looked) > 0 {
		text += fmt.Sprintf(" (looked in %s)", strings.Join(e.Looked, ", "))
	}
	return text
}

var errNoXLA = errors.New("this program was built without XLA (it needs cgo, and Linux or macOS): rebuild it with " +
	"CGO_ENABLED=1 and a C compiler, or use the backend go")

const (
	onGPU = "xla:cuda"
	onCPU = "xla:cpu"
	pure  = "go"
)

// IDs returns the names of the backends, fastest first; the last backend always works.
func IDs() []string { return []string{onGPU, onCPU, pure} }

// Open opens the backend id: one of [IDs], or "xla:" and the absolute path of a PJRT plugin. "" means the backend in
// $GOMLX_BACKEND or, if that is empty, the fastest backend that starts. Errors are [*Error].
//
// Open looks for plugins in the absolute folders of $PJRT_PLUGIN_LIBRARY_PATH, then in the project's folder .nodemask
// and where GoMLX installs plugins. In the latter two a plugin must have a known SHA-256. Open ignores the working
// directory and downloads nothing.
//
// Programs that XLA compiled for a CPU are kept, up to 200 MB, in the project's folder .nodemask/programs or the user's
// cache. $NODEMASK_PROGRAMS sets another folder; if it is "off", no programs are kept.
//
// The process's first XLA backend sets the environment variables PJRT_NPROC and, on a CPU, XLA_FLAGS and
// ONEDNN_MAX_CPU_ISA, but keeps your settings in them.
func Open(id string) (*Backend, error) {
	if id == "" {
		id = os.Getenv(compute.ConfigEnvVar)
	}
	if id != "" {
		return orError(openNamed(id, false))
	}
	var skipped []*Error
	for _, id := range IDs() {
		b, why := openNamed(id, false)
		if why == nil {
			if why = b.behindGo(); why == nil {
				b.Skipped = skipped
				return b, nil
			}
			b.Finalize()
		}
		skipped = append(skipped, why)
	}
	var causes []error
	var reasons []string
	for _, why := range skipped {
		causes, reasons = append(causes, why), append(reasons, why.Error())
	}
	return nil, &Error{ID: "any", Reason: strings.Join(reasons, "; "), Err: errors.Join(causes...)}
}

// behindGo returns an error if XLA on a CPU lacks package fused's kernels and the pure-Go backend has them: XLA is then
// slower on all but small graphs.
func (b *Backend) behindGo() *Error {
	if b.ID != onCPU || b.KernelsLost == nil || fused.Intercepted() != nil {
		return nil
	}
	return &Error{ID: onCPU, Reason: b.KernelsLost.Error() + "; without them it is slower than pure Go", Err: b.KernelsLost}
}

// orError avoids a typed nil in an error.
func orError(b *Backend, why *Error) (*Backend, error) {
	if why != nil {
		return nil, why
	}
	return b, nil
}

func openNamed(id string, onOneCore bool) (*Backend, *Error) {
	name, config, _ := strings.Cut(id, ":")
	switch name {
	case pure:
		// Parallel operations can hang with two or three workers, and make nothing here faster.
		if config == "" {
			config = "ops_sequential"
		}
		b, err := gobackend.New(config)
		if err != nil {
			return nil, &Error{ID: id, Reason: gomlx.Error(err).Error(), Err: err}
		}
		return &Backend{Backend: b, ID: pure, KernelsLost: fused.Intercepted(), asked: id, end: fused.Hasten(b)}, nil
	case "xla":
		if config == "" {
			if b, why := openXLA("cuda", onOneCore); why == nil {
				return b, nil
			}
			config = "cpu"
		}
		return openXLA(config, onOneCore)
	}
	return nil, &Error{ID: id, Unknown: true, Reason: "no such backend: expected one of " + strings.Join(IDs(), ", ")}
}

// config is a plugin's name or absolute path and, after commas, go-xla's options.
func openXLA(config string, onOneCore bool) (*Backend, *Error) {
	asked := "xla:" + config
	plugin, options, _ := strings.Cut(config, ",")
	path, pin := plugin, ""
	if !filepath.IsAbs(plugin) {
		var why *Error
		if path, pin, why = findPlugin(asked, plugin); why != nil {
			return nil, why
		}
	}
	if err := checkPlugin(path, pin); err != nil {
		return nil, &Error{ID: asked, Looked: []string{filepath.Dir(path)}, Err: err,
			Reason: "the PJRT plugin cannot be loaded: " + err.Error()}
	}
	b, platform, held, err := newXLA(plugin, path, options, pin != "", onOneCore)
	if err != nil {
		reason := "the PJRT plugin does not start: " + strings.ReplaceAll(pluginProblem(err), path, filepath.Base(path))
		if strings.Contains(reason, "No visible GPU devices") {
			reason = "its PJRT plugin is there, but no GPU is visible to it: that takes NVIDIA's driver, 580 or newer"
		}
		return nil, &Error{ID: asked, Looked: []string{filepath.Dir(path)}, Err: err, Reason: reason}
	}
	opened := &Backend{Backend: b, Plugin: path, asked: asked}
	switch platform {
	case "cpu":
		opened.ID, opened.KernelsLost = onCPU, fused.Register(b, path)
		if held == avx2Digits && opened.KernelsLost == nil {
			opened.Digits = held
			fused.HoldSums()
		}
		if pin != "" {
			opened.ProgramsLost = keepPrograms(path, pin)
		}
	case "cuda":
		opened.ID = onGPU
	default:
		b.Finalize()
		if platform == "" {
			platform = "something that this version of go-xla does not tell"
		}
		return nil, &Error{ID: asked, Reason: fmt.Sprintf("the PJRT plugin computes on %s: expected cpu or cuda", platform)}
	}
	return opened, nil
}

// ForJobs returns a function, open, that opens the backend for a parallel job. The job's goroutine must call open
// first. On a CPU, XLA gets one core per job, so that jobs do not compete for cores.
func (b *Backend) ForJobs() (open func(job int) (*Backend, error), err error) {
	if err := gomlx.CheckOpen(b); err != nil {
		return nil, err
	}
	if b.ID != onCPU {
		return func(int) (*Backend, error) { return b, nil }, nil
	}
	defer gomlx.Guard(&err, "preparing jobs")
	// XLA starts all clients' compiler threads at the first compilation, on the compiling thread's cores. Jobs will
	// have one core each, so compile something now.
	if _, err := graph.CallOnce(b.Backend, graph.Neg, float32(0)); err != nil {
		return nil, gomlx.Error(err)
	}
	return func(job int) (*Backend, error) {
		if err := onOneCore(job); err != nil {
			return nil, err
		}
		return orError(openNamed(b.asked, true))
	}, nil
}

func findPlugin(asked, name string) (path, pin string, why *Error) {
	if !haveXLA {
		return "", "", &Error{ID: asked, Reason: errNoXLA.Error(), Err: errNoXLA}
	}
	if !pluginName.MatchString(name) {
		return "", "", &Error{ID: asked, Reason: fmt.Sprintf("%q is no name of a plugin: expected lower-case letters and "+
			"digits, or an absolute path", name)}
	}
	file := fmt.Sprintf("pjrt_c_api_%s_plugin.so", name)
	places := pluginPlaces(name)
	var looked []string
	for _, place := range places {
		looked = append(looked, place.folder)
		path := filepath.Join(place.folder, file)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, place.pin, nil
		}
	}
	setup := "make setup"
	if name == "cuda" {
		setup = "CUDA=1 make setup"
	}
	return "", "", &Error{ID: asked, Looked: looked,
		Reason: fmt.Sprintf("no PJRT plugin %s: run '%s' in the project's folder, or set PJRT_PLUGIN_LIBRARY_PATH to the "+
			"folder that holds it, as a program of another module must: to .nodemask/%s of a clone that is set up", file, setup,
			cmp.Or(setUp[name].folder, "pjrt"))}
}

var pluginName = regexp.MustCompile(`^[a-z0-9_]+$`)

// A pluginPlace is a folder that may hold the plugin, and the SHA-256 that the plugin must have; "" allows any.
type pluginPlace struct{ folder, pin string }

func pluginPlaces(name string) []pluginPlace {
	var places []pluginPlace
	for _, folder := range filepath.SplitList(os.Getenv("PJRT_PLUGIN_LIBRARY_PATH")) {
		if filepath.IsAbs(folder) {
			places = append(places, pluginPlace{folder: folder})
		}
	}
	return append(append(places, installedPlaces(name, checkout.Folders())...), gomlxPlaces(name)...)
}

func gomlxPlaces(name string) (places []pluginPlace) {
	set, ok := setUp[name]
	if !ok {
		return nil
	}
	folders := []string{"/usr/local/lib/go-xla"}
	if home, err := os.UserHomeDir(); err == nil {
		own := filepath.Join(home, ".local", "lib", "go-xla")
		if runtime.GOOS == "darwin" {
			own = filepath.Join(home, "Library", "Application Support", "go-xla")
		}
		folders = append([]string{own}, folders...)
	}
	for _, folder := range folders {
		if name == "cuda" {
			folder = filepath.Join(folder, "nvidia")
		}
		places = append(places, pluginPlace{folder, set.sum})
	}
	return places
}

// installedPlaces returns where the plugin called name may be installed. roots are folders that may be this
// project's. A root in site-packages is from a Python wheel; the plugin may then be in a folder next to the root.
func installedPlaces(name string, roots []string) []pluginPlace {
	set, ok := setUp[name]
	if !ok {
		return nil
	}
	var places []pluginPlace
	for _, root := range roots {
		places = append(places, pluginPlace{filepath.Join(root, ".nodemask", set.folder), set.sum})
		if packages := filepath.Dir(root); set.wheel != "" && filepath.Base(packages) == "site-packages" {
			places = append(places, pluginPlace{filepath.Join(packages, set.wheel), set.sum})
		}
	}
	return places
}

func pluginProblem(err error) string {
	text := gomlx.Error(err).Error()
	if _, said, found := strings.Cut(text, `failed to dynamically load PJRT plugin from "`); found {
		if said, _, found = strings.Cut(said, `"`); found {
			return said
		}
	}
	return text
}

const avx2Digits = "avx2"

// HasAVX2 reports whether this CPU has AVX2 and FMA, which [Backend].Digits requires.
func HasAVX2() bool { return cpu.X86.HasAVX2 && cpu.X86.HasFMA }
