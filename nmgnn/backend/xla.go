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

	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/internal/kernels/fused"
)

const haveXLA = true

// newXLA opens the PJRT plugin at path, which must be absolute, with go-xla's options. The parameter plugin is the
// plugin's name or path. The result platform is XLA's name for the platform, "" if unknown; held is the value for
// [Backend].Digits.
func newXLA(plugin, path, options string, pinned, onOneCore bool) (b compute.Backend, platform, held string,
	err error) {
	defer gomlx.Guard(&err, "opening it")
	if !filepath.IsAbs(path) { // for such a path go-xla would download a plugin
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
	// By default XLA on a CPU makes four devices, whose waiting threads slow it down.
	one := pjrt.NamedValuesMap{"cpu_device_count": int64(1)}
	if plugin == "cpu" {
		if pinned && onOneCore { // asynchronous runs switch threads twice, which is slow on a single core
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

// holdThreads and holdSums make XLA compute the same digits on every CPU. They set environment variables, which XLA
// reads at its first start. Each acts once, and keeps the user's settings.
var (
	// Gradients of weights are sums over nodes. The library Eigen splits these sums by the number of threads, which
	// must therefore be the same on every machine.
	holdThreads = sync.OnceValue(func() error {
		const threads = "PJRT_NPROC"
		if os.Getenv(threads) != "" {
			return nil
		}
		return os.Setenv(threads, "2") // visible in C
	})
	// holdSums sets flags that remove four reasons why digits differ between CPUs. (1) Loops are split among cores. (2)
	// Sums by the library Eigen depend on instruction set, caches and threads; sums by YNN do not. (3) 1/√x differs by
	// CPU maker. (4) a·b+c may be one instruction. Unknown plugins do not get these flags, which may crash them.
	// holdSums returns XLA's instruction set, "avx2", or "" if the CPU lacks AVX2 or the user set other values in
	// XLA_FLAGS.
	holdSums = sync.OnceValues(func() (held string, err error) {
		settings := []struct{ name, value string }{{"--xla_disable_hlo_passes=", "cpu-parallel-task-assigner"}}
		const products, fusion = "ONEDNN_MAX_CPU_ISA", "--xla_cpu_experimental_ynn_fusion_type="
		if !HasAVX2() {
			settings = append(settings, struct{ name, value string }{fusion, ""})
		} else {
			held = avx2Digits
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
