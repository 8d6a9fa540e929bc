//go:build !(cgo && ((linux && (amd64 || arm64)) || (darwin && arm64)))

package backend

import "github.com/gomlx/compute"

const haveXLA = false

func newXLA(plugin, path, options string, pinned, onOneCore bool) (b compute.Backend, platform, held string,
	err error) {
	return nil, "", "", errNoXLA
}

func adoptXLA(compute.Backend) (plugin, platform string, err error) { return "", "", errNoXLA }
