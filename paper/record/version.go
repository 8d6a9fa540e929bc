package record

import (
	"fmt"
	"path"
	"runtime"
	"runtime/debug"
)

// release is the version of this program. Records carry it, so it changes whenever numbers may.
const release = "0.5.0"

// Version names all that a number can depend on: this program, Go, and the modules that compute.
func Version() string {
	modules := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range info.Deps {
			switch dependency.Path {
			case "github.com/gomlx/gomlx", "github.com/gomlx/compute", "github.com/gomlx/go-xla":
				modules += ", " + path.Base(dependency.Path) + " " + dependency.Version
			}
		}
	}
	return fmt.Sprintf("nodemask %s (%s%s)", release, runtime.Version(), modules)
}
