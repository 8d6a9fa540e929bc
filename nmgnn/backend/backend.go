// Package backend finds and opens what computes: XLA on a GPU or CPU, or GoMLX's pure-Go backend. Where a faster one is
// not available, it reports which one, and why.
package backend

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/gobackend"
	"github.com/gomlx/gomlx/core/graph"

	"nodemask/internal/checkout"
	"nodemask/internal/digits"
	"nodemask/internal/memory"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/kernels"
	"nodemask/nmgnn/internal/kernels/fused"
)

// Backend is what computes: XLA on a GPU ("xla:cuda") or CPU ("xla:cpu"), or GoMLX's pure-Go backend ("go").
type Backend struct {
	compute.Backend
	// ID is one of [IDs], however the backend was asked for.
	ID string
	// Plugin is the file of XLA's PJRT plugin; empty for "go".
	Plugin string
	// Skipped says why each better backend that was looked for is not usable. Empty if one was asked for.
	Skipped []*Error
	// KernelsLost says why a backend that should run the kernels of package fused cannot, and so is slow. It is nil if
	// the backend runs them, and on a GPU, which never does.
	KernelsLost error
	// ProgramsLost says why programs are compiled anew in each process, and not kept on disk. It is nil if they are kept,
	// were not asked to be, and on backends that compile in no time.
	ProgramsLost error
	// Digits is "avx2" if this is XLA on a CPU whose results are the same on every x86-64 with AVX2, and else "".
	Digits string

	asked string // opens it again
	end   func() // what to do when it is finalized; nil: nothing
}

// Finalize frees the backend. It must not be used after that.
func (b *Backend) Finalize() {
	b.Backend.Finalize()
	if b.end != nil {
		b.end()
	}
}

// IsFinalized reports whether nothing can be computed on the backend: it was finalized, or is nil.
func (b *Backend) IsFinalized() bool { return b == nil || b.Backend == nil || b.Backend.IsFinalized() }

// KeepMemory has glibc's allocator keep the memory that XLA on a CPU frees after every epoch, unless
// MALLOC_TRIM_THRESHOLD_, MALLOC_MMAP_THRESHOLD_ or GLIBC_TUNABLES are set. It is for the whole process, so programs
// that do little else than train call it, as the command nodemask does: without it an epoch of GAT on PubMed takes
// nearly twice as long. On other backends it does nothing.
func (b *Backend) KeepMemory() {
	if b.ID == onCPU {
		fused.KeepMemory()
	}
}

// String returns one line for people: the backend, its plugin if it has one, its kernels, and why it is slower than it
// could be.
func (b *Backend) String() string {
	id := b.ID
	if b.Plugin != "" {
		id += fmt.Sprintf(" (%s)", b.Plugin)
	}
	text := b.line(id, b.slower((*Error).Error))
	if b.ProgramsLost != nil {
		text += "; programs are compiled anew in each process: " + b.ProgramsLost.Error()
	}
	return text
}

// Summary returns the line of [Backend.String] without any path of this machine.
func (b *Backend) Summary() string { return b.line(b.ID, b.Slower()) }

func (b *Backend) line(id, slower string) string {
	text := fmt.Sprintf("%s, %s kernels", id, b.Kernel())
	if slower != "" {
		text += "; slower than it could be: " + slower
	}
	return text
}

// Kernel returns how the backend computes sums over neighbours.
func (b *Backend) Kernel() kernels.Kernel {
	if b.OnGPU() || b.KernelsLost != nil {
		return kernels.ScatterKernel
	}
	return kernels.FusedKernel
}

// Slower returns why the backend is slower than it could be on this machine, without any path of it, or "" if it is
// not.
func (b *Backend) Slower() string {
	reason := b.slower(func(e *Error) string { return fmt.Sprintf("backend %s: %s", e.ID, e.Reason) })
	return folders.ReplaceAllString(reason, "$1")
}

// folders matches the folders of absolute paths, not those of modules.
var folders = regexp.MustCompile(`(^|[\s("'])/[^\s:,"']*/`)

func (b *Backend) slower(say func(*Error) string) string {
	var reasons []string
	if b.ID == pure && len(b.Skipped) > 0 {
		reasons = append(reasons, say(b.Skipped[len(b.Skipped)-1]))
	}
	for _, why := range b.Skipped {
		if b.ID == onCPU && why.Err != nil { // a plugin for GPUs was set up, and does not start
			reasons = append(reasons, say(why))
		}
	}
	if b.KernelsLost != nil {
		reasons = append(reasons, b.KernelsLost.Error())
	}
	return strings.Join(reasons, "; ")
}

// OnGPU reports whether the backend computes on a GPU.
func (b *Backend) OnGPU() bool { return b.ID == onGPU }

// Device returns what computes, without any path of this machine: XLA compiles for the processor that it finds.
func (b *Backend) Device() string {
	text := fmt.Sprintf("%s %s/%s", b.Description(), runtime.GOOS, runtime.GOARCH)
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

// Error says that a backend cannot be had, and what to do about it.
type Error struct {
	ID      string
	Reason  string
	Looked  []string // the folders that were looked in, or the one that holds the plugin
	Unknown bool     // there is no backend of that name, on this machine or any other
	Err     error    // the cause, if it is another error
}

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.Err }

// Error names the backend and says why it cannot be had.
func (e *Error) Error() string {
	text := fmt.Sprintf("backend %s: %s", e.ID, e.Reason)
	if len(e.Looked) > 0 {
		text += fmt.Sprintf(" (looked in %s)", strings.Join(e.Looked, ", "))
	}
	return text
}

// errNoXLA is why XLA is not there at all in this build.
var errNoXLA = errors.New("this program was built without XLA (it needs cgo, and Linux or macOS): rebuild it with " +
	"CGO_ENABLED=1 and a C compiler, or use the backend go")

