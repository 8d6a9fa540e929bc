// Command cellimports stands in for goimports in a notebook's kernel. It imports the project's own packages that a cell
// names, which it finds at once, and runs goimports for all else: by itself goimports asks the go command and looks
// through every module on the machine, for each cell anew.
//
// It is set up as LAB/bin/goimports, with goimports in LAB/tools and LAB in the project's folder .nodemask.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) { // goimports has said why
			os.Exit(exit.ExitCode())
		}
		fmt.Fprintln(os.Stderr, "cellimports:", err)
		os.Exit(1)
	}
}

// run takes goimports' arguments, of which the last is the file that gonb has made of a cell.
func run(args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if self, err = filepath.EvalSymlinks(self); err != nil {
		return err
	}
	lab := filepath.Dir(filepath.Dir(self))
	add := func(misspelt bool) error {
		if len(args) == 0 {
			return nil
		}
		return addTo(args[len(args)-1], filepath.Dir(filepath.Dir(lab)), misspelt)
	}
	if err := add(false); err != nil {
		return err
	}
	c := exec.Command(filepath.Join(lab, "tools", filepath.Base(self)), args...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return err
	}
	return add(true) // nobody else has them
}

// addTo adds imports of the project's packages to a file, as [withImports] does. One that is no Go is left as it is,
// for goimports to say so.
func addTo(path, project string, misspelt bool) error {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	added, err := withImports(source, project, misspelt)
	if err != nil || added == nil {
		return err
	}
	return os.WriteFile(path, added, 0o600)
}
