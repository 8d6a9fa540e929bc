//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package backend

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gomlx/compute"
	"github.com/gomlx/go-xla/compute/xla"
	"github.com/gomlx/go-xla/pjrt"

	"nodemask/internal/gomlx"
	"nodemask/internal/kernels/fused"
)

const haveXLA = true

// newXLA opens a PJRT plugin, by the name or path that it was asked for by and its absolute path, with go-xla's
// options. It also returns what XLA calls its platform, "cpu" or "cuda" for instance; empty: it cannot be told.
func newXLA(plugin, path, options string, pinned, onOneCore bool) (b compute.Backend, platform string, err error) {
	defer gomlx.Guard(&err, "opening it")
	if !filepath.IsAbs(path) { // go-xla would fetch a plugin on its own
		return nil, "", fmt.Errorf("%s: expected an absolute path", path)
	}
	if err := holdThreads(); err != nil {
		return nil, "", err
	}
	if plugin == "cpu" && pinned {
		if err := holdSums(); err != nil {
			return nil, "", err
		}
	}
	config := path
	if options != "" {
		config += "," + options
	}
	open := func(devices pjrt.NamedValuesMap) (compute.Backend, string, error) {
		b, err := xla.NewWithOptions(config, devices)
		if err != nil {
			return nil, "", err
		}
		platform, err := fused.Platform(b)
		if err != nil && (plugin == "cpu" || plugin == "cuda") {
			platform = plugin
		}
		return b, platform, nil
	}
	// Left alone, XLA on a CPU makes four devices, each with a thread that waits for work without sleeping. On two cores
	// that takes a quarter of the time from the thread that works. Other plugins do not know the option.
	one := pjrt.NamedValuesMap{"cpu_device_count": int64(1)}
	if plugin == "cpu" {
		if pinned && onOneCore { // else each run changes from a thread to another and back
			one["asynchronous"] = false
		}
		return open(one)
	}
	b, platform, err = open(nil)
	if err == nil && platform == "cpu" && b.NumDevices() > 1 {
		b.Finalize()
		return open(one)
	}
	return b, platform, err
}

// holdThreads and holdSums have XLA compute the same digits on every processor, by what its CPU client reads from the
// environment when it starts. Each sets a variable unless the user has set it, once in a process, so that no other
// client's start in C sees it change but for the first one.
var (
	// Eigen splits the sums over nodes in the gradients of weights by the number of threads: two, unless PJRT_NPROC says
	// otherwise.
	holdThreads = sync.OnceValue(func() error {
		const threads = "PJRT_NPROC"
		if os.Getenv(threads) != "" {
			return nil
		}
		return os.Setenv(threads, "2") // C sees it too
	})
	// YNN's products sum in an order that the instruction set decides, and loops that are divided among the cores that the
	// process may use round otherwise than whole ones. Both are off, in a plugin that is known to have the flags, as XLA
	// ends the process over one that it does not know.
	holdSums = sync.OnceValue(func() error {
		const variable = "XLA_FLAGS"
		flags := os.Getenv(variable)
		for _, flag := range []struct{ name, value string }{
			{"--xla_cpu_experimental_ynn_fusion_type=", ""},
			{"--xla_disable_hlo_passes=", "cpu-parallel-task-assigner"},
		} {
			if !strings.Contains(flags, flag.name) {
				flags = strings.TrimSpace(flags + " " + flag.name + flag.value)
			}
		}
		return os.Setenv(variable, flags)
	})
)