const (
	onGPU = "xla:cuda"
	onCPU = "xla:cpu"
	pure  = "go"
)

// IDs lists the backends from the best to the one that always works.
func IDs() []string { return []string{onGPU, onCPU, pure} }

// Open opens the backend named by id: one of [IDs], or "xla:" and the absolute path of a PJRT plugin.
// An empty id takes $GOMLX_BACKEND; if that is empty too, the best backend that really starts. Errors are
// [*Error].
//
// Plugins are looked for in the absolute folders of $PJRT_PLUGIN_LIBRARY_PATH, and then where this project's set-up
// puts them: .nodemask/ of the clone that the program is installed in or was built from. There they must have the
// SHA-256 that this package knows. The working directory has no say in what is loaded, and nothing is ever downloaded.
//
// Programs that XLA compiles for a CPU are kept on disk, up to 200 MB, in .nodemask/programs of the clone or the user's
// cache; $NODEMASK_PROGRAMS names another folder, or is "off".
//
// The first XLA on a CPU sets PJRT_NPROC and XLA_FLAGS, which XLA reads, for the whole process: set them to decide
// yourself. Other programs of GoMLX's pure-Go backend in the process keep GoMLX's own operations ([fused.Hasten]), and
// the allocator is as it was ([Backend.KeepMemory]).
func Open(id string) (*Backend, error) {
	if id == "" {
		id = os.Getenv(compute.ConfigEnvVar)
	}
	if _, err := digits.Asked(); err != nil {
		return nil, &Error{ID: cmp.Or(id, "any"), Reason: err.Error(), Err: err}
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

// behindGo returns an error if this is XLA on a CPU without the kernels of package fused, which the pure-Go backend
// has: then it is slower on all but small graphs (GIN: 12 ms an epoch against 8 on Cora, 1,180 against 58 on PubMed).
func (b *Backend) behindGo() *Error {
	if b.ID != onCPU || b.KernelsLost == nil || fused.Intercepted() != nil {
		return nil
	}
	return &Error{ID: onCPU, Reason: b.KernelsLost.Error() + "; without them it is slower than pure Go", Err: b.KernelsLost}
}

// orError keeps the absence of an [*Error] from becoming an error that is not nil.
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
		// Running operations in parallel can hang for good with two or three workers, and gains nothing here.
		if config == "" {
			config = "ops_sequential"
		}
		b, err := gobackend.New(config)
		if err != nil {
			return nil, &Error{ID: id, Reason: gomlx.Error(err).Error(), Err: err}
		}
		return &Backend{Backend: b, ID: pure, KernelsLost: fused.Intercepted(), asked: id, end: fused.Hasten(b)}, nil
	case "xla", "pjrt", "hlo", "shlo", "stablehlo":
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

// openXLA opens a plugin by its name or absolute path, with go-xla's options behind commas; onOneCore: for a thread
// that keeps to one core.
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
	limit, limited := memory.Addresses()
	if err := checkAddresses(limit, limited, runtime.NumCPU()); err != nil {
		return nil, &Error{ID: asked, Reason: err.Error(), Err: err}
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
		if held == digits.AVX2 && opened.KernelsLost == nil {
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

// ForJobs returns a function that opens the backend of each of several jobs. Each job is a goroutine of its own and
// calls open first of all. On a CPU, each XLA job has a client that keeps to one core: two that share their threads are
// slower than one.
func (b *Backend) ForJobs() (open func(job int) (*Backend, error), err error) {
	if err := gomlx.CheckOpen(b); err != nil {
		return nil, err
	}
	if b.ID != onCPU {
		return func(int) (*Backend, error) { return b, nil }, nil
	}
	defer gomlx.Guard(&err, "preparing jobs")
	// XLA starts the threads that compile for all clients when it first compiles. They must not come from a job, or they
	// would all keep to its core, and jobs would wait for each other's programs.
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

// findPlugin returns the file of the plugin of that name and, unless the user named its folder, the SHA-256 that it
// must have; or an [*Error] that says where it was looked for.
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

// pluginPlace is a folder where a plugin may be, with the SHA-256 that it must have there; "": any, as the user named
// the folder.
type pluginPlace struct{ folder, pin string }

// pluginPlaces lists where a plugin may be: what the user names, then what set-up or pip installs.
func pluginPlaces(name string) []pluginPlace {
	var places []pluginPlace
	for _, folder := range filepath.SplitList(os.Getenv("PJRT_PLUGIN_LIBRARY_PATH")) {
		if filepath.IsAbs(folder) {
			places = append(places, pluginPlace{folder: folder})
		}
	}
	return append(places, installedPlaces(name, checkout.Folders())...)
}

// installedPlaces lists where set-up puts a plugin, or pip: a program from a wheel is in the folder nodemask of
// Python's packages, and the plugin from a wheel of its own is beside that.
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

// pluginProblem is what the system's loader said, where go-xla repeats it with every function it passed through.
func pluginProblem(err error) string {
	text := gomlx.Error(err).Error()
	if _, said, found := strings.Cut(text, `failed to dynamically load PJRT plugin from "`); found {
		if said, _, found = strings.Cut(said, `"`); found {
			return said
		}
	}
	return text
}

// PlanFor chooses how to compute on this backend, for a graph whose features have the given density, the share of
// entries that are not zero.
//
// On a CPU these are the kernels of package fused, or scatters if it cannot be called, which XLA compiles there into
// loops that are up to 27 times slower. On a GPU they are scatters.
func (b *Backend) PlanFor(density float64) kernels.Plan {
	return kernels.Plan{Kernel: b.Kernel(), DenseFeatures: density > 0.25, Transposed: b.ID == pure}
}
