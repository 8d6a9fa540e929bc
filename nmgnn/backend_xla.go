//go:build cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package nmgnn

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/go-xla/compute/xla"
	"github.com/gomlx/go-xla/pjrt"
)

const haveXLA = true

// newXLA opens a PJRT plugin by its absolute path, with options behind commas.
func newXLA(config string) (compute.Backend, error) {
	xla.EnableAutoInstall(false) // or it would fetch plugins on its own
	return xla.New(config)
}

// installedPlugins lists the plugins that go-xla finds by itself: name to file.
func installedPlugins() map[string]string { return pjrt.AvailablePlugins() }
