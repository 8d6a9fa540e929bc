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

	"nodemask/internal/digits"
	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/kernels/fused"
)

const haveXLA = true

// newXLA opens a PJRT plugin, by the name or path that it was asked for by and its absolute path, with go-xla's
// options. It also returns what XLA calls its platform, "cpu" or "cuda" for instance; empty: it cannot be told; and which
// digits it computes, if it is pinned.
func newXLA(plugin, path, options string, pinned, onOneCore bool) (b compute.Backend, platform, held string,
	err error) {
	defer gomlx.Guard(&err, "opening it")
	if !filepath.IsAbs(path) { // go-xla would fetch a plugin on its own
		return nil, "", "", fmt.Errorf("%s: expected an absolute path", path)
	}
	if err := holdThreads(); err != nil {
		return nil, "", "", err
	}
	if plugin == "cpu" && pinned {
		if held, err = holdSums(); err != nil {
			return nil, "", "", err
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
		b, platform, err = open(one)
		return b, platform, held, err
	}
	b, platform, err = open(nil)
	if err == nil && platform == "cpu" && b.NumDevices() > 1 {
		b.Finalize()
		b, platform, err = open(one)
	}
	return b, platform, "", err
}

// adoptXLA returns the plugin's file and the platform of an XLA backend that somebody else opened.
func adoptXLA(b compute.Backend) (plugin, platform string, err error) {
	x, ok := b.(*xla.Backend)
	if !ok {
		return "", "", fmt.Errorf("a backend of type %T: expected GoMLX's pure-Go backend or go-xla's", b)
	}
	if platform, err = fused.Platform(b); err != nil {
		return "", "", err
	}
	p, err := pjrt.GetPlugin(x.PluginName())
	if err != nil {
		return "", "", err
	}
	return p.Path(), platform, nil
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
	// What XLA does by itself decides digits by the processor. Eigen's products sum in an order that the instruction set,
	// the sizes of caches and the number of threads decide; YNN's in the order of the numbers. Loops that are divided
	// among the cores that the process may use round otherwise than whole ones. Whether a·b+c is rounded once or twice
	// depends on the instruction set where rows are narrow, and 1/√x begins with a guess that each maker's processors look
	// up in a table of their own. Flags are set in a plugin that is known to have them, as XLA ends the process over one
	// that it does not know. What is held is "" if the user's own settings are others.
	holdSums = sync.OnceValues(func() (held string, err error) {
		if held, err = digits.Asked(); err != nil {
			return "", err
		}
		settings := []struct{ name, value string }{{"--xla_disable_hlo_passes=", "cpu-parallel-task-assigner"}}
		const products, fusion = "ONEDNN_MAX_CPU_ISA", "--xla_cpu_experimental_ynn_fusion_type="
		if held == digits.Processor {
			settings = append(settings, struct{ name, value string }{fusion, ""})
		} else {
			settings = append(settings, []struct{ name, value string }{{fusion, "LIBRARY_FUSION_TYPE_DOT"},
				{"--xla_cpu_enable_platform_dependent_math=", "false"}, {"--xla_cpu_max_isa=", "AVX2"}}...)
			if os.Getenv(products) == "" {
				if err := os.Setenv(products, "AVX2"); err != nil { // for oneDNN, which Eigen's products call
					return "", err
				}
			}
		}
		const variable = "XLA_FLAGS"
		flags := os.Getenv(variable)
		for _, flag := range settings {
			_, own, is := strings.Cut(flags, flag.name)
			if value, _, _ := strings.Cut(own, " "); is && value != flag.value {
				held = ""
			} else if !is {
				flags = strings.TrimSpace(flags + " " + flag.name + flag.value)
			}
		}
		return held, os.Setenv(variable, flags)
	})
)
