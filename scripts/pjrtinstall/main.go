// Command pjrtinstall installs XLA's CPU plugin into the folder given as its argument, for PJRT=official: go-xla
// publishes its installer only as a package.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/gomlx/go-xla/installer"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: pjrtinstall FOLDER")
		os.Exit(2)
	}
	if err := installer.CPUAutoInstall(os.Args[1], false, installer.Quiet); err != nil {
		reason, _, _ := strings.Cut(err.Error(), "\n")
		fmt.Fprintf(os.Stderr, "setup: go-xla's installer failed: %s. Check that GitHub can be reached, or leave PJRT "+
			"unset for the plugin from PyPI.\n", reason)
		os.Exit(1)
	}
}
