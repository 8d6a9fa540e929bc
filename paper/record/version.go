package record

import (
	"fmt"
	"path"
	"runtime"
	"runtime/debug"
)

// release is stored in records: change it with every change that may alter the results of trials.
const release = "0.5.0"

// Version returns the versions of this program, Go, and the modules that do the computing: results depend on them.
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
