//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package backend

import (
	"fmt"
	"path/filepath"

	"github.com/gomlx/compute"
	"github.com/gomlx/go-xla/compute/xla"
	"github.com/gomlx/go-xla/pjrt"

	"nodemask/nmgnn/internal/gomlx"
	"nodemask/nmgnn/kernels/fused"
)

const haveXLA = true

// newXLA opens a PJRT plugin, by the name or path that it was asked for by and its absolute path, with go-xla's options. It
// also returns what XLA calls its platform, "cpu" or "cuda" for instance; empty: it cannot be told.
func newXLA(plugin, path, options string) (b compute.Backend, platform string, err error) {
	defer gomlx.Guard(&err, "opening it")
	if !filepath.IsAbs(path) { // go-xla would fetch a plugin on its own
		return nil, "", fmt.Errorf("%s: expected an absolute path", path)
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
		return open(one)
	}
	b, platform, err = open(nil)
	if err == nil && platform == "cpu" && b.NumDevices() > 1 {
		b.Finalize()
		return open(one)
	}
	return b, platform, err
}
