//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package backend

import (
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/go-xla/compute/xla"
	"github.com/gomlx/go-xla/pjrt"
)

const haveXLA = true

// newXLA opens a PJRT plugin by its absolute path, with options behind commas.
func newXLA(config string) (compute.Backend, error) {
	xla.EnableAutoInstall(false) // or it would fetch plugins on its own
	options := pjrt.NamedValuesMap{}
	if plugin, _, _ := strings.Cut(config, ","); isCPUPlugin(plugin) {
		// Left alone, it makes four devices, each with a thread that waits for work without sleeping. On two cores that
		// takes a quarter of the time from the thread that works.
		options["cpu_device_count"] = int64(1)
	}
	return xla.NewWithOptions(config, options)
}

// installedPlugins lists the plugins that go-xla finds by itself: name to file.
func installedPlugins() map[string]string { return pjrt.AvailablePlugins() }
